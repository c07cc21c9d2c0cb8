"""The functions that torch means where it hands one to a mode by its name: a program may have put its own there.

With a mode on the stack, a function of torch hands on what bears its name, not itself. Were that called, a wrapper that
counts, times or scales would run a second time inside of itself.
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Iterator
from types import (
    BuiltinFunctionType,
    CodeType,
    FrameType,
    FunctionType,
    GetSetDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, Final

import torch

from graphscope.eventlog.garbage import take_in

_PACKAGE: Final = torch.__file__.rpartition("__init__")[0]
_ASKS: Final = "torch_function"
_HANDS_ON: Final = "handle_torch_function"
HANDING: Final[CodeType] = torch.overrides.handle_torch_function.__code__
"""The code that hands a function of Python to a mode."""

_IN_PYTHON: Final[tuple[Any, ...]] = (
    torch.nn.functional,
    torch.functional,
    torch.Tensor,
    torch.nn.init,
    torch.autograd,
)
_IN_C: Final = ("_nn", "_fft", "_linalg", "_special", "_sparse", "_nested")
"""Where torch's C code looks up functions, beside in its class of tensors."""

IN_C: Final = (BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType)
"""Classes of functions that no program makes."""

_SPENT: Final = frozenset({"grad_variables"})
"""Parameters that are looked at before a call is handed on, as another one."""


