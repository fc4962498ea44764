"""One submission, seen from the grader: run its cells, look up its names, call its functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from autograder.sandbox import wire
from autograder.sandbox.answers import changed_places, generator_states, read_failure
from autograder.sandbox.channel import Channel
from autograder.sandbox.decode import Decoder
from autograder.sandbox.encode import Encoder, TooBig
from autograder.sandbox.errors import (
    MAX_NAME,
    CallFailed,
    Deadline,
    ProtocolError,
    Unsupported,
    plain_text,
)
from autograder.sandbox.lending import Lending
from autograder.sandbox.limits import Limits
from autograder.sandbox.outputs import clean_outputs, count, error_output
from autograder.sandbox.proxy import Handle, RemoteDict, RemoteFunction, RemoteList, RemoteTuple

if TYPE_CHECKING:
    from autograder.sandbox.tiers import Tier

LOOKUP_SECONDS = 5.0


@dataclass(frozen=True)
class CellResult:
    """What running one cell gave.

    Attributes
    ----------
    ok : bool
        Whether the cell ended without an error, as the worker reported it.
    outputs : list of dict
        Its outputs in nbformat v4, of known mime types and bounded size.
    execution_count : int or None
        Its number, None where the worker could not tell.
    stopped : str or None
        Why the cell was stopped, None where it was not.
    """

    ok: bool
    outputs: list[dict[str, Any]]
    execution_count: int | None
    stopped: str | None = None


class Worker:
    """The process of one submission. `Sandbox.worker` makes it; close it or use ``with``.

    Attributes
    ----------
    tier : Tier
        How well it is isolated.
    limits : Limits
        What it may use.
    layers : dict
        What each layer of the isolation achieved.
    changed : tuple of int and str
        Arguments that the last call changed in place, see `RemoteFunction`.
    """

    def __init__(
        self, channel: Channel, limits: Limits, tier: Tier, layers: dict[str, str]
    ) -> None:
        self._channel = channel
        self._released: list[int] = []
        self._next_lent = 1
        self.limits = limits
        self.tier = tier
        self.layers = layers
        self.changed: tuple[int | str, ...] = ()

    def __enter__(self) -> Worker:
        """Give the worker itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the worker."""
        self.close()

    @property
    def alive(self) -> bool:
        """Whether the process can still answer."""
        return self.death is None

    @property
    def death(self) -> str | None:
        """Why the process ended, None while it lives."""
        return self._channel.death

    def close(self) -> None:
        """End the process and everything that it started; safe to repeat."""
        self._channel.end("closed by the grader")

    def put_files(self, files: Mapping[str, bytes]) -> None:
        """Write files into the submission's folder; `Sandbox.worker` does it first of all."""
        if not files:
            return
        pairs = [[name, bytes(content)] for name, content in files.items()]
        reply = self._channel.ask({"op": "files", "files": pairs}, (), self.limits.cell_seconds)
        if "raised" in reply.fields:
            with self._channel.strictly():
                error = read_failure(reply.fields["raised"])
            raise error

    def run_cell(self, source: str) -> CellResult:
        """Run one code cell as a Jupyter kernel would; never raises for what the code does."""
        limit = self.limits.output_kb * 1024
        caps = wire.Caps(header=2 * limit + (1 << 20), blobs=0, blob_bytes=0)
        message = {"op": "cell", "source": source, "limit": limit, "free": self._free()}
        try:
            reply = self._channel.ask(message, (), self.limits.cell_seconds, caps)
            with self._channel.strictly():
                outputs = clean_outputs(reply.fields.get("outputs"), limit)
                number = count(reply.fields.get("count"))
        except CallFailed as failure:
            outputs = [error_output(failure.remote_type, str(failure))]
            return CellResult(False, outputs, None, str(failure))
        ok = reply.fields.get("ok") is True and reply.late is None
        if reply.late is not None:
            outputs.append(error_output("TimeoutError", reply.late))
        return CellResult(ok, outputs, number, reply.late)

    def lookup(self, name: str) -> Any:
        """Give the value of a name that the submission's cells defined.

        Raises
        ------
        KeyError
            If no cell defined it.
        CallFailed
            If the worker cannot answer.
        """
        message = {"op": "lookup", "name": name, "free": self._free()}
        reply = self._channel.ask(message, (), LOOKUP_SECONDS)
        if reply.late is not None:
            raise Deadline(reply.late)
        if reply.fields.get("missing") is True:
            raise KeyError(name)
        with self._channel.strictly():
            return Decoder(reply.blobs, self._resolve).decode(reply.fields.get("value"))

    def call(
        self, target: str | Handle | RemoteFunction, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Call a function of the submission with values of the grader.

        A `numpy.random.Generator` among the arguments (PCG64) travels by its state, and its
        state after the call is set on the caller's generator. The student sees that state:
        draw nothing that must stay unknown from a generator that was given away.
        A function that says ``may_be_lent = True`` is lent for the call: see `lending`.

        Raises
        ------
        CallFailed
            If the function raised, see `call_failed`.
        Deadline, WorkerGone, ProtocolError
            If it gave no answer.
        Unsupported
            If an argument cannot travel.
        """
        self.changed = ()
        lending = Lending(self._refer, self._resolve, self._next_lent)
        message, blobs = self._call_message(target, args, kwargs, lending)
        try:
            reply = self._channel.ask(message, blobs, self.limits.call_seconds, serve=lending.serve)
        finally:
            self._next_lent = lending.next
        if reply.late is not None:
            raise Deadline(reply.late)
        fields, failure, value = reply.fields, None, None
        with self._channel.strictly():
            self.changed = changed_places(fields.get("changed", []), len(args), kwargs)
            states = generator_states(fields.get("generators", []), args, kwargs)
            if "raised" in fields:
                failure = read_failure(fields["raised"])
            else:
                value = Decoder(reply.blobs, self._resolve).decode(fields.get("value"))
        for generator, state in states:
            generator.bit_generator.state = state
        if isinstance(target, RemoteFunction):
            target.changed = self.changed
        if failure is not None:
            raise failure
        return value

    def release(self, identity: int) -> None:
        """Note that a proxy is gone, so that the worker may let its object go."""
        self._released.append(identity)

    def _free(self) -> list[int]:
        freed, self._released = self._released[:1000], self._released[1000:]
        return freed

    def _call_message(
        self,
        target: str | Handle | RemoteFunction,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        lending: Lending,
    ) -> tuple[dict[str, Any], list[memoryview]]:
        encoder = Encoder(lending.refer)
        try:
            message = {
                "op": "call",
                "target": target if isinstance(target, str) else self._refer(target),
                "args": [encoder.encode(value) for value in args],
                "kwargs": [[key, encoder.encode(value)] for key, value in kwargs.items()],
                "free": self._free(),
            }
        except TooBig as reason:
            raise Unsupported(f"an argument cannot travel to the student: {reason}") from None
        return message, encoder.blobs

    def _refer(self, value: Any) -> list[Any]:
        if isinstance(value, RemoteTuple | RemoteList | RemoteDict):
            value = value.handle
        if isinstance(value, Handle | RemoteFunction):
            if value._worker is not self:
                raise Unsupported("an object of one student cannot be passed to another")
            return ["r", value._id, "", "", ""]
        raise Unsupported(
            f"a {type(value).__name__} cannot travel to the student; plain values, arrays, "
            "PCG64 generators and the student's own objects can"
        )

    def _resolve(self, identity: int, kind: str, type_name: str, info: str) -> Any:
        type_name, info = plain_text(type_name, MAX_NAME), plain_text(info, MAX_NAME)
        if kind == "function":
            return RemoteFunction(self, identity, info)
        if kind not in ("object", "module"):
            raise ProtocolError("a reference is of an unknown kind")
        return Handle(self, identity, type_name, kind, info)
