"""What all optimizers have in common: groups of parameters with settings, a state for each, and the end of a step."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Mapping
from copy import deepcopy
from itertools import chain
from sys import _getframe
from typing import Any, Final

from graphscope.engine.core import training
from graphscope.engine.core.leaf_gradients import clear
from graphscope.engine.core.modes import enable_grad, no_grad
from graphscope.engine.core.settings import Declared
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.complex_numbers import view_as_complex, view_as_real
from graphscope.eventlog import training_steps


class Optimizer:
    """Changes parameters by their gradients, in place. A subclass says how one parameter changes, in `_update`.

    Args:
        params: Tensors that require grad; or pairs of names and tensors; or dicts `{"params": [...], "lr": ...}`, each
            a group with settings of its own.
        defaults: The settings of groups that say nothing else.

    Raises:
        ValueError: There are no parameters, or a parameter is in two groups.
        TypeError: A parameter is no tensor.
    """

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got a Tensor: "
                "put it in a list"
            )
        self.defaults = defaults
        self.state: Any = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._before: list[Callable[..., Any]] = []
        self._after: list[Callable[..., Any]] = []
        self._steps = 0
        self._stepping = False
        given = list(params)
        if not given:
            raise ValueError("optimizer got an empty parameter list: pass the tensors to train, model.parameters()")
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(group)
        if (told := training.told()) is not None:
            told.built(self)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = _counted(cls.__dict__["step"])  # type: ignore[method-assign]

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Train more parameters, with settings of their own.

        Raises:
            TypeError: It is no dict, or holds what is no tensor.
            ValueError: A parameter is in a group already, or is the result of an op.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        group = dict(param_group)
        given: Any = group["params"]
        if isinstance(given, set):
            raise TypeError("optimizer parameters need to be organized in ordered collections, a set has no order")
        members: list[Any] = [given] if isinstance(given, Tensor) else list(given)
        if members and all(isinstance(member, tuple) for member in members):
            group["param_names"] = [name for name, _ in members]
            members = [tensor for _, tensor in members]
        group["params"] = [_trainable(tensor) for tensor in members]
        known = {id(tensor) for other in self.param_groups for tensor in other["params"]}
        if len({id(tensor) for tensor in members} | known) < len(members) + len(known):
            raise ValueError("some parameters appear in more than one parameter group, or twice in one")
        for name, value in self.defaults.items():
            group.setdefault(name, value)
        self.param_groups.append(group)
        if (told := training.told()) is not None:
            told.regrouped(self)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or set them to 0."""
        for group in self.param_groups:
            for parameter in group["params"]:
                clear(parameter, set_to_none=set_to_none)
        if (told := training.told()) is not None:
            told.forgot(self, (each for group in self.param_groups for each in group["params"]), set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient; the log notes that a training step ends.

        Args:
            closure: Computes the loss and its gradients first.

        Returns:
            What `closure` returned.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                for parameter in group["params"]:
                    gradient = parameter.grad
                    if gradient is not None:
                        if group.get("maximize"):
                            gradient = -gradient
                        state = self.state[parameter]
                        update = self._update if parameter.array.dtype.kind != "c" else self._update_parts
                        update(parameter, gradient, state, group)
        return loss

    def _update_parts(self, parameter: Any, gradient: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Change a complex parameter: its real and imaginary parts are numbers like any others."""
        parts = {name: view_as_real(value) if _is_complex(value) else value for name, value in state.items()}
        self._update(view_as_real(parameter), view_as_real(gradient), parts, group)
        shape = (*parameter.shape, 2)
        for name, value in parts.items():
            paired = isinstance(value, Tensor) and tuple(value.shape) == shape
            state[name] = view_as_complex(value) if paired else value

    def _update(self, parameter: Any, gradient: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Change one parameter; `state` is what is kept of it from step to step."""
        raise NotImplementedError(f"{type(self).__name__} has no step(): define it")

    # State

    def state_dict(self) -> dict[str, Any]:
        """The state of each parameter and the settings of each group; parameters are numbered through."""
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for parameter in group["params"]:
                numbers.setdefault(id(parameter), len(numbers))
            settings = {name: value for name, value in group.items() if name != "params"}
            groups.append({**settings, "params": [numbers[id(parameter)] for parameter in group["params"]]})
        kept = ((key, value) for key, value in self.state.items() if value)
        state = {numbers[id(key)] if isinstance(key, Tensor) else key: value for key, value in kept}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take back what `state_dict` gave; the groups must be of the same sizes.

        Raises:
            ValueError: They are not.
        """
        groups, saved = self.param_groups, deepcopy(list(state_dict["param_groups"]))
        if len(groups) != len(saved):
            raise ValueError(
                "loaded state dict has a different number of parameter groups: "
                f"{len(saved)}, the optimizer has {len(groups)}"
            )
        for number, (mine, other) in enumerate(zip(groups, saved, strict=True)):
            if len(mine["params"]) != len(other["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of optimizer's group: "
                    f"group {number} has {len(other['params'])} parameters, the optimizer's {len(mine['params'])}"
                )
        numbers = chain.from_iterable(group["params"] for group in saved)
        parameters = dict(zip(numbers, chain.from_iterable(group["params"] for group in groups), strict=True))
        self.state = defaultdict(dict)
        for key, entries in state_dict["state"].items():
            parameter = parameters.get(key)
            if parameter is None:
                self.state[key] = deepcopy(entries)
            else:
                self.state[parameter] = {name: _fitting(name, value, parameter) for name, value in entries.items()}
        self.param_groups = [{**other, "params": mine["params"]} for mine, other in zip(groups, saved, strict=True)]
        training.returned("load_state_dict", self, _getframe(1))

    # Hooks

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> Any:
        """Call `hook(optimizer, args, kwargs)` before each step; it may return other arguments."""
        return _Handle(self._before, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> Any:
        """Call `hook(optimizer, args, kwargs)` after each step."""
        return _Handle(self._after, hook)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {number}")
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return "\n".join([*lines, ")"])


class _Handle:
    """A registered hook; `remove()` takes it back."""

    def __init__(self, hooks: list[Any], hook: Any) -> None:
        self._hooks = hooks
        self._hook = hook
        hooks.append(hook)

    def remove(self) -> None:
        if self._hook in self._hooks:
            self._hooks.remove(self._hook)


def _counted(step: Callable[..., Any]) -> Callable[..., Any]:
    """A `step` with hooks around it and a mark in the log after it, once however they call each other."""

    @functools.wraps(step)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self._stepping:
            return step(self, *args, **kwargs)
        for hook in self._before:
            answer = hook(self, args, kwargs)
            if answer is not None:
                args, kwargs = answer
        if (told := training.told()) is not None:
            told.began(self)
        self._stepping = True
        try:
            result = step(self, *args, **kwargs)
        finally:
            self._stepping = False
        for hook in self._after:
            hook(self, args, kwargs)
        self._steps += 1
        if (told := training.told()) is not None:
            told.ended(self)
        else:
            training_steps.end(self, training.gradient_norm)  # one that is left out counts
        return result

    return run


Optimizer.step = _counted(Optimizer.step)  # type: ignore[method-assign]


def _is_complex(value: Any) -> bool:
    return isinstance(value, Tensor) and value.array.dtype.kind == "c"


def _trainable(tensor: Any) -> Tensor:
    if not isinstance(tensor, Tensor):
        raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(tensor).__name__}")
    if tensor.node is not None:
        raise ValueError("can't optimize a non-leaf Tensor: a result has no grad to follow")
    tensor.is_trained = True  # the log shows it as a parameter
    return tensor


def _fitting(name: str, value: Any, parameter: Any) -> Any:
    """A loaded entry of a parameter's state, in the parameter's dtype; steps are counted in their own."""
    if not isinstance(value, Tensor):
        return deepcopy(value)
    if name != "step" and parameter.array.dtype.kind == "f" and value.array.dtype != parameter.array.dtype:
        return value.detach().to(parameter.array.dtype)
    return value.detach().clone()


AT_LEAST_0: Final = {
    "lr": "learning rate", "eps": "epsilon value", "weight_decay": "weight_decay value", "momentum": "momentum value",
    "momentum_decay": "momentum_decay value", "alpha": "alpha value", "lr_decay": "lr_decay value",
    "initial_accumulator_value": "initial_accumulator_value value",
}  # fmt: skip
"""Settings that may not be negative, and what messages call them."""


class DeclaredOptimizer(Declared, Optimizer):
    """An optimizer whose body declares its settings, the first of them the parameters."""

    params: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        settings = self.given(args, kwargs)
        params = settings.pop("params")
        self.check(settings)
        super().__init__(params, settings)

    def check(self, settings: dict[str, Any]) -> None:
        """Refuse settings that make no sense.

        Raises:
            ValueError: One is out of range.
        """
        for name, text in AT_LEAST_0.items():
            if name in settings and not settings[name] >= 0.0:
                raise ValueError(f"Invalid {text}: {settings[name]}; it must be >= 0")
        for place, beta in enumerate(settings.get("betas", ())):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {place}: {beta}; it must be >= 0 and < 1")
