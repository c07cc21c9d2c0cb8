"""State dicts: what a module is made of, by path, to be kept and to be loaded again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from sys import _getframe
from typing import Any, NamedTuple

import numpy as np

from graphscope.engine.core import training
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.nn.hooks import RemovableHandle
from graphscope.engine.nn.parameter import Parameter, overwrite
from graphscope.engine.nn.tree import Tree

EXTRA = "_extra_state"
"""The key of what a module's `get_extra_state` returns."""


class IncompatibleKeys(NamedTuple):
    """Which keys of a state dict and of a module have no counterpart."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"

    def __str__(self) -> str:
        return repr(self)


class StateDict(OrderedDict[str, Any]):
    """Tensors by path. `_metadata` tells the version of each module's form."""

    _metadata: dict[str, dict[str, Any]]


class Stateful(Tree):
    """What can be written down as a state dict and made from one."""

    _version: int = 1
    """The form of this module's entries; `_load_from_state_dict` may treat an older one otherwise."""

    _state_hooks: dict[str, dict[int, Callable[..., Any]]] | None = None

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """Every parameter and persistent buffer by its path, outside the graph but in the same memory.

        Args:
            *args: The same three by position, as old programs pass them.
            destination: A dict to put them in.
            prefix: Put before each path.
            keep_vars: Give the tensors themselves, with their place in the graph.
        """
        if args:
            given: list[Any] = [*args, *(destination, prefix, keep_vars)[len(args) :]]
            destination, prefix, keep_vars = given
        if destination is None:
            destination = StateDict()
            destination._metadata = {}
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_hooks_at("save_before"):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_hooks_at("save_after"):
            hook(self, destination, prefix, metadata)
        return destination  # type: ignore[no-any-return]

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Copy values into the parameters and buffers.

        Args:
            state_dict: Tensors (or arrays) by path.
            strict: Whether the paths must be exactly those of the module.
            assign: Put the given tensors in the place of the module's own.

        Returns:
            The paths that have no counterpart, as `missing_keys` and `unexpected_keys`.

        Raises:
            RuntimeError: Paths (if strict) or shapes differ; the message names all of them.
            TypeError: It is no dict.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        found = IncompatibleKeys([], [])
        errors: list[str] = []
        versions = getattr(state_dict, "_metadata", {})

        def load(module: Any, state: dict[str, Any], prefix: str) -> None:
            metadata = dict(versions.get(prefix[:-1], {}))
            if assign:
                metadata["assign_to_params_buffers"] = True
            module._load_from_state_dict(
                state, prefix, metadata, True, found.missing_keys, found.unexpected_keys, errors
            )
            for name, child in module._modules.items():
                path = f"{prefix}{name}."
                if child is not None:
                    load(child, {key: value for key, value in state.items() if key.startswith(path)}, path)
            for hook in module._state_hooks_at("load_after"):
                hook(module, found)

        load(self, dict(state_dict), "")
        if strict and found.unexpected_keys:
            errors.insert(0, f"Unexpected key(s) in state_dict: {_quoted(found.unexpected_keys)}. ")
        if strict and found.missing_keys:
            errors.insert(0, f"Missing key(s) in state_dict: {_quoted(found.missing_keys)}. ")
        if errors:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))
        training.returned("load_state_dict", self, _getframe(1))
        return found

    def get_extra_state(self) -> Any:
        """What the state dict holds of this module besides tensors; a subclass defines it with `set_extra_state`.

        Raises:
            RuntimeError: The subclass has none.
        """
        raise RuntimeError(f"{type(self).__name__} has no get_extra_state(): define it together with set_extra_state()")

    def set_extra_state(self, state: Any) -> None:
        """Take back what `get_extra_state` returned.

        Raises:
            RuntimeError: The subclass has none.
        """
        raise RuntimeError(f"{type(self).__name__} has no set_extra_state(): define it together with get_extra_state()")

    def _own_state(self) -> dict[str, Tensor]:
        """The tensors of this module alone that belong in a state dict."""
        buffers = {name: value for name, value in self._buffers.items() if name not in self._non_persistent_buffers_set}
        return {name: value for name, value in (*self._parameters.items(), *buffers.items()) if value is not None}

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Put the entries of this module alone into `destination`."""
        for name, tensor in self._own_state().items():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if type(self).get_extra_state is not Stateful.get_extra_state:
            destination[prefix + EXTRA] = self.get_extra_state()

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Take the entries of this module alone out of `state_dict`; what does not fit is added to the lists."""
        for hook in self._state_hooks_at("load_before"):
            hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        own = self._own_state()
        for name, tensor in own.items():
            if prefix + name in state_dict:
                error = self._load_tensor(name, tensor, prefix + name, state_dict[prefix + name], local_metadata)
                error_msgs.extend([error] if error else [])
            elif strict:
                missing_keys.append(prefix + name)
        known = {*own, *self._modules}
        if type(self).set_extra_state is not Stateful.set_extra_state:
            known.add(EXTRA)
            if prefix + EXTRA in state_dict:
                self.set_extra_state(state_dict[prefix + EXTRA])
            elif strict:
                missing_keys.append(prefix + EXTRA)
        for key in state_dict if strict else ():
            head, dot, _ = key[len(prefix) :].partition(".")
            if key.startswith(prefix) and (head not in known or bool(dot) != (head in self._modules)):
                unexpected_keys.append(key)

    def _load_tensor(self, name: str, tensor: Tensor, key: str, given: Any, metadata: dict[str, Any]) -> str | None:
        """Give one tensor its value; the answer is what is wrong with that."""
        if not isinstance(given, Tensor | np.ndarray | np.generic):
            return (
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                f"checkpoint but received {type(given)}"
            )
        value: Any = given.array if isinstance(given, Tensor) else given
        if not tensor.array.ndim and value.shape == (1,):
            value = value[0]
        if value.shape != tensor.array.shape:
            return (
                f"size mismatch for {key}: copying a param with shape {_size(value)} from checkpoint, "
                f"the shape in current model is {_size(tensor.array)}."
            )
        if not metadata.get("assign_to_params_buffers"):
            overwrite(tensor, given if value is getattr(given, "array", None) else value)
        elif tensor.is_parameter:
            setattr(self, name, Parameter(given, tensor.requires_grad))
        else:
            setattr(self, name, given if isinstance(given, Tensor) else Tensor(given))
        return None

    # Hooks

    def _state_hooks_at(self, moment: str) -> list[Callable[..., Any]]:
        return list(self._state_hooks.get(moment, {}).values()) if self._state_hooks else []

    def _state_hook(self, moment: str, hook: Callable[..., Any]) -> RemovableHandle:
        if self._state_hooks is None:
            self.__dict__["_state_hooks"] = {}
        return RemovableHandle(self.__dict__["_state_hooks"].setdefault(moment, {}), hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before `state_dict` is made."""
        return self._state_hook("save_before", hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` when `state_dict` is made; it may change the dict."""
        return self._state_hook("save_after", hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)`
        before `load_state_dict` takes values out; it may change the dict.
        """
        return self._state_hook("load_before", hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` after `load_state_dict`; it may change the lists."""
        return self._state_hook("load_after", hook)


def _quoted(keys: list[str]) -> str:
    return ", ".join(f'"{key}"' for key in keys)


def _size(array: Any) -> str:
    return f"torch.Size({list(array.shape)})"
