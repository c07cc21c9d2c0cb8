"""Adapters: they let a recording see what a framework computes, as soon as the program has imported that framework."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, Protocol, cast, runtime_checkable

import numpy as np

from graphscope.adapters.installed import brought
from graphscope.errors import GraphscopeError, StaticError
from graphscope.eventlog import record as recording
from graphscope.eventlog.garbage import unsearched
from graphscope.eventlog.interruptions import forgiving
from graphscope.eventlog.notices import say
from graphscope.eventlog.reader import load
from graphscope.eventlog.schema import NODES, Kind
from graphscope.eventlog.writer import Writer

if TYPE_CHECKING:
    from graphscope.adapters.kit.executor import Executor

ADAPTERS: Final[dict[str, str]] = {
    "equinox": "graphscope.adapters.jax.equinox_updates",
    "jax": "graphscope.adapters.jax",
    "keras": "graphscope.adapters.keras",
    "optax": "graphscope.adapters.jax.optax_updates",
    "tensorflow": "graphscope.adapters.tensorflow",
    "torch": "graphscope.adapters.torch",
}
"""The module that serves a framework, by the framework's own name; packages add theirs by `graphscope.adapters`."""

EXECUTORS: Final[dict[str, str]] = {"PyTorch": "graphscope.adapters.torch.executor"}
"""The module that runs again what a log records of a framework (`kit.executor`), by the name that people give that."""

FRAMEWORKS: Final[dict[str, str]] = {
    "aesara": "Aesara",
    "autograd": "autograd",
    "chainer": "Chainer",
    "cupy": "CuPy",
    "equinox": "Equinox",
    "jax": "JAX",
    "jittor": "Jittor",
    "keras": "Keras",
    "micrograd": "micrograd",
    "mindspore": "MindSpore",
    "mlx": "MLX",
    "mxnet": "MXNet",
    "mygrad": "MyGrad",
    "oneflow": "OneFlow",
    "paddle": "PaddlePaddle",
    "pytensor": "PyTensor",
    "tensorflow": "TensorFlow",
    "theano": "Theano",
    "tinygrad": "tinygrad",
    "torch": "PyTorch",
}
"""What frameworks are called, by their modules; what they compute is seen where there is an adapter."""


class Adapter(Protocol):
    """What such a module has to offer."""

    def attach(self, writer: Writer) -> bool | None:
        """Write what the framework computes from now on to a log; False: this version of it can't be recorded."""

    def detach(self) -> None:
        """Write no more, and leave the framework as it was."""


@runtime_checkable
class Pausing(Protocol):
    """What it offers besides where it can leave out training steps; see `graphscope.adapters.kit.training_steps`."""

    def suspend(self) -> None:
        """Write nothing, and leave the framework as it was, until `resume`."""

    def resume(self) -> None:
        """Write what the framework computes again."""


def attach(writer: Writer) -> None:
    """Let every framework that is loaded, and every one that will be, write to a log. `detach` ends it."""
    global _writer
    _writer = writer
    for framework, module in brought():
        ADAPTERS.setdefault(framework, module)
    for framework in ADAPTERS:
        loaded = sys.modules.get(framework)
        if loaded is not None and is_framework(loaded.__spec__):
            _begin(framework, writer)
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


