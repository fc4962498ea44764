"""A worker in a student's hands, played by a thread: whatever it says costs only its own call."""

import socket
import threading
import time

import numpy as np
import pytest

from autograder.sandbox import (
    CallFailed,
    Deadline,
    Limits,
    ProtocolError,
    Tier,
    WorkerGone,
    wire,
)
from autograder.sandbox.channel import Channel
from autograder.sandbox.session import Worker


class FakeProcess:
    """Stands for a process that nothing ends but its connection."""

    ended = False

    def interrupt(self):
        pass

    def kill(self):
        self.ended = True

    def fate(self):
        return None


class Liar:
    """Answers each request with what the test says, over a real connection."""

    def __init__(self, *answers, seconds=1.0):
        ours, self.sock = socket.socketpair()
        self.answers = answers
        self.process = FakeProcess()
        limits = Limits(call_seconds=seconds, cell_seconds=seconds, output_kb=4)
        self.worker = Worker(Channel(ours, self.process, 100), limits, Tier.A, {})
        self.thread = threading.Thread(target=self.play)

    def play(self):
        for answer in self.answers:
            try:
                request, _ = wire.receive(self.sock)
                answer(self.sock, request)
            except (wire.Closed, OSError):
                return

    def __enter__(self):
        self.thread.start()
        return self.worker

    def __exit__(self, *_):
        self.worker.close()
        self.sock.close()
        self.thread.join()


def fields(**given):
    """Answer with these fields and the right nonce, as code in the worker could."""
    return lambda sock, request: wire.send(sock, {"nonce": request["nonce"], **given})


def raw(data):
    return lambda sock, request: sock.sendall(data)


PROTOCOL = {
    "noise": raw(b"\x00" * 64),
    "a web page": raw(b"HTTP/1.1 200 OK\r\n\r\n"),
    "an endless header": raw(wire.MAGIC + b"\xff" * 8),
    "another nonce": lambda sock, request: wire.send(sock, {"nonce": b"x" * 16, "value": 1}),
    "no nonce": lambda sock, request: wire.send(sock, {"value": 1}),
    "no value": fields(value={"a": 1}),
    "changed: no list": fields(value=1, changed="all"),
    "changed: unknown place": fields(value=1, changed=[7]),
    "changed: true": fields(value=1, changed=[True]),
    "changed: too many": fields(value=1, changed=[0] * 1000),
    "generator for an array": fields(value=1, generators=[[0, ["g", bytes(16), bytes(16), 0, 0]]]),
    "exception of numbers": fields(raised=[1, 2, 3]),
    "exception of one part": fields(raised=["ValueError"]),
    "reference of an unknown kind": fields(value=["r", 1, "gradebook", "x", ""]),
    "array without bytes": fields(value=["a", 0, "<f8", [3]]),
}


@pytest.mark.parametrize("name", PROTOCOL)
def test_a_broken_answer_ends_the_worker(name):
    liar = Liar(PROTOCOL[name], fields(value=1))
    with liar as worker:
        with pytest.raises(ProtocolError):
            worker.call("f", (np.zeros(2),), {})
        assert liar.process.ended
        assert not worker.alive
        with pytest.raises(WorkerGone):
            worker.call("f", (), {})


