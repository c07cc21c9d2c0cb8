"""Modules of devices that are not there, `torch.cuda` and others: what programs ask of them, answered honestly."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any, Final

from graphscope._version import __version__
from graphscope.engine import amp
from graphscope.engine.absent import answer_for
from graphscope.engine.amp import GradScaler as GradScaler


def is_available() -> bool:
    """False."""
    return False


def device_count() -> int:
    """0."""
    return 0


def manual_seed(seed: int) -> None:
    """Nothing: there are no random numbers but those of the CPU."""


def wait(device: Any = None) -> None:
    """Nothing: there is nobody to wait for, no cache to empty, no counter to reset."""


def memory(device: Any = None) -> int:
    """0 bytes."""
    return 0


def current_accelerator(check_available: bool = False) -> None:
    """None: there is no device but the CPU."""


def current_device() -> int:
    """There is none.

    Raises:
        RuntimeError: Always.
    """
    raise RuntimeError("there is no GPU here: ask cuda.is_available() first")


class autocast(amp.autocast):  # noqa: N801 - PyTorch's spelling
    """`amp.autocast` of a device that is not here: it changes nothing."""

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool | None = None) -> None:
        super().__init__("cuda", dtype, enabled, cache_enabled)


_DEVICE: Final[dict[str, object]] = {
    "is_available": is_available,
    "device_count": device_count,
    "manual_seed": manual_seed,
    "empty_cache": wait,
    "synchronize": wait,
}
MODULES: Final[dict[str, dict[str, object]]] = {
    "accelerator": {
        "is_available": is_available,
        "device_count": device_count,
        "current_accelerator": current_accelerator,
    },
    "backends": {
        "mps": SimpleNamespace(is_available=is_available, is_built=is_available),
        "cuda": SimpleNamespace(is_built=is_available, matmul=SimpleNamespace(allow_tf32=False)),
        "cudnn": SimpleNamespace(
            is_available=is_available,
            version=lambda: None,
            enabled=False,
            deterministic=True,
            benchmark=False,
            allow_tf32=False,
        ),
        "mkldnn": SimpleNamespace(is_available=is_available, enabled=False),
        "mkl": SimpleNamespace(is_available=is_available),
        "openmp": SimpleNamespace(is_available=is_available),
    },
    "cuda": {
        **_DEVICE,
        "is_initialized": is_available,
        "is_bf16_supported": is_available,
        "manual_seed_all": manual_seed,
        "memory_allocated": memory,
        "max_memory_allocated": memory,
        "memory_reserved": memory,
        "max_memory_reserved": memory,
        "reset_peak_memory_stats": wait,
        "current_device": current_device,
    },
    "cuda.amp": {"GradScaler": GradScaler, "autocast": autocast},
    "distributed": {"is_available": is_available, "is_initialized": is_available},
    "mps": _DEVICE,
    "version": {"__version__": __version__, "cuda": None, "hip": None, "debug": False},
    "xpu": _DEVICE,
}
"""Each module, and the names in it. Switches may be set, and nothing depends on them."""


def _make(name: str, names: dict[str, object]) -> ModuleType:
    """A module of the engine that has no file of its own, as `import` finds it."""
    made = ModuleType(f"graphscope.engine.{name}", f"What programs ask of `torch.{name}`, answered honestly.")
    made.__dict__.update(names, __all__=sorted(names), __path__=[], __spec__=ModuleSpec(made.__name__, None))
    sys.modules[made.__name__] = made
    parent, _, last = made.__name__.rpartition(".")
    setattr(sys.modules[parent], last, made)
    answer_for(made.__name__)
    return made


for _name, _names in MODULES.items():
    _make(_name, _names)