def detach() -> None:
    """Let the frameworks be; what they compute is recorded no more."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
    while _attached:
        _attached.popitem()[1].detach()


def suspend() -> None:
    """Let the frameworks run as they are until `resume`."""
    for adapter in _attached.values():
        if isinstance(adapter, Pausing):
            adapter.suspend()


def resume() -> None:
    """Write again what frameworks compute, in this process as it is now."""
    for adapter in _attached.values():
        if isinstance(adapter, Pausing):
            adapter.resume()


def renew(writer: Writer) -> None:
    """Let the frameworks that can leave out steps write to a log that keeps other values from here on."""
    for adapter in _attached.values():
        if isinstance(adapter, Pausing):
            adapter.detach()
            adapter.attach(writer)
            adapter.suspend()  # and below the modes of the program, as at a step that is recorded again
            adapter.resume()


def executor(framework: str) -> Executor:
    """What runs the recorded calls of a framework again.

    Raises:
        StaticError: Nothing does, or the framework is not installed.
    """
    if framework not in EXECUTORS:
        raise StaticError(f"what was recorded of {framework or 'this program'} can't run again")
    try:
        return cast("Executor", import_module(EXECUTORS[framework]))
    except ImportError as error:
        raise StaticError(
            f"{framework} recorded this and is not installed here ({error})", hint=f"install {framework}, and ask again"
        ) from error


def account(writer: Writer) -> str:
    """What to say when a recording ends: of steps and frameworks that were not seen, or where it tells of no node."""
    kinds = _kinds(writer)
    is_barren = kinds is not None and not np.isin(kinds, NODES).any()
    if writer.sampling.every > 1 and not writer.sampling.ended and not is_barren:
        return "all was recorded: no optimizer made a step, and gs.step() told of none"
    loaded = [name for name in FRAMEWORKS if is_framework(getattr(sys.modules.get(name), "__spec__", None))]
    missed = [FRAMEWORKS[name] for name in loaded if name not in ADAPTERS]
    if missed:
        return f"what the program computed with {_listed(missed)} was not seen; calls of {_seen()} are"
    if not is_barren or (kinds is not None and Kind.EXCEPTION in kinds):  # that ended it, and is in the log
        return ""
    if not _refused.isdisjoint(loaded):
        return ""  # it was said why
    used = [FRAMEWORKS[name] for name in loaded if name in ADAPTERS]
    if used:
        return f"nothing was recorded: of {_listed(used)} no call was seen that makes a node"
    return f"nothing was recorded: what is seen are calls of {_seen()}, and none of these was used"


def _seen() -> str:
    return _listed([FRAMEWORKS.get(name, name) for name in ("graphscope", *ADAPTERS)])


def _listed(words: Sequence[str]) -> str:
    """Words as a sentence has them: `a, b and c`."""
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


_FEW: Final = 4096
"""Of longer logs nobody asks whether they have no node."""


def _kinds(writer: Writer) -> np.ndarray | None:
    """The kinds of the rows of a short log; None of a longer one, or of one that can't be read."""
    if writer.end - writer.base <= _FEW:
        with forgiving(GraphscopeError, OSError):
            return load(writer.path).column("kind")
    return None


def is_framework(spec: ModuleSpec | None) -> bool:
    """Whether a module is the framework itself, and not our engine that answers in its name."""
    return spec is not None and spec.loader is not None and not type(spec.loader).__module__.startswith("graphscope.")


_attached: dict[str, Adapter] = {}
_refused: Final[set[str]] = set()
"""Frameworks of versions that can't be recorded, which was said."""
_writer: Writer | None = None
"""The recording that frameworks write to, or are about to."""


def _begin(framework: str, writer: Writer) -> None:
    if framework not in _attached:
        with unsearched():
            adapter = cast(Adapter, import_module(ADAPTERS[framework]))
            if adapter.attach(writer) is False:
                _refused.add(framework)
        _attached[framework] = adapter


class _Finder:  # a finder by what it does: its base class would cost an import
    """Attaches an adapter when its framework was imported in the middle of a recording."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in ADAPTERS:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(fullname, path, target)
            if spec is not None:
                if is_framework(spec):
                    _watch(fullname, spec.loader)
                return spec
        return None


def _watch(framework: str, loader: Any) -> None:
    """Attach when this loader has run the framework's module."""
    run = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        del loader.exec_module
        run(module)
        writer = recording.going()
        if writer is not None:
            _begin(framework, writer)
            if writer is recording.suspended:
                suspend()

    loader.exec_module = exec_module


_finder: Final = _Finder()


_told: Final[set[str]] = set()
"""What was said in this process already."""


def _ended() -> None:
    global _writer
    if recording.writer is not None:  # an older recording is put away in the middle of a newer one
        return
    detach()
    ended, _writer = _writer, None
    text = "" if ended is None else account(ended)
    if text and text not in _told:
        _told.add(text)
        say(text)


recording.at_stop.append(_ended)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=detach)
