"""Mixed precision, as programs ask for it: what is computed here keeps the precision that it has."""

from __future__ import annotations

import contextlib
from typing import Any, Self

import numpy as np

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.core.modes import no_grad
from graphscope.engine.core.tensor import Tensor

__all__ = ["GradScaler", "autocast"]


class autocast(contextlib.ContextDecorator):  # noqa: N801 - PyTorch's spelling
    """Accepted and of no effect: ops compute in the dtype of their operands, which is no less exact.

    Args:
        device_type: The kind of device.
        dtype: The dtype that PyTorch would compute in.
        enabled: Whether it would.
        cache_enabled: Whether it would keep the converted weights.
    """

    def __init__(
        self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        self.device, self.fast_dtype, self.enabled = device_type, dtype, enabled

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class GradScaler:
    """Scales a loss so that small gradients survive half precision; a step with gradients that overflow is left out.

    Args:
        device: The kind of device; for one that is not here it does nothing, as in PyTorch.
        init_scale: The first factor.
        growth_factor: What the factor is multiplied by after `growth_interval` steps that went well.
        backoff_factor: What it is multiplied by after one that did not.
        growth_interval: See `growth_factor`.
        enabled: Whether it does anything.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._enabled = enabled and device == "cpu"
        self._scale, self._grown = init_scale, 0
        self._growth_factor, self._backoff_factor, self._growth_interval = (
            growth_factor,
            backoff_factor,
            growth_interval,
        )
        self._unscaled: dict[int, bool] = {}
        """Of each optimizer whose gradients were unscaled since the last `update`, whether all are finite."""

    def is_enabled(self) -> bool:
        """Whether it does anything."""
        return self._enabled

    def get_scale(self) -> float:
        """The factor."""
        return self._scale if self._enabled else 1.0

    def scale(self, outputs: Any) -> Any:
        """A tensor, or several, times the factor."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * self._scale
        return type(outputs)(self.scale(each) for each in outputs)

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer's parameters by the factor, to clip them before the step.

        Raises:
            RuntimeError: They were already, since the last `update`.
        """
        if not self._enabled:
            return
        if id(optimizer) in self._unscaled:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        gradients = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        with no_grad():
            for gradient in gradients:
                gradient.mul_(1 / self._scale)
        self._unscaled[id(optimizer)] = all(np.isfinite(gradient.array).all() for gradient in gradients)

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """`optimizer.step()`, if all gradients are finite."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if id(optimizer) not in self._unscaled:
            self.unscale_(optimizer)
        return optimizer.step(*args, **kwargs) if self._unscaled[id(optimizer)] else None

    def update(self, new_scale: Any = None) -> None:
        """Find the next factor, at the end of a step; or set it."""
        if not self._enabled:
            return
        if new_scale is not None:
            self._scale = float(new_scale)
        elif not all(self._unscaled.values()):
            self._scale, self._grown = self._scale * self._backoff_factor, 0
        else:
            self._grown += 1
            if self._grown == self._growth_interval:
                self._scale, self._grown = self._scale * self._growth_factor, 0
        self._unscaled.clear()

    def state_dict(self) -> dict[str, Any]:
        """What `load_state_dict` takes back."""
        if not self._enabled:
            return {}
        return {
            "scale": self._scale,
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._grown,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a state."""
        if self._enabled:
            self._scale, self._grown = state_dict["scale"], state_dict["_growth_tracker"]
            self._growth_factor, self._backoff_factor, self._growth_interval = (
                state_dict[name] for name in ("growth_factor", "backoff_factor", "growth_interval")
            )


_answer_for(__name__)
