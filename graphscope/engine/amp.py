"""Mixed precision, as programs ask for it: what is computed here keeps the precision that it has."""

from __future__ import annotations

import contextlib
from typing import Any, Self

from graphscope.engine.absent import answer_for as _answer_for

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
    """Accepted and of no effect, as PyTorch's is for a device that is not there: small gradients survive unscaled."""

    def __init__(self, *device_and_scale: Any, **settings: Any) -> None:
        pass

    def is_enabled(self) -> bool:
        """False: it does nothing."""
        return False

    def get_scale(self) -> float:
        """1, the factor."""
        return 1.0

    def scale(self, outputs: Any) -> Any:
        """What it is given."""
        return outputs

    def unscale_(self, optimizer: Any) -> None:
        """Nothing: gradients are not scaled."""

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """`optimizer.step()`."""
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """Nothing: the factor stays 1."""

    def state_dict(self) -> dict[str, Any]:
        """Nothing, in a dict."""
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Nothing is taken back."""


_answer_for(__name__)
