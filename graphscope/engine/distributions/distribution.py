"""What all distributions have in common: shapes, samples, and the check of what they are given."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from graphscope.engine.core.element_types import Size
from graphscope.engine.core.modes import no_grad
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.distributions.constraints import Constraint
from graphscope.engine.ops.exponential import exp
from graphscope.engine.ops.shape import broadcast_to


class Distribution:
    """A batch of distributions of the same kind. A subclass has tensors as parameters, and says what they must be.

    Args:
        batch_shape: How many there are.
        event_shape: The shape of one value.
        validate_args: Whether parameters and values are checked; None: as `set_default_validate_args` says.

    Raises:
        ValueError: A parameter is none.
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {}
    has_rsample: ClassVar[bool] = False
    """Whether gradients flow from samples to the parameters."""

    _validate_args: bool = True

    def __init__(self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None) -> None:
        self._batch_shape, self._event_shape = Size(tuple(batch_shape)), Size(tuple(event_shape))
        if validate_args is not None:
            self._validate_args = validate_args
        if not self._validate_args:
            return
        for name, constraint in self.arg_constraints.items():
            value = self.__dict__.get(name)
            if value is not None and not np.all(constraint.check(value).array):
                raise ValueError(
                    f"Expected parameter {name} (Tensor of shape {tuple(value.shape)}) of distribution {self!r} to "
                    f"satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
                )

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Say whether parameters and values are checked where nothing else is said."""
        Distribution._validate_args = bool(value)

    @property
    def support(self) -> Constraint | None:
        """What values are."""
        return None

    @property
    def batch_shape(self) -> Size:
        """How many distributions there are."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one value."""
        return self._event_shape

    @property
    def mean(self) -> Any:
        """The mean of values."""
        raise self._lacks("mean")

    @property
    def variance(self) -> Any:
        """Their variance."""
        raise self._lacks("variance")

    @property
    def mode(self) -> Any:
        """The likeliest value."""
        raise self._lacks("mode")

    @property
    def stddev(self) -> Any:
        """The root of the variance."""
        return self.variance.sqrt()

    def expand(self, batch_shape: Any) -> Self:
        """The same distributions, more often."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        shape = tuple(batch_shape)
        for name, constraint in self.arg_constraints.items():
            if self.__dict__.get(name) is not None:
                value = self.__dict__[name]
                event = tuple(value.shape)[len(value.shape) - constraint.event_dim :]
                made.__dict__[name] = broadcast_to(value, shape + event)
        made._batch_shape = Size(shape)
        return made

    def sample(self, sample_shape: Any = ()) -> Any:
        """Random values (sample_shape, batch_shape, event_shape), constants to the graph."""
        with no_grad():
            return self.rsample(sample_shape).detach()

    def sample_n(self, n: int) -> Any:
        """`n` samples."""
        return self.sample((n,))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Random values through which gradients flow to the parameters."""
        raise self._lacks("rsample")

    def log_prob(self, value: Any) -> Any:
        """Logarithm of the probability, or of its density, of values."""
        raise self._lacks("log_prob")

    def cdf(self, value: Any) -> Any:
        """The probability of values up to this."""
        raise self._lacks("cdf")

    def icdf(self, value: Any) -> Any:
        """Inverse of `cdf`."""
        raise self._lacks("icdf")

    def entropy(self) -> Any:
        """The mean of minus `log_prob`."""
        raise self._lacks("entropy")

    def enumerate_support(self, expand: bool = True) -> Any:
        """All values, in a dim in front."""
        raise self._lacks("enumerate_support")

    def perplexity(self) -> Any:
        """The exponential of the entropy."""
        return exp(self.entropy())

    def _extended_shape(self, sample_shape: Any = ()) -> tuple[int, ...]:
        return (*sample_shape, *self._batch_shape, *self._event_shape)

    def _check(self, value: Any) -> None:
        """See that values are ones of this distribution.

        Raises:
            ValueError: They are not.
        """
        if not self._validate_args:
            return
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")  # noqa: TRY004 - as PyTorch
        np.broadcast_shapes(tuple(value.shape), self._extended_shape())
        if self.support is not None and not np.all(self.support.check(value).array):
            raise ValueError(
                f"Expected value argument (Tensor of shape {tuple(value.shape)}) to be within the support "
                f"({self.support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def _lacks(self, what: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} has no {what} here")

    def __repr__(self) -> str:
        held = {name: self.__dict__[name] for name in self.arg_constraints if self.__dict__.get(name) is not None}
        parts = [
            f"{name}: {value if value.numel() == 1 else f'torch.Size({list(value.shape)})'}"
            for name, value in held.items()
        ]
        return f"{type(self).__name__}({', '.join(parts)})"


def together(*values: Any) -> tuple[Any, ...]:
    """Parameters as tensors of one shape; numbers become tensors."""
    dtype = next((value.dtype for value in values if isinstance(value, Tensor) and value.dtype.kind == "f"), np.float32)
    tensors = [value if isinstance(value, Tensor) else Tensor(np.dtype(dtype).type(value)) for value in values]
    shape = np.broadcast_shapes(*(tuple(tensor.shape) for tensor in tensors))
    return tuple(tensor if tuple(tensor.shape) == shape else broadcast_to(tensor, shape) for tensor in tensors)
