"""What transforms of random values have in common, and those that are made of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphscope.engine.distributions import constraints
from graphscope.engine.distributions.constraints import Constraint
from graphscope.engine.ops.like_others import zeros_like


def sum_last(x: Any, count: int) -> Any:
    """Sums over the last `count` dims."""
    return x.sum(tuple(range(-count, 0))) if count else x


class Transform:
    """A function with an inverse. A subclass gives `_call`, `_inverse` and `log_abs_det_jacobian`.

    Attributes:
        domain: What it takes.
        codomain: What it gives.
        bijective: Whether different values give different results.
        sign: 1 where it grows, -1 where it falls.

    Args:
        cache_size: 1: the inverse of the last result is the value that it came from, exactly.

    Raises:
        ValueError: `cache_size` is neither 0 nor 1.
    """

    domain: Constraint = constraints.real
    codomain: Constraint = constraints.real
    bijective: bool = True
    sign: Any = 1

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._last: tuple[Any, Any] = (None, None)

    @property
    def event_dim(self) -> int:
        """Over how many dims of a value it works as a whole."""
        return self.domain.event_dim

    @property
    def inv(self) -> Transform:
        """The inverse."""
        return _Inverse(self)

    def with_cache(self, cache_size: int = 1) -> Transform:
        """The same, with another `cache_size`."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, _cache_size=cache_size, _last=(None, None))
        return made

    def __call__(self, x: Any) -> Any:
        if self._cache_size and x is self._last[0]:
            return self._last[1]
        y = self._call(x)
        if self._cache_size:
            self._last = (x, y)
        return y

    def undone(self, y: Any) -> Any:
        """The value that has this result."""
        if self._cache_size and y is self._last[1]:
            return self._last[0]
        x = self._inverse(y)
        if self._cache_size:
            self._last = (x, y)
        return x

    def _call(self, x: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no forward here")

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no inverse here")

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """By how much it stretches space at x, where its result is y, as a logarithm; for each event."""
        raise NotImplementedError(f"{type(self).__name__} has no density here")

    def forward_shape(self, shape: Any) -> tuple[int, ...]:
        """The shape of results of values of a shape."""
        return tuple(shape)

    def inverse_shape(self, shape: Any) -> tuple[int, ...]:
        """The shape of values whose results are of a shape."""
        return tuple(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _Inverse(Transform):
    """The inverse of another."""

    def __init__(self, of: Transform) -> None:
        super().__init__()
        self._of = of
        self.domain, self.codomain = of.codomain, of.domain
        self.bijective, self.sign = of.bijective, of.sign

    @property
    def inv(self) -> Transform:
        return self._of

    def _call(self, x: Any) -> Any:
        return self._of.undone(x)

    def _inverse(self, y: Any) -> Any:
        return self._of(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -self._of.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> tuple[int, ...]:
        return self._of.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> tuple[int, ...]:
        return self._of.forward_shape(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._of!r})"


class IndependentTransform(Transform):
    """Another transform, of which the last `reinterpreted_batch_ndims` dims belong to one value."""

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.base_transform, self.reinterpreted_batch_ndims = base_transform, reinterpreted_batch_ndims
        self.domain = constraints.independent(base_transform.domain, reinterpreted_batch_ndims)
        self.codomain = constraints.independent(base_transform.codomain, reinterpreted_batch_ndims)
        self.bijective, self.sign = base_transform.bijective, base_transform.sign

    def _call(self, x: Any) -> Any:
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        return self.base_transform.undone(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return sum_last(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Any) -> tuple[int, ...]:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> tuple[int, ...]:
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class ComposeTransform(Transform):
    """One transform after the other."""

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = list(parts)
        before = after = 0
        for part in reversed(self.parts):  # how many dims a value has, seen from behind
            before = max(before + part.domain.event_dim - part.codomain.event_dim, part.domain.event_dim)
        for part in self.parts:
            after = max(after + part.codomain.event_dim - part.domain.event_dim, part.codomain.event_dim)
        if self.parts:
            first, last = self.parts[0].domain, self.parts[-1].codomain
            self.domain = constraints.independent(first, before - first.event_dim)
            self.codomain = constraints.independent(last, after - last.event_dim)
        self.bijective = all(part.bijective for part in self.parts)
        for part in self.parts:
            self.sign = self.sign * part.sign

    def _call(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y: Any) -> Any:
        for part in reversed(self.parts):
            y = part.undone(y)
        return y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        if not self.parts:
            return zeros_like(x)
        total: Any = 0.0
        dims = self.domain.event_dim
        for number, part in enumerate(self.parts):
            result = y if number == len(self.parts) - 1 else part(x)
            total = total + sum_last(part.log_abs_det_jacobian(x, result), dims - part.domain.event_dim)
            dims += part.codomain.event_dim - part.domain.event_dim
            x = result
        return total

    def forward_shape(self, shape: Any) -> tuple[int, ...]:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return tuple(shape)

    def inverse_shape(self, shape: Any) -> tuple[int, ...]:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return tuple(shape)

    def __repr__(self) -> str:
        return "ComposeTransform(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


identity_transform = ComposeTransform([])
