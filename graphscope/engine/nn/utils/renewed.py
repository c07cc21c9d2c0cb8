"""Weights made anew by a hook before each call of their module: the older `weight_norm` and `spectral_norm`."""

from __future__ import annotations

import warnings
from typing import Any

from graphscope.engine.core.modes import no_grad
from graphscope.engine.nn.parameter import Parameter
from graphscope.engine.nn.utils.parametrizations import as_matrix, norm_except, rows_of
from graphscope.engine.ops.distances import normalize
from graphscope.engine.ops.linalg import mv
from graphscope.engine.ops.randoms import randn


class _Renewed:
    """A hook that makes the weight `name` of a module from what it holds in its place."""

    kind: str

    def __init__(self, module: Any, name: str) -> None:
        self.name = name
        if any(isinstance(hook, type(self)) and hook.name == name for hook in _hooks(module).values()):
            raise RuntimeError(f"Cannot register two {self.kind} hooks on the same parameter {name}")

    def weight(self, module: Any) -> Any:
        """The weight, made of what the module holds."""
        raise NotImplementedError

    def parts(self) -> tuple[str, ...]:
        """What the module holds in its place."""
        raise NotImplementedError

    def __call__(self, module: Any, _: Any) -> None:
        object.__setattr__(module, self.name, self.weight(module))

    def install(self, module: Any) -> None:
        """Make the weight from now on."""
        self(module, ())
        module.register_forward_pre_hook(self)

    def remove(self, module: Any) -> None:
        """Leave the weight as it is now, as a parameter."""
        with no_grad():
            weight = self.weight(module)
        for part in (*self.parts(), self.name):
            delattr(module, part)
        module.register_parameter(self.name, Parameter(weight.detach()))


def _hooks(module: Any) -> dict[int, Any]:
    own = module.__dict__.get("_module_hooks")
    return {} if own is None else {number: entry[0] for number, entry in own.before.items()}


def _removed(module: Any, kind: type[_Renewed], name: str) -> Any:
    for number, hook in _hooks(module).items():
        if isinstance(hook, kind) and hook.name == name:
            hook.remove(module)
            del module._module_hooks.before[number]
            return module
    raise ValueError(f"{kind.kind} of '{name}' not found in {module}")


class WeightNorm(_Renewed):
    """The weight as a direction `name_v` and lengths `name_g`."""

    kind = "weight_norm"

    def __init__(self, module: Any, name: str, dim: int | None) -> None:
        super().__init__(module, name)
        self.dim = -1 if dim is None else dim
        weight = getattr(module, name)
        delattr(module, name)
        module.register_parameter(f"{name}_g", Parameter(norm_except(weight.detach(), self.dim)))
        module.register_parameter(f"{name}_v", Parameter(weight.detach()))

    def weight(self, module: Any) -> Any:
        """The direction, as long as the length says."""
        length, direction = (getattr(module, part) for part in self.parts())
        return direction * (length / norm_except(direction, self.dim))

    def parts(self) -> tuple[str, ...]:
        """The names of both."""
        return (f"{self.name}_g", f"{self.name}_v")


class SpectralNorm(_Renewed):
    """The weight `name_orig`, divided by its largest singular value; `name_u` and `name_v` are its vectors."""

    kind = "spectral_norm"

    def __init__(self, module: Any, name: str, n_power_iterations: int, eps: float, dim: int) -> None:
        super().__init__(module, name)
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.times, self.eps, self.dim = n_power_iterations, eps, dim
        weight = getattr(module, name)
        delattr(module, name)
        module.register_parameter(f"{name}_orig", weight)
        for letter, size in zip("uv", as_matrix(weight.detach(), dim).shape, strict=True):
            module.register_buffer(f"{name}_{letter}", normalize(randn(size, dtype=weight.dtype), dim=0, eps=eps))
        object.__setattr__(module, name, weight.detach())

    def install(self, module: Any) -> None:
        """Make the weight from the next call on."""
        module.register_forward_pre_hook(self)

    def weight(self, module: Any) -> Any:
        """The weight over the singular value that the vectors tell; they are brought up to date while training."""
        weight, u, v = (getattr(module, part) for part in self.parts())
        matrix = as_matrix(weight, self.dim)
        if module.training:
            with no_grad():
                for _ in range(self.times):
                    v.copy_(normalize(mv(matrix.mT, u), dim=0, eps=self.eps))
                    u.copy_(normalize(mv(matrix, v), dim=0, eps=self.eps))
            u, v = u.clone(), v.clone()
        return weight / u.dot(mv(matrix, v))

    def remove(self, module: Any) -> None:
        """Leave the weight as it is now; the vectors stay as they are."""
        training, module.training = module.training, False
        super().remove(module)
        module.training = training

    def parts(self) -> tuple[str, ...]:
        """The names of the weight and its vectors."""
        return (f"{self.name}_orig", f"{self.name}_u", f"{self.name}_v")


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Train the lengths `weight_g` and the direction `weight_v` of a weight apart.

    Args:
        module: The module.
        name: The name of the weight.
        dim: The dim that has a length for each of its places; None: one length in all.

    Returns:
        The module.
    """
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    WeightNorm(module, name, dim).install(module)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Take `weight_norm` back; the weight stays as it is.

    Raises:
        ValueError: It has none.
    """
    return _removed(module, WeightNorm, name)


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Divide a weight by its largest singular value before each call.

    Args:
        module: The module.
        name: The name of the weight.
        n_power_iterations: How often the singular vectors are brought up to date at each call while training.
        eps: Keeps from dividing by 0.
        dim: The dim that is taken as rows; None: that of the outputs.

    Returns:
        The module.
    """
    SpectralNorm(module, name, n_power_iterations, eps, rows_of(module) if dim is None else dim).install(module)
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Take `spectral_norm` back; the weight stays as it is.

    Raises:
        ValueError: It has none.
    """
    return _removed(module, SpectralNorm, name)
