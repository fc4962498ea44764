"""What the grader holds in place of the objects of a student's process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from autograder.sandbox.errors import Unsupported

if TYPE_CHECKING:
    from autograder.sandbox.session import Worker


class Handle:
    """An opaque object of a worker: it can be passed back to that worker and nothing else.

    Attributes
    ----------
    type_name : str
        Name of the object's class, as the worker reported it.
    kind : str
        "object", or "module" for a module.
    info : str
        Name of the module, else empty.
    """

    __slots__ = ("_id", "_worker", "info", "kind", "type_name")

    def __init__(self, worker: Worker, identity: int, type_name: str, kind: str, info: str) -> None:
        self._worker = worker
        self._id = identity
        self.type_name = type_name
        self.kind = kind
        self.info = info

    def __repr__(self) -> str:
        """Say what it stands for."""
        return f"<Handle to a {self.type_name} in the student's process>"

    def __del__(self) -> None:
        """Let the worker forget the object."""
        self._worker.release(self._id)

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse: the object is not here."""
        raise Unsupported(_refusal(self.type_name, f"read its attribute {name!r}"))


class RemoteFunction:
    """A function of a worker; calling it runs it there.

    Attributes
    ----------
    __name__ : str
        The function's name, as the worker reported it.
    changed : tuple of int and str
        Positions and keywords of the arguments that hold an array which the last call changed
        in place. The grader's arrays stay as they were: copying changes back would let a
        function zero its input and be compared with a constant.
    """

    def __init__(self, worker: Worker, identity: int, name: str) -> None:
        self._worker = worker
        self._id = identity
        self.__name__ = name
        self.__qualname__ = name
        self.changed: tuple[int | str, ...] = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the student's function, see `Worker.call`."""
        return self._worker.call(self, args, kwargs)

    def __repr__(self) -> str:
        """Say what it stands for."""
        return f"<function {self.__name__} in the student's process>"

    def __del__(self) -> None:
        """Let the worker forget the object."""
        self._worker.release(self._id)


class RemoteTuple(tuple[Any, ...]):
    """The items of a student's tuple subclass, such as a named tuple.

    Passed back to the student it is the original object again, as `RemoteList` and `RemoteDict`
    are: a cache keeps the names and methods that its owner relies on.
    """

    handle: Handle | RemoteFunction


class RemoteList(list[Any]):
    """The items of a student's list subclass; see `RemoteTuple`."""

    handle: Handle | RemoteFunction


class RemoteDict(dict[Any, Any]):
    """The items of a student's dict subclass, such as an OrderedDict; see `RemoteTuple`."""

    handle: Handle | RemoteFunction


VIEWS: dict[type, Any] = {tuple: RemoteTuple, list: RemoteList, dict: RemoteDict}


def _refusal(type_name: str, what: str) -> str:
    return (
        f"cannot {what}: this {type_name} lives in the student's process. "
        "It can only be passed back to a function of the same student."
    )


def _refuse(method: str, what: str) -> None:
    def refuse(self: Handle, *args: object, **kwargs: object) -> NoReturn:
        raise Unsupported(_refusal(self.type_name, what))

    refuse.__name__ = method
    setattr(Handle, method, refuse)


_REFUSED = {
    "iterate over it": ("__iter__", "__next__", "__reversed__", "__contains__"),
    "take its length or an item": ("__len__", "__getitem__", "__setitem__", "__delitem__"),
    "compare it": ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__"),
    "use it as a number or a truth value": (
        "__bool__", "__int__", "__float__", "__complex__", "__index__", "__abs__", "__neg__",
    ),
    "compute with it": (
        "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__",
        "__rtruediv__", "__matmul__", "__rmatmul__", "__pow__", "__rpow__", "__mod__",
    ),
    "turn it into an array": ("__array__", "__array_ufunc__", "__array_function__"),
    "call it": ("__call__",),
    "copy or pickle it": ("__reduce_ex__", "__copy__", "__deepcopy__"),
    "set or delete its attributes": ("__delattr__",),
}  # fmt: skip
for _what, _methods in _REFUSED.items():
    for _method in _methods:
        _refuse(_method, _what)
