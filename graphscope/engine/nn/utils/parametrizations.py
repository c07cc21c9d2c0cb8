"""Parametrizations that networks use: weights of a given norm, of spectral norm 1, orthogonal ones."""

from __future__ import annotations

import math
from typing import Any, Final

from graphscope.engine.core.modes import no_grad
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.nn.convolution import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from graphscope.engine.nn.module import Module
from graphscope.engine.nn.utils.parametrize import register_parametrization
from graphscope.engine.ops.create import eye
from graphscope.engine.ops.distances import normalize
from graphscope.engine.ops.inverses import matrix_exp, solve
from graphscope.engine.ops.joining import cat
from graphscope.engine.ops.linalg import mv
from graphscope.engine.ops.randoms import randn
from graphscope.engine.ops.reflections import geqrf, householder_product

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


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
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

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
    return register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, rows, eps))


MAPS: Final = ("matrix_exp", "cayley", "householder")
"""Ways from any matrix to an orthogonal one."""


class _Orthogonal(Module):
    """A matrix with orthonormal columns, or rows if it is wide. Source: Lezcano-Casado, 2019."""

    def __init__(self, weight: Any, orthogonal_map: str, *, use_trivialization: bool = True) -> None:
        super().__init__()
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x: Any) -> Any:
        wide = x.shape[-2] < x.shape[-1]
        if wide:
            x = x.mT
        rows, columns = x.shape[-2:]
        if self.orthogonal_map == "householder":
            vectors = x.tril(-1)
            found = householder_product(vectors, 2.0 / (1.0 + (vectors * vectors).sum(-2)))
            found = found * x.diagonal(0, -2, -1).int().unsqueeze(-2)
        else:
            x = x.tril()
            if rows != columns:
                x = cat([x, x.new_zeros(*x.shape[:-1], rows - columns)], -1)
            skew = x - x.mT
            if self.orthogonal_map == "matrix_exp":
                found = matrix_exp(skew)
            else:
                unit = eye(rows, dtype=x.dtype)
                found = solve(unit - skew * 0.5, unit + skew * 0.5)
            found = found[..., :columns]
        if "base" in self._buffers:
            found = self.base @ found
        return found.mT if wide else found

    def right_inverse(self, value: Any) -> Any:
        if value.shape != self.shape:
            raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}, not {value.shape}.")
        wide = value.shape[-2] < value.shape[-1]
        tall = value.mT if wide else value
        rows, columns = tall.shape[-2:]
        if "base" not in self._buffers:
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                    "use_trivialization=False."
                )
            vectors, scales = geqrf(tall)
            signs = vectors.diagonal(0, -2, -1).sign()
            signs = signs * (1 - 2 * (scales == 0).to(signs.dtype))
            made = vectors.clone()
            made.diagonal(0, -2, -1).copy_(signs)
            return made.mT if wide else made
        if rows != columns:
            tall = cat([tall, randn(*tall.shape[:-1], rows - columns, dtype=tall.dtype)], -1)
        self.base = tall.clone() if rows == columns and _is_orthogonal(tall) else _orthonormal(tall)
        minus = eye(*value.shape[-2:], dtype=value.dtype) * -1.0
        return minus.expand(tuple(value.shape)).clone()


def _is_orthogonal(x: Any) -> bool:
    unit = eye(x.shape[-1], dtype=x.dtype)
    return bool(((x.mT @ x - unit).abs() < 10 * x.shape[-1] * _eps(x)).all())


def _eps(x: Any) -> float:
    return math.ldexp(1.0, -52 if x.dtype.itemsize == 8 else -23)


def _orthonormal(x: Any) -> Any:
    """The nearest thing to the columns that is orthonormal: the Q of QR with a positive R."""
    vectors, scales = geqrf(x)
    return householder_product(vectors, scales) * vectors.diagonal(0, -2, -1).sgn().unsqueeze(-2)


def orthogonal(
    module: Any, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Any:
    """Keep a weight orthogonal: its columns orthonormal, or its rows where there are fewer.

    Args:
        module: The module.
        name: The name of the weight: a matrix or a batch of matrices.
        orthogonal_map: `matrix_exp` (default of square ones), `cayley` or `householder` (default of others).
        use_trivialization: Whether it is the product with a fixed orthogonal matrix, which helps training.

    Returns:
        The module.

    Raises:
        ValueError: There is no such weight, it is no matrix, or there is no such map.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")  # noqa: TRY004 - as PyTorch
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        orthogonal_map = "matrix_exp" if weight.shape[-2] == weight.shape[-1] else "householder"
    if orthogonal_map not in MAPS:
        raise ValueError(f"orthogonal_map has to be one of {', '.join(MAPS)}. Got: {orthogonal_map}")
    made = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)
