"""Attacks on the network and on the kernel itself, in the form of `attacks`."""

from tests.sandbox.attacks import ANY, DENIED, attack


def kernel(name, x86, *arguments, c=ANY):
    """Attack by one raw system call, given by its number on x86-64."""
    body = f"def attempt():\n    return system_call({', '.join(map(str, (x86, *arguments)))})\n"
    return attack(name, body, "EPERM", "EPERM", c)


NETWORK = [
    attack("connect to the grader's machine", """
        def attempt():
            socket.create_connection(("127.0.0.1", PORT), timeout=1).close()
            return "works"
        """, DENIED, DENIED, "works"),
    attack("send a datagram", """
        def attempt():
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", PORT))
            return "works"
        """, DENIED, DENIED, "works"),
    attack("connect to an abstract socket", """
        def attempt():
            socket.socket(socket.AF_UNIX).connect("\\0layers-attack")
            return "works"
        """, DENIED, DENIED, "ConnectionRefusedError"),
    attack("listen", """
        def attempt():
            socket.create_server(("127.0.0.1", 0)).close()
            return "works"
        """, DENIED, DENIED, "works"),
    attack("bind a pair's end to an abstract name", """
        def attempt():
            one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
            one.bind("\\0layers-attack-pair")
            return "works"
        """, DENIED, DENIED, "works"),
]  # fmt: skip

# Numbers of asm/unistd_64.h. Arguments are valid enough that only a filter or a missing right
# stops the call.
KERNEL = [
    kernel("trace another process", 101, 16, "VICTIM", 0, 0),
    kernel("read another process's memory", 310, "VICTIM", 0, 0, 0, 0, 0),
    kernel("write another process's memory", 311, "VICTIM", 0, 0, 0, 0, 0),
    kernel("new user namespace", 272, 0x10000000),
    kernel("new namespace by clone", 56, "0x10000000 | 17", 0, 0, 0, 0),
    kernel("join a namespace", 308, 0, 0),
    kernel("mount", 165, "b'none'", "b'/tmp'", "b'tmpfs'", 0, 0, c="EPERM"),
    kernel("make the root writable", 165, 0, "b'/'", 0, 32 | 4096, 0, c="EPERM"),
    kernel("unmount", 166, "b'/proc'", 2, c=("EPERM", "EINVAL")),
    kernel("change the root", 161, "b'.'", c="EPERM"),
    kernel("io_uring", 425, 8, "ctypes.create_string_buffer(256)"),
    kernel("load a kernel program", 321, 0, "ctypes.create_string_buffer(128)", 128),
    kernel("count events", 298, "ctypes.create_string_buffer(128)", 0, -1, -1, 0),
    kernel("read a session's keys", 250, 0, -3, 1),
    kernel("add a key", 248, "b'user'", "b'layers'", "b'x'", 1, -2),
    kernel("catch page faults", 323, 0),
    kernel("hide memory in a file", 319, "b'x'", 0),
    kernel("open by handle", 304, -100, "ctypes.create_string_buffer(64)", 0),
    kernel("load a module", 175, "b''", 0, "b''", c=("EPERM", "ENOSYS")),
    kernel("restart the machine", 169, 0, 0, 0, 0, c="EPERM"),
    kernel("switch to another personality", 135, 0x0040000),
    kernel("shared memory of System V", 29, 0, 4096, 0o600),
    kernel("type into a terminal", 16, 0, 0x5412, "b'x'"),
    attack("clone3 with a new namespace", """
        def attempt():
            return system_call(435, ctypes.create_string_buffer(88), 88)
        """, "ENOSYS", "ENOSYS", ANY),
    attack("the other numbering of x86-64", """
        def attempt():
            return system_call(0x40000000 | 39)
        """, "ENOSYS", "ENOSYS", ANY),
]  # fmt: skip
