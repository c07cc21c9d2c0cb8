"""Which variable or attribute of the program holds an object: what refers to it is followed up to a name.

Nothing is kept alive or run by it: variables are read one by one, attributes past the code of their classes.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable
from types import CellType, CodeType, FrameType, FunctionType, GeneratorType
from typing import Any, Final

from graphscope.eventlog.frame_variables import local_variable
from graphscope.eventlog.garbage import take_in
from graphscope.eventlog.own_files import is_internal

_DEEPEST: Final = 6
"""So many containers may lie around each other."""

_MOST: Final = 64
"""So many objects are followed at once."""

_CONTAINERS: Final = ("list", "tuple", "set", "frozenset", "dict", "deque", "OrderedDict", "defaultdict")


def holder(held: Any) -> dict[str, Any] | None:
    """What holds an object: the kind, the name, the class of what bears the name, and where that was written.

    `kind` is `variable` (of a running function), `global`, `attribute`, `closure` or `generator`; `owner` the function
    or class; `file`, and `line` where that begins (0 where it does not).
    """
    take_in()
    chain = [held]
    layer = [held]
    ours = {id(chain), id(layer)}
    for _ in range(_DEEPEST):
        found = _of_frames(chain, _running())
        if found is not None:
            return found
        referrers = [each for each in gc.get_referrers(*layer) if id(each) not in ours and not _is_ours(each)]
        for each in referrers:
            found = _named(each, chain)
            if found is not None:
                return found
        layer = [each for each in referrers if type(each).__name__ in _CONTAINERS or isinstance(each, CellType)][:_MOST]
        chain += layer
        ours |= {id(layer), id(referrers)}
        if not layer:
            break
    return None


def _named(referrer: Any, chain: list[Any]) -> dict[str, Any] | None:
    """What a referrer is to the program, where it has a name for one of some objects."""
    if isinstance(referrer, dict):
        name = referrer.get("__name__")
        module = sys.modules.get(name) if isinstance(name, str) else None
        is_module = "__builtins__" in referrer or getattr(module, "__dict__", None) is referrer
        return _global(referrer, chain) if is_module else None
    if isinstance(referrer, FunctionType):
        return _closure(referrer, chain)
    if isinstance(referrer, GeneratorType):
        frame = referrer.gi_frame
        return None if frame is None else _of_frames(chain, [frame], "generator")
    if isinstance(referrer, (CellType, FrameType)) or type(referrer).__name__ in _CONTAINERS:
        return None
    return _attribute(referrer, chain)


def _global(names: dict[Any, Any], chain: list[Any]) -> dict[str, Any] | None:
    file = names.get("__file__")
    for name, value in list(names.items()):
        if _is_one(value, chain) and isinstance(name, str):
            return _told("global", name, value, str(names.get("__name__", "")), str(file or ""), 0)
    return None


def _closure(function: FunctionType, chain: list[Any]) -> dict[str, Any] | None:
    code = function.__code__
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
        try:
            value = cell.cell_contents
        except ValueError:  # not set yet
            continue
        if _is_one(value, chain) or _is_one(cell, chain):
            return _of_code("closure", name, value, code)
    return None


def _attribute(owner: Any, chain: list[Any]) -> dict[str, Any] | None:
    kind = type(owner)
    try:
        attributes = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return None
    for name, value in list(attributes.items()):
        if _is_one(value, chain):
            module = sys.modules.get(kind.__module__)
            file = getattr(module, "__file__", None) or ""
            return _told("attribute", str(name), value, kind.__qualname__, str(file), 0)
    return None


def _of_frames(chain: list[Any], frames: Iterable[FrameType], kind: str = "variable") -> dict[str, Any] | None:
    for frame in frames:
        code = frame.f_code
        for name in (*code.co_varnames, *code.co_cellvars, *code.co_freevars):
            value = local_variable(frame, name)
            if value is not None and _is_one(value, chain):
                return _of_code("closure" if name in code.co_freevars else kind, name, value, code)
    return None


def _running() -> list[FrameType]:
    """The functions of the program that run in this thread; what lies at the top of a module is global."""
    found = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name != "<module>" and not is_internal(frame.f_code.co_filename):
            found.append(frame)
        frame = frame.f_back
    return found


def _of_code(kind: str, name: str, value: Any, code: CodeType) -> dict[str, Any]:
    return _told(kind, name, value, code.co_qualname, code.co_filename, code.co_firstlineno)


def _told(kind: str, name: str, value: Any, owner: str, file: str, line: int) -> dict[str, Any]:
    holds = type(value).__name__
    return {"kind": kind, "name": name, "holds": holds, "owner": owner, "file": file, "line": line}


def _is_one(value: Any, chain: list[Any]) -> bool:
    return any(value is each for each in chain)


def _is_ours(referrer: Any) -> bool:
    """Whether it is the recorder's own."""
    if isinstance(referrer, FrameType):
        return True  # running ones are looked at by their names
    return type(referrer).__module__.partition(".")[0] == "graphscope"
