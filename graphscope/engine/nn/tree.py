"""What a module holds under names: parameters, buffers and other modules, and the ways to walk them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from graphscope.engine.core import training
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.nn.parameter import Parameter

HOLDERS = ("_parameters", "_buffers", "_modules")
"""Where a module keeps what it holds. Each is an attribute too, so that reading one costs no more than any other."""


class Tree:
    """The names of a module: what it holds and what those hold."""

    _scope_name: str = ""
    """What the module that holds it calls it; the outermost has no name, and opens no scope."""

    _parameters: dict[str, Tensor | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]

    def __init__(self) -> None:
        self.__dict__.update(_parameters={}, _buffers={}, _modules={}, _non_persistent_buffers_set=set(), training=True)
        if (told := training.told()) is not None:
            told.constructed(self)

    # Attributes

    def __setattr__(self, name: str, value: Any) -> None:
        attributes = self.__dict__
        if isinstance(value, Tensor):
            if value.is_parameter:
                self._check_initialised("parameters")
                self._forget_held(name, keep="_parameters")
                self.register_parameter(name, value)
                return
            if "is_buffer" in value.__dict__:
                self._check_initialised("buffers")
                self._forget_held(name, keep="_buffers")
                self.register_buffer(name, value, value.__dict__["persistent"])
                return
        elif isinstance(value, Tree):
            self._check_initialised("module")
            self._forget_held(name, keep="_modules")
            self._hold_module(name, value)
            return
        if name in attributes.get("_parameters", ()):
            _only_none(value, name, "parameter", "torch.nn.Parameter or None")
            attributes["_parameters"][name] = None
        elif name in attributes.get("_modules", ()):
            _only_none(value, name, "child module", "torch.nn.Module or None")
            attributes["_modules"][name] = None
        elif name in attributes.get("_buffers", ()):
            if not isinstance(value, Tensor):
                _only_none(value, name, "buffer", "torch.nn.Buffer, torch.Tensor or None")
            attributes["_buffers"][name] = value
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        held = [holder for holder in HOLDERS if name in self.__dict__.get(holder, ())]
        self._forget_held(name)
        if not held:
            object.__delattr__(self, name)

    def __getattr__(self, name: str) -> Any:
        for holder in HOLDERS:
            if name in self.__dict__.get(holder, ()):
                return self.__dict__[holder][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def _check_initialised(self, what: str) -> None:
        if "_modules" not in self.__dict__:
            raise AttributeError(
                f"cannot assign {what} before Module.__init__() call: "
                f"{type(self).__name__}.__init__ should begin with super().__init__()"
            )

    def _forget_held(self, name: str, keep: str = "") -> None:
        """Hold nothing under a name, so that something of another kind may take it."""
        for holder in HOLDERS:
            if holder != keep and self.__dict__.get(holder, {}).pop(name, self) is not self:
                self.__dict__.pop(name, None)
                self._non_persistent_buffers_set.discard(name)
        if keep:
            self.__dict__.pop(name, None)

    def _hold_module(self, name: str, module: Any) -> None:
        self._modules[name] = self.__dict__[name] = module
        if module is None:
            return
        module._set_scope_name(name)
        for path, tensor in module._named_members("_parameters"):
            tensor.name = f"{name}.{path}"
        for path, tensor in module._named_members("_buffers"):
            tensor.name = f"{name}.{path}"

    def _set_scope_name(self, name: str) -> None:
        self.__dict__["_scope_name"] = name

    # Registering

    def register_parameter(self, name: str, param: Tensor | None) -> None:
        """Hold a parameter under a name.

        Raises:
            TypeError: It is no Parameter.
            KeyError: The name can't be used, or is taken.
            ValueError: It is the result of an op.
        """
        self._check_initialised("parameter")
        self._check_held_name(name, "parameter", self._parameters)
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(
                    f"cannot assign '{_type_name(param)}' object to parameter '{name}' "
                    "(torch.nn.Parameter or None required)"
                )
            if param.node is not None:
                raise ValueError(
                    f"Cannot assign non-leaf Tensor to parameter '{name}'. A parameter is made explicitly. "
                    f"To express '{name}' as a function of another Tensor, compute the value in the forward() method."
                )
            param.name = name
        self._parameters[name] = self.__dict__[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Hold a tensor that is no parameter under a name, such as a running mean.

        Args:
            name: The name.
            tensor: The tensor; None holds the place.
            persistent: Whether it is part of the state dict.

        Raises:
            TypeError: It is no tensor.
            KeyError: The name can't be used, or is taken.
        """
        self._check_initialised("buffer")
        self._check_held_name(name, "buffer", self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{_type_name(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        if tensor is not None:
            tensor.name = name
        self._buffers[name] = self.__dict__[name] = tensor
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def add_module(self, name: str, module: Any) -> None:
        """Hold a module under a name.

        Raises:
            TypeError: It is no Module.
            KeyError: The name can't be used, or is taken.
        """
        if not isinstance(module, Tree) and module is not None:
            raise TypeError(f"{_type_name(module)} is not a Module subclass")
        self._check_initialised("module")
        self._check_held_name(name, "module", self._modules)
        self._hold_module(name, module)

    def register_module(self, name: str, module: Any) -> None:
        """The same as `add_module`."""
        self.add_module(name, module)

    def _check_held_name(self, name: str, what: str, holder: dict[str, Any]) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {_type_name(name)}")
        if "." in name:
            raise KeyError(f'{what} name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError(f'{what} name can\'t be empty string ""')
        if name not in holder and hasattr(self, name):
            raise KeyError(f"attribute '{name}' already exists")

    # Walking

    def _named_members(self, holder: str, prefix: str = "", recurse: bool = True, once: bool = True) -> Iterator[Any]:
        """What the modules hold of one kind, with paths; what is shared comes once unless all are asked for."""
        seen: set[int] = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=once) if recurse else iter([(prefix, self)])
        for path, module in modules:
            for name, value in getattr(module, holder).items():
                if value is None or id(value) in seen:
                    continue
                if once:
                    seen.add(id(value))
                yield f"{path}.{name}" if path else name, value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Every parameter, of the modules inside too, with its path; one that is shared comes once."""
        return self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Any]:
        """Every parameter, of the modules inside too."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Every buffer, of the modules inside too, with its path."""
        return self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Any]:
        """Every buffer, of the modules inside too."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """The modules that this one holds, by name; one that is held twice comes once."""
        seen: set[int] = set()
        for name, module in self._modules.items():
            if module is not None and id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def children(self) -> Iterator[Any]:
        """The modules that this one holds."""
        return (module for _, module in self.named_children())

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """This module and all inside it, with their paths; one that is shared comes once."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Any]:
        """This module and all inside it."""
        return (module for _, module in self.named_modules(remove_duplicate=remove_duplicate))

    def get_submodule(self, target: str) -> Any:
        """The module at a path such as `encoder.layers.0`.

        Raises:
            AttributeError: There is none.
        """
        module: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Tree):
                raise AttributeError(f"`{name}` is not an nn.Module")  # noqa: TRY004 - as PyTorch
        return module

    def set_submodule(self, target: str, module: Any) -> None:
        """Put a module at a path, in the place of the one that is there.

        Raises:
            AttributeError: The path leads nowhere.
            ValueError: The path is empty.
        """
        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        path, _, name = target.rpartition(".")
        setattr(self.get_submodule(path), name, module)

    def get_parameter(self, target: str) -> Any:
        """The parameter at a path such as `encoder.weight`.

        Raises:
            AttributeError: There is none.
        """
        return self._find_held(target, "_parameters", "an nn.Parameter")

    def get_buffer(self, target: str) -> Any:
        """The buffer at a path.

        Raises:
            AttributeError: There is none.
        """
        return self._find_held(target, "_buffers", "a buffer")

    def _find_held(self, target: str, holder: str, kind: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        if name not in getattr(module, holder):
            raise AttributeError(f"`{name}` is not {kind}")
        return getattr(module, name)


def _only_none(value: Any, name: str, what: str, expected: str) -> None:
    if value is not None:
        raise TypeError(f"cannot assign '{_type_name(value)}' as {what} '{name}' ({expected} expected)")


def _type_name(value: Any) -> str:
    """A type as PyTorch's messages spell it."""
    if isinstance(value, Tensor):
        return "torch.FloatTensor"
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
