"""Parametrizations that networks use: weights of a length that is trained apart, and of spectral norm 1."""

from __future__ import annotations

from typing import Any

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.core.modes import no_grad
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.nn.convolution import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from graphscope.engine.nn.module import Module
from graphscope.engine.nn.utils.parametrize import compute_by
from graphscope.engine.ops.distances import normalize
from graphscope.engine.ops.linalg import mv
from graphscope.engine.ops.randoms import randn

__all__ = ["spectral_norm", "weight_norm"]


def norm_except(weight: Any, dim: int) -> Any:
    """Norms over all dims but one, which are kept as 1; with `dim` -1 the norm of all elements."""
    if dim == -1:
        return weight.norm()
    return weight.norm(2, tuple(place for place in range(weight.ndim) if place != dim), keepdim=True)


def as_matrix(weight: Any, dim: int) -> Any:
    """A weight with one dim as rows and all others as columns."""
    return weight.movedim(dim, 0).flatten(1)


def rows_of(module: Any) -> int:
    """The dim of a module's weight that its outputs are."""
    return 1 if isinstance(module, ConvTranspose1d | ConvTranspose2d | ConvTranspose3d) else 0


class _WeightNorm(Module):
    """A weight as a direction and a length: w = g · v / ‖v‖. Source: Salimans and Kingma, 2016."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        return weight_v * (weight_g / norm_except(weight_v, self.dim))

    def right_inverse(self, weight: Any) -> tuple[Any, Any]:
        return norm_except(weight, self.dim), weight


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Train the length and the direction of a weight apart, as `original0` and `original1`.

    Args:
        module: The module.
        name: The name of the weight.
        dim: The dim that has a length for each of its places; None: one length in all.

    Returns:
        The module.
    """
    compute_by(_WeightNorm(dim), module, name)

    def rename(_: Any, state_dict: dict[str, Any], prefix: str, *__: Any) -> None:
        """Take what the older `nn.utils.weight_norm` saved."""
        old = [f"{prefix}{name}_g", f"{prefix}{name}_v"]
        if all(key in state_dict for key in old):
            for number, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{name}.original{number}"] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
    """A weight over its largest singular value, which power iteration follows. Source: Miyato and others, 2018."""

    def __init__(self, weight: Any, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim, self.eps = dim % ndim, eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = as_matrix(weight.detach(), self.dim)
            for buffer, size in zip(("_u", "_v"), matrix.shape, strict=True):
                self.register_buffer(buffer, normalize(randn(size, dtype=weight.dtype), dim=0, eps=eps))
            self._iterate(matrix, 15)

    _u: Any
    _v: Any

    def _iterate(self, matrix: Any, times: int) -> None:
        with no_grad():
            for _ in range(times):
                self._u = normalize(mv(matrix, self._v), dim=0, eps=self.eps)
                self._v = normalize(mv(matrix.mT, self._u), dim=0, eps=self.eps)

    def forward(self, weight: Any) -> Any:
        if weight.ndim == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._iterate(matrix, self.n_power_iterations)
        return weight / self._u.dot(mv(matrix, self._v))

    def right_inverse(self, value: Any) -> Any:
        return value


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Divide a weight by its largest singular value whenever it is read.

    Args:
        module: The module.
        name: The name of the weight.
        n_power_iterations: How often the singular vectors are brought up to date, while training, at each reading.
        eps: Keeps from dividing by 0.
        dim: The dim that is taken as rows; None: that of the outputs.

    Returns:
        The module.

    Raises:
        ValueError: There is no such weight.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")  # noqa: TRY004 - as PyTorch
    rows = rows_of(module) if dim is None else dim
    return compute_by(_SpectralNorm(weight, n_power_iterations, rows, eps), module, name)


_answer_for(__name__)
