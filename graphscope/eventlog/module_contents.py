"""What a module holds: its parameters and modules by name, and what hangs on it that it does not know of."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import CellType, FunctionType, MethodType
from typing import Any, Final, NamedTuple

_MOST_MODULES: Final = 4096
_MOST_ITEMS: Final = 1024
_DEPTH: Final = 3
"""So many modules are looked through, so many things in one container, and containers in each other."""

Number = Callable[[Any], int | None]
"""From a tensor to its number in the log; None where the log has not met it."""

Site = Callable[[Any], int]
"""From a module to the number of the line that made it; 0 where that was not seen."""


class Framework(NamedTuple):
    """The classes of a framework whose modules are told of: they are walked as those of PyTorch."""

    module: type[Any]
    tensor: type[Any]
    package: str
    """Where the framework's own modules are defined."""
    attributes: frozenset[str]
    """Those that every module has."""


def contents(framework: Framework, module: Any, number: Number, site: Site) -> dict[str, Any]:
    """What the log says of a module that is in no other."""
    modules = [(name, each) for name, each in _first(module.named_modules())]
    parameters = dict(_first(module.named_parameters(remove_duplicate=False)))
    return {
        "type": type(module).__qualname__,
        "training": module.training,
        "modules": {name: type(each).__qualname__ for name, each in modules},
        "others": [name for name, each in modules if each.training is not module.training],
        "parameters": {name: number(each) for name, each in parameters.items()},
        "frozen": [name for name, each in parameters.items() if not each.requires_grad],
        "sizes": {name: each.numel() for name, each in parameters.items()},
        "classes": dict(_classes(modules, framework.package)),
        "sites": {name: site(each) for name, each in modules},
        "unregistered": list(_unregistered(framework, modules, number, site)),
    }


def _first(found: Iterator[Any]) -> Iterator[Any]:
    return (each for each, _ in zip(found, range(_MOST_MODULES), strict=False))


def _classes(modules: list[tuple[str, Any]], package: str) -> Iterator[tuple[str, list[Any]]]:
    """Where the program's own classes of modules begin: file and line of what makes them."""
    for kind in {type(each) for _, each in modules}:
        code = getattr(kind.__dict__.get("__init__"), "__code__", None)
        if code is not None and not kind.__module__.startswith(f"{package}."):
            yield kind.__qualname__, [code.co_filename, code.co_firstlineno]


def _unregistered(
    framework: Framework, modules: list[tuple[str, Any]], number: Number, site: Site
) -> Iterator[dict[str, Any]]:
    """Parameters that hang on modules in a way that `parameters()` does not see."""
    known = {id(each) for _, module in modules for each in (*module.parameters(False), *module.buffers(False))}
    seen = {id(each) for _, each in modules}
    for name, module in modules:
        for attribute, value in [*vars(module).items()]:
            if attribute in framework.attributes:
                continue
            held = [each for each in _held(framework, value, attribute, _DEPTH, seen) if id(each[1]) not in known]
            if held:
                yield {
                    "module": name,
                    "attribute": attribute,
                    "type": type(value).__qualname__,
                    "parameters": {place: number(tensor) for place, tensor, _ in held},
                    "is_made": isinstance(value, framework.tensor) and not value.is_leaf,
                    "site_number": next((site(made) for _, _, made in held if made is not None), 0),
                }


def _held(framework: Framework, value: Any, place: str, depth: int, seen: set[int]) -> Iterator[tuple[str, Any, Any]]:
    """The leaves that require grad in a container, a module or a tensor, each with its place and its module, if any."""
    if isinstance(value, framework.module):
        if id(value) not in seen:
            seen.add(id(value))
            for name, each in _first(value.named_parameters()):
                yield f"{place}.{name}", each, value
    elif isinstance(value, framework.tensor):
        leaf = _leaf(value) if value.requires_grad else None
        if leaf is not None:
            yield place, leaf, None
    elif depth:
        for name, each in _parts(value, place):
            yield from _held(framework, each, name, depth - 1, seen)


def _leaf(value: Any) -> Any:
    """The leaf that a tensor is, or was made of alone, as by a cast; None of what was made of several."""
    if value.is_leaf:
        return value
    node: Any = value.grad_fn
    for _ in range(_STEPS):
        taken = [each for each, _ in node.next_functions if each is not None]
        if len(taken) != 1:
            return None
        node = taken[0]
        if hasattr(node, "variable"):
            return node.variable
    return None


_STEPS: Final = 4
"""So many ops lie between a leaf and what a module keeps in its place."""


def _parts(value: Any, place: str) -> list[tuple[str, Any]]:
    """What a thing holds that may hold parameters: a container, or a function with what it was made with."""
    if type(value) in (list, tuple, dict, set) and len(value) <= _MOST_ITEMS:
        items = value.items() if type(value) is dict else enumerate(value)
        return [(f"{place}[{key!r}]", each) for key, each in items]
    if isinstance(value, functools.partial):
        given = [*enumerate(value.args), *value.keywords.items()]
        return [(f"{place}.func", value.func), *((f"{place}({key})", each) for key, each in given)]
    if isinstance(value, FunctionType) and value.__closure__:
        names = zip(value.__code__.co_freevars, value.__closure__, strict=False)
        return [(f"{place}.{name}", cell.cell_contents) for name, cell in names if cell != _EMPTY]
    if isinstance(value, MethodType):
        return [(f"{place}.__self__", value.__self__)]
    return []


_EMPTY: Final = CellType()
