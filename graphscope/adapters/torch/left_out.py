"""What is seen of the training steps that are left out: what each begins its backward passes from."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import torch

from graphscope.adapters.kit.patches import Patches
from graphscope.adapters.torch import compiled
from graphscope.adapters.torch.loss_scales import factor_of, scale_of
from graphscope.adapters.torch.recorder_errors import guarded
from graphscope.adapters.torch.remote_numbers import RemoteNumbers
from graphscope.adapters.torch.session import Session
from graphscope.adapters.torch.tensor_elements import is_gone, is_remote
from graphscope.eventlog import awaited
from graphscope.eventlog.interruptions import forgiving
from graphscope.eventlog.late_numbers import LateNumber


class Losses:
    """Looks at the roots of backward passes, as the engine of torch is given them, and at nothing else.

    What lies on a CUDA device comes later: the end of the next step is told of it, or who reads the log meanwhile. What
    lies on other accelerators is not known.

    Args:
        session: The recording.
        entries: Where the entry of the engine is found: modules, and the name in each.
    """

    def __init__(self, session: Session, entries: Iterable[tuple[Any, str]]) -> None:
        self.session = session
        self._sampling = session.writer.sampling
        self._entries = tuple(entries)
        self._patches = Patches("PyTorch")
        self._remote: RemoteNumbers | None = None
        self._sampling.late.number_of = self._rate

    def begin(self) -> None:
        """Look from now on."""
        self._sampling.late.is_elsewhere |= self.session.remote  # until it is seen that they do not
        for module, name in self._entries:
            self._patches.replace(module, name, self.noting(getattr(module, name)))

    def end(self) -> None:
        """Look no more."""
        self._patches.remove()

    def close(self) -> None:
        """The recording ends: what is on its way is waited for."""
        if self._remote is not None:
            awaited.fetching.remove(self._fetch)
            with forgiving(Exception):  # of a log that is broken already
                self._fetch()
            self._remote.end()

    def noting(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """The entry, before which the roots are looked at."""
        if compiled.noting is not None:
            found: Callable[..., Any] = compiled.noting(original, self._look, self._sampling)
            return found

        @functools.wraps(original)
        def _engine_run_backward(roots: Any, *args: Any, **kwargs: Any) -> Any:
            if self._sampling.idle <= 1:
                self._look(roots)
            return original(roots, *args, **kwargs)

        return _engine_run_backward

    @guarded
    def _look(self, roots: Any) -> None:
        root, scales = roots[0], self._sampling.scales
        if not isinstance(root, torch.Tensor):  # an edge of the graph
            return
        if is_remote(root):
            self._sampling.note_late_loss(self._number(root, factor_of(root, scales)) if len(roots) == 1 else None)
        elif len(roots) == 1 and root.is_cpu and root.numel() == 1 and not root.is_complex() and not is_gone(root):
            self._sampling.note_loss(root.item() / scale_of(root, scales))

    def _rate(self, rate: Any) -> LateNumber | float:
        """A learning rate; NaN of one that can't be had without a wait."""
        if isinstance(rate, torch.Tensor) and is_remote(rate):
            return self._number(rate) or float("nan")
        return float(rate)

    def _number(self, tensor: torch.Tensor, divisor: torch.Tensor | None = None) -> LateNumber | None:
        if self._remote is None:
            self._remote = RemoteNumbers()
            awaited.fetching.append(self._fetch)
        return self._remote.number(tensor, divisor)

    def _fetch(self) -> None:
        writer = self.session.writer
        if writer.series is not None:
            self._sampling.late.fetch(writer.series)
