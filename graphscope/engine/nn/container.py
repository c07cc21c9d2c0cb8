"""Modules that hold modules: in a row, in a list, under keys."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any, Self

from graphscope.engine.nn.module import Module


class _Row(Module):
    """Modules in an order, under their numbers (or the names that they were given)."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def _key(self, index: int) -> str:
        count = len(self)
        place = operator.index(index)
        if not -count <= place < count:
            raise IndexError(f"index {index} is out of range: {type(self).__name__} holds {count} modules")
        return list(self._modules)[place]

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return self._of(dict(list(self._modules.items())[index]))
        return self._modules[self._key(index)]

    def _of(self, modules: dict[str, Any]) -> Self:
        """Another row, of some of the modules."""
        raise NotImplementedError

    def __setitem__(self, index: int, module: Any) -> None:
        setattr(self, self._key(index), module)

    def __delitem__(self, index: int | slice) -> None:
        if isinstance(index, slice):
            for key in list(self._modules)[index]:
                delattr(self, key)
        else:
            delattr(self, self._key(index))
        self._number(list(self._modules.values()))

    def _number(self, modules: list[Any]) -> None:
        """Hold these modules alone, under the numbers from 0."""
        for key in list(self._modules):
            delattr(self, key)
        for number, module in enumerate(modules):
            self.add_module(str(number), module)

    def append(self, module: Any) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Any) -> Any:
        """Add a module in front of the one at `index`.

        Raises:
            IndexError: There is no such place.
            AssertionError: It is no module.
        """
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")  # noqa: TRY004 - as PyTorch
        count = len(self)
        if not -count <= index <= count:
            raise IndexError(f"Index out of range: {index}; {type(self).__name__} holds {count} modules")
        modules = list(self)
        modules.insert(index, module)
        self._number(modules)
        return self

    def extend(self, modules: Iterable[Any]) -> Self:
        """Add modules at the end."""
        for module in list(modules):
            self.append(module)
        return self

    def pop(self, key: int | slice) -> Any:
        """Take a module out and return it."""
        module = self[key]
        del self[key]
        return module

    def __iadd__(self, other: Iterable[Any]) -> Self:
        return self.extend(other)


class Sequential(_Row):
    """Modules that run one after the other; also from a dict of names and modules."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = len(args) == 1 and isinstance(args[0], Mapping)
        for name, module in args[0].items() if named else enumerate(args):
            self.add_module(str(name), module)

    def forward(self, input: Any) -> Any:
        """Run them in order."""
        for module in self._modules.values():
            input = module(input)
        return input

    def _of(self, modules: dict[str, Any]) -> Any:
        return type(self)(modules)

    def __add__(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(  # noqa: TRY004 - as PyTorch
                f"add operator supports only objects of Sequential class, but {type(other)} is given."
            )
        return Sequential(*self, *other)

    def __mul__(self, other: int) -> Sequential:
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")
        return Sequential(*(list(self) * other))

    __rmul__ = __mul__


class _Uncalled(Module):
    """A holder that is never called itself: the scopes of what it holds bear the names of both, `layers.0`."""

    def _hold_module(self, name: str, module: Any) -> None:
        super()._hold_module(name, module)
        if module is not None:
            module._set_scope_name(f"{self._scope_name}.{name}" if self._scope_name else name)

    def _set_scope_name(self, name: str) -> None:
        super()._set_scope_name(name)
        for key, module in self._modules.items():
            if module is not None:
                module._set_scope_name(f"{name}.{key}")


class ModuleList(_Uncalled, _Row):
    """A list of modules for a module to run as it likes."""

    def __init__(self, modules: Iterable[Any] | None = None) -> None:
        super().__init__()
        self.extend(modules or ())

    def _of(self, modules: dict[str, Any]) -> Any:
        return type(self)(modules.values())

    def __add__(self, other: Iterable[Any]) -> ModuleList:
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        runs: list[tuple[str, int, int]] = []
        for number, text in enumerate(map(repr, self)):
            if runs and runs[-1][0] == text:
                runs[-1] = (text, runs[-1][1], number)
            else:
                runs.append((text, number, number))
        lines = [
            f"({first}): {text}" if first == last else f"({first}-{last}): {last - first + 1} x {text}"
            for text, first, last in runs
        ]
        name = self._get_name()
        return (
            f"{name}(\n  " + "\n  ".join(line.replace("\n", "\n  ") for line in lines) + "\n)" if lines else name + "()"
        )


class Keyed(Module, MutableMapping[str, Any]):
    """A module that holds things under keys. Two of them are two modules, whatever they hold."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def popitem(self) -> tuple[str, Any]:
        """Take out what came last."""
        if not self:
            raise KeyError(f"{type(self).__name__} is empty")
        key = list(self)[-1]
        return key, self.pop(key)


class ModuleDict(_Uncalled, Keyed):
    """Modules under keys, for a module to run as it likes."""

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        self.update(modules or {})

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Any) -> None:
        if key in self._modules:
            setattr(self, key, module)
        else:
            self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        if key not in self._modules:
            raise KeyError(key)
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def keys(self) -> Any:
        """The keys."""
        return self._modules.keys()