OUTPUTS = {
    "no list": "text",
    "a number": [1],
    "unknown type": [{"output_type": "exec"}],
    "stream of bytes": [{"output_type": "stream", "text": b"x"}],
    "image that is no image": [
        {"output_type": "display_data", "data": {"image/png": "<script>"}, "metadata": {}}
    ],
    "traceback of numbers": [
        {"output_type": "error", "ename": "E", "evalue": "", "traceback": [1]}
    ],
    "data as a list": [{"output_type": "display_data", "data": [], "metadata": {}}],
    "count of a text": [
        {"output_type": "execute_result", "data": {}, "metadata": {}, "execution_count": "1"}
    ],
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_broken_outputs_end_the_worker_and_stop_the_cell(name):
    with Liar(fields(ok=True, outputs=OUTPUTS[name], count=1)) as worker:
        cell = worker.run_cell("1")
        assert not cell.ok
        assert "broke the protocol" in cell.stopped
        assert not worker.alive


def test_outputs_keep_known_types_within_the_limit():
    html = {"text/html": "<b>a</b>", "application/javascript": "alert(1)", "x/y": "z"}
    outputs = [
        {"output_type": "stream", "name": "other", "text": "a\x00b\x1b[31mc"},
        {"output_type": "display_data", "data": html, "metadata": {"evil": 1}},
        *[{"output_type": "stream", "name": "stdout", "text": "x" * 2000}] * 50,
    ]
    with Liar(fields(ok=True, outputs=outputs, count=1)) as worker:
        kept = worker.run_cell("1").outputs
    assert kept[0] == {"output_type": "stream", "name": "stdout", "text": "ab\x1b[31mc"}
    assert kept[1]["data"] == {"text/html": "<b>a</b>"}
    assert kept[1]["metadata"] == {}
    assert sum(len(str(output)) for output in kept) < 3 * 4096
    assert "dropped" in kept[-1]["text"]


def test_a_flood_in_the_header_is_not_even_read():
    flood = wire.MAGIC + (64 << 20).to_bytes(4, "little") + bytes(4)
    with Liar(raw(flood)) as worker:
        assert "broke the protocol" in worker.run_cell("1").stopped


def test_a_reply_that_was_not_asked_for_ends_the_worker():
    def twice(sock, request):
        fields(value=1)(sock, request)
        fields(value=2)(sock, request)

    with Liar(twice, fields(value=3)) as worker:
        assert worker.call("f", (), {}) == 1
        time.sleep(0.05)
        with pytest.raises(ProtocolError, match="nobody had asked"):
            worker.call("f", (), {})


def slowly(sock, request):
    for byte in wire.MAGIC * 100:
        sock.send(bytes([byte]))
        time.sleep(0.05)


def silently(sock, request):
    time.sleep(2)


@pytest.mark.parametrize("answer", [slowly, silently])
def test_a_slow_or_silent_worker_meets_its_deadline(answer):
    began = time.monotonic()
    with Liar(answer, seconds=0.3) as worker:
        with pytest.raises((Deadline, ProtocolError)):
            worker.call("f", (), {})
        assert time.monotonic() - began < 3
        assert not worker.alive


def test_a_worker_that_does_not_read_meets_its_deadline():
    with Liar(seconds=0.3) as worker, pytest.raises(Deadline):
        worker.call("f", (np.zeros(8 << 20),), {})


def test_a_worker_that_hangs_up_is_gone():
    with Liar(lambda sock, request: sock.shutdown(socket.SHUT_RDWR)) as worker:
        with pytest.raises(WorkerGone):
            worker.lookup("f")
        assert worker.death


@pytest.mark.parametrize("name", ["SystemExit", "KeyboardInterrupt", "GeneratorExit",
                                  "StopIteration", "BaseException", "print", "no such name"])
def test_exceptions_that_would_steer_the_grader_arrive_as_failed_calls(name):
    with Liar(fields(raised=[name, name, "gotcha"])) as worker:
        with pytest.raises(CallFailed) as caught:
            worker.call("f", (), {})
        assert type(caught.value) is CallFailed
        assert caught.value.remote_type == name


def test_what_an_exception_says_is_cut_and_printable():
    with Liar(fields(raised=["E" * 500, "ValueError", "a\x1b[2J\x00" + "b" * 10_000])) as worker:
        with pytest.raises(ValueError, match="a ") as caught:
            worker.call("f", (), {})
        assert len(str(caught.value)) <= 500
        assert len(caught.value.remote_type) <= 80
        assert "\x1b" not in str(caught.value)


def test_every_builtin_exception_can_be_imitated():
    import builtins

    for name, known in vars(builtins).items():
        if isinstance(known, type) and issubclass(known, Exception):
            with Liar(fields(raised=[name, name, "why"])) as worker:
                with pytest.raises(CallFailed) as caught:
                    worker.call("f", (), {})
                assert str(caught.value) == "why"
