"""Normalization by statistics that are followed from batch to batch: batch norm and instance norm."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np

from graphscope.engine.core import dtypes
from graphscope.engine.core.modes import no_grad
from graphscope.engine.core.settings import KW_ONLY, Declared
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.nn import functional
from graphscope.engine.nn.module import Module
from graphscope.engine.nn.normalization import add_affine, reset_affine
from graphscope.engine.nn.parameter import overwrite


class _Norm(Declared, Module):
    """Running statistics, a weight and a bias, one number for each channel."""

    _version = 2
    ranks: ClassVar[tuple[int, ...]]
    """How many dims the input may have."""

    num_features: int
    eps: float = 1e-5
    momentum: float | None = 0.1
    affine: bool = True
    track_running_stats: bool = True
    device: Any = None
    dtype: Any = None
    _: KW_ONLY
    bias: Any = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        settings = self.given(args, kwargs)
        bias, dtype, _ = (settings.pop(name) for name in ("bias", "dtype", "device"))
        for name, value in settings.items():
            setattr(self, name, value)
        add_affine(self, (self.num_features,), self.affine, bias, dtype)
        numbers = np.zeros(self.num_features, dtype or dtypes.get_default_dtype())
        tracked = self.track_running_stats
        self.register_buffer("running_mean", Tensor(numbers) if tracked else None)
        self.register_buffer("running_var", Tensor(numbers.copy()) if tracked else None)
        self.register_buffer("num_batches_tracked", Tensor(np.int64(0)) if tracked else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget the statistics."""
        if self.track_running_stats:
            overwrite(self.running_mean, 0)
            overwrite(self.running_var, 1)
            overwrite(self.num_batches_tracked, 0)

    def reset_parameters(self) -> None:
        """Forget the statistics; scale by 1 and shift by 0 again."""
        self.reset_running_stats()
        reset_affine(self)

    def _check_input_dim(self, input: Any) -> None:
        if input.ndim not in self.ranks:
            expected = " or ".join(f"{rank}D" for rank in self.ranks)
            raise ValueError(f"expected {expected} input (got {input.ndim}D input)")

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any) -> None:
        key = prefix + "num_batches_tracked"
        if local_metadata.get("version", 1) < 2 and self.track_running_stats and key not in state_dict:
            state_dict[key] = self.num_batches_tracked  # state dicts of old have none
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class _BatchNorm(_Norm):
    def forward(self, input: Any) -> Any:
        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            with no_grad():
                self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the plain mean of all batches
                factor = 1.0 / float(self.num_batches_tracked)
        used = not self.training or self.track_running_stats
        return functional.batch_norm(
            input,
            self.running_mean if used else None,
            self.running_var if used else None,
            self.weight,
            self.bias,
            self.training or (self.running_mean is None and self.running_var is None),
            factor,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    """Each channel of (N, C) or (N, C, L) brought to mean 0 and variance 1 over the batch."""

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Each channel of (N, C, H, W) brought to mean 0 and variance 1 over the batch."""

    ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """Each channel of (N, C, D, H, W) brought to mean 0 and variance 1 over the batch."""

    ranks = (5,)


class _InstanceNorm(_Norm):
    affine: bool = False
    track_running_stats: bool = False

    def forward(self, input: Any) -> Any:
        self._check_input_dim(input)
        alone = input.ndim == self.ranks[0]
        dim = 0 if alone else 1
        if input.shape[dim] != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={dim} to match num_features ({self.num_features}), "
                    f"but got: {input.shape[dim]}."
                )
            warnings.warn(
                f"input's size at dim={dim} does not match num_features. You can silence this warning by not passing "
                "in num_features, which is not used because affine=False",
                stacklevel=2,
            )
        return self._normalized(input.unsqueeze(0)).squeeze(0) if alone else self._normalized(input)

    def _normalized(self, input: Any) -> Any:
        return functional.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )


class InstanceNorm1d(_InstanceNorm):
    """Each channel of each sample of (N, C, L) brought to mean 0 and variance 1."""

    ranks = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Each channel of each sample of (N, C, H, W) brought to mean 0 and variance 1."""

    ranks = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Each channel of each sample of (N, C, D, H, W) brought to mean 0 and variance 1."""

    ranks = (4, 5)