class Originals:
    """Finds what torch means, as it was written."""

    def __init__(self) -> None:
        self.others: dict[int, FunctionType] = {}
        """By the address of a code of torch's: a function that it hands on though it is another one."""
        self._codes = dict(_written_in_python())
        _written_in_c()  # before more is changed

    def intended(self, func: Any, direct: FrameType, handed: bool, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """The function that is to run, and its keyword arguments.

        Args:
            func: What torch handed to a mode.
            direct: The frame that it came from.
            handed: Whether that is the one of a function that hands itself on.
            args: Its arguments.
            kwargs: Those given by name, or None.
        """
        frame: FrameType | None = direct
        if direct.f_code is HANDING:
            frame, handed = direct.f_back, True
        if not handed:
            return self._looked_up(func), kwargs
        while frame is not None and not asks(frame.f_code):
            frame = frame.f_back
        if frame is None or isinstance(func, torch._ops.OperatorBase):
            return func, kwargs
        code = frame.f_code
        if not any(body is code for body in _bodies(func)):
            if _names_another(func, code):
                self.others[id(code)] = func
            elif _is_of_torch(code) or _names_itself(func, frame):
                func = self._written(frame)
        return func, self._given(func, frame, args, kwargs)

    def _written(self, frame: FrameType) -> FunctionType:
        """The function that a frame runs."""
        code = frame.f_code
        found = self._codes.get(id(code))
        if found is None:
            cells = tuple(_cell(frame.f_locals.get(name)) for name in code.co_freevars)
            found = self._codes[id(code)] = FunctionType(code, frame.f_globals, code.co_name, None, cells)
        return found

    def _given(self, func: Any, frame: FrameType, args: Any, kwargs: Any) -> Any:
        """The keyword arguments, with those that were not handed on: torch forgets some."""
        code = frame.f_code
        count = code.co_argcount
        names = code.co_varnames[: count + code.co_kwonlyargcount]
        missing = [
            name for name in (*names[min(len(args), count) : count], *names[count:]) if name not in (kwargs or ())
        ]
        if code is not getattr(func, "__code__", None) or not missing:
            return kwargs
        return {**(kwargs or {}), **{name: frame.f_locals[name] for name in missing if name not in _SPENT}}

    def _looked_up(self, func: Any) -> Any:
        """What C code means, that found this under a name of its own."""
        asked = getattr(func, "__name__", "")
        accessor = asked if asked in ("__get__", "__set__", "__delete__") else ""
        wanted = getattr(func, "__self__", None) if accessor else func
        if isinstance(wanted, (*IN_C, GetSetDescriptorType)):
            return func
        name = _name_of(wanted)
        if name is not None:
            found = getattr(torch._C.TensorBase, name)
            return getattr(found, accessor) if accessor else found
        for module, originals in _written_in_c():
            for name, original in originals.items():
                if vars(module).get(name) is func:
                    return original
        return func


@functools.cache
def _written_in_python() -> dict[int, FunctionType]:
    """Functions of torch as they were written, by the addresses of their codes."""
    every = (found for owner in _IN_PYTHON for found in vars(owner).values())
    return {
        id(found.__code__): found for found in every if isinstance(found, FunctionType) and _is_of_torch(found.__code__)
    }


@functools.cache
def _written_in_c() -> list[tuple[ModuleType, dict[str, Any]]]:
    """Modules of torch's, and the functions of C in them by their names."""
    modules = [getattr(torch._C, name) for name in _IN_C if hasattr(torch._C, name)]
    found = [(module, {name: each for name, each in vars(module).items() if type(each) in IN_C}) for module in modules]
    if any(len(each) < sum(not name.startswith("__") for name in vars(module)) for module, each in found):
        take_in()
        for each in gc.get_objects():  # a program has something else there, and holds what it has taken out
            if type(each) is BuiltinFunctionType:
                for module, functions in found:
                    if each.__self__ is module:
                        functions.setdefault(each.__name__, each)
    return found


def _name_of(wanted: Any) -> str | None:
    """The name under which something stands in torch's class of tensors, where its C code has something else."""
    stands = {name: found for name, found in vars(torch.Tensor).items() if name in vars(torch._C.TensorBase)}
    exact = next((name for name, found in stands.items() if found is wanted), None)
    if exact is not None:
        return exact
    # What stands there makes what is called, anew each time.
    makers = [name for name, found in stands.items() if hasattr(found, "__get__") and type(found) is not FunctionType]
    made = next((name for name in makers if _is_same(getattr(torch.Tensor, name), wanted)), None)
    strange = [name for name in makers if not isinstance(stands[name], (property, *IN_C, GetSetDescriptorType))]
    return strange[0] if made is None and len(strange) == 1 else made


def asks(code: CodeType) -> bool:
    """Whether a code asks if it is to be handed on; those that only hand on do so for their caller."""
    return any(_ASKS in name and name != _HANDS_ON for name in code.co_names)


def _is_of_torch(code: CodeType) -> bool:
    return code.co_filename.startswith(_PACKAGE)


def _bodies(func: Any) -> Iterator[CodeType]:
    """The codes that a function consists of: those that torch chooses among by a flag are several."""
    if isinstance(func, FunctionType):
        yield func.__code__
        if func.__code__.co_filename == _CHOOSING:
            for cell in func.__closure__ or ():
                yield from _bodies(cell.cell_contents)
    elif isinstance(getattr(func, "__self__", None), property):
        yield from _bodies(getattr(func.__self__, {"__get__": "fget", "__set__": "fset"}.get(func.__name__, "fdel")))


_CHOOSING: Final = torch._jit_internal.boolean_dispatch.__code__.co_filename


def _names_another(func: Any, code: CodeType) -> bool:
    """Whether a code of torch's hands on another function of its file, of which it is the better part."""
    if not isinstance(func, FunctionType) or not _is_of_torch(code):
        return False
    own = func.__code__
    return own.co_filename == code.co_filename and own.co_name != code.co_name and own.co_name in code.co_names


def _names_itself(func: Any, frame: FrameType) -> bool:
    """Whether a function is what that of a frame is called where it was written."""
    first, *rest = frame.f_code.co_qualname.split(".")
    found = frame.f_globals.get(first)
    for name in rest:
        found = getattr(found, name, None)
    return _is_same(found, func)


def _is_same(found: Any, func: Any) -> bool:
    if isinstance(found, functools.partial) and isinstance(func, functools.partial):
        return (found.func, found.args, found.keywords) == (func.func, func.args, func.keywords)
    return found is func or (isinstance(found, MethodType) and bool(found == func))


def _cell(value: Any) -> Any:
    return (lambda: value).__closure__[0]  # type: ignore[index]
