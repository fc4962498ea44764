"""The filter itself, run by a small BPF machine of the test, for both architectures."""

import errno
import re
import struct
from pathlib import Path

import pytest

from autograder.sandbox import seccomp, syscall_table

ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOW, KILL = 0x7FFF0000, 0x80000000
EPERM, ENOSYS = 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}


def run(program, number, *arguments, arch):
    """Interpret the program as the kernel does and give its answer."""
    padded = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    data = struct.pack("<iIQ6Q", number, arch, 0, *(a & (1 << 64) - 1 for a in padded))
    steps = list(struct.iter_unpack("HBBI", program))
    at = value = 0
    while True:
        code, if_true, if_false, k = steps[at]
        at += 1
        if code == 0x20:
            (value,) = struct.unpack_from("<I", data, k)
        elif code == 0x06:
            return k
        elif code in (0x15, 0x45):
            hit = value == k if code == 0x15 else bool(value & k)
            at += if_true if hit else if_false
        else:
            raise AssertionError(f"instruction {code:#x}")


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("machine", ARCH)
def test_each_call_gets_the_answer_of_its_list(machine, alone):
    program = seccomp.program(machine, alone, pid=77)
    allowed = syscall_table.parse(syscall_table.ALLOWED, machine)
    refused = syscall_table.parse(syscall_table.REFUSED, machine)
    assert not set(allowed.values()) & set(refused.values())

    def answer(name, *arguments):
        number = {**allowed, **refused}[name]
        return run(program, number, *arguments, arch=ARCH[machine])

    for name in ("read", "openat", "mmap", "futex", "exit_group"):
        assert answer(name) == ALLOW
    for name in refused:
        assert answer(name) == EPERM
    for number in (999, 435, 0x40000000 | 39):
        assert run(program, number, arch=ARCH[machine]) == ENOSYS
    other = {"x86_64": 0x40000003, "aarch64": 0x40000028}[machine]  # their 32-bit kin
    assert run(program, 20, arch=other) == KILL

    thread = 0x3D0F00
    assert answer("clone", thread) == ALLOW
    assert answer("clone", 17) == (ALLOW if alone else EPERM)
    for flag in (0x80, *(1 << bit for bit in (17, 25, 26, 27, 28, 29, 30))):
        assert answer("clone", thread | flag) == EPERM
    assert answer("execve") == (ALLOW if alone else EPERM)
    assert answer("socketpair", 1, 1) == ALLOW
    assert answer("socketpair", 30, 1) == EPERM
    assert answer("ioctl", 0, 0x5412) == EPERM
    assert answer("ioctl", 0, 0x5401) == ALLOW
    assert answer("fcntl", 3, 8, 1234) == EPERM
    assert answer("fcntl", 3, 3) == ALLOW
    for name in ("kill", "tgkill", "prlimit64"):
        assert answer(name, 77) == answer(name, 0) == ALLOW
        assert answer(name, 78) == (ALLOW if alone else EPERM)
    assert answer("kill", -1) == (ALLOW if alone else EPERM)


@pytest.mark.parametrize("machine", ARCH)
def test_numbers_are_those_of_the_headers(machine):
    if not HEADERS[machine].exists():
        pytest.skip("kernel headers are not installed")
    text = HEADERS[machine].read_text()
    known = {name: int(n) for name, n in re.findall(r"#define __NR_(\w+)\s+(\d+)", text)}
    for name, n in re.findall(r"#define __NR3264_(\w+)\s+(\d+)", text):
        known.setdefault({"fstatat": "newfstatat"}.get(name, name), int(n))
    for table in (syscall_table.ALLOWED, syscall_table.REFUSED):
        for name, number in syscall_table.parse(table, machine).items():
            assert known[name] == number, name


def test_an_unknown_architecture_has_no_filter():
    with pytest.raises(OSError, match="riscv64"):
        seccomp.program("riscv64", True)
