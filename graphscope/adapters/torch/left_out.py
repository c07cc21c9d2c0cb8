"""What is seen of the training steps that are left out: what each begins its backward passes from."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from graphscope.adapters.kit.patches import Patches
from graphscope.adapters.torch import compiled
from graphscope.adapters.torch.loss_scales import scale_of
from graphscope.adapters.torch.recorder_errors import guarded
from graphscope.adapters.torch.session import Session


class Losses:
    """Looks at the roots of backward passes, as the engine of torch is given them, and at nothing else.

    Args:
        session: The recording.
        entries: Where the entry of the engine is found: modules, and the name in each.
    """

    def __init__(self, session: Session, entries: Iterable[tuple[Any, str]]) -> None:
        self.session = session
        self._sampling = session.writer.sampling
        self._entries = tuple(entries)
        self._patches = Patches("PyTorch")

    def begin(self) -> None:
        """Look from now on."""
        for module, name in self._entries:
            self._patches.replace(module, name, self.noting(getattr(module, name)))

    def end(self) -> None:
        """Look no more."""
        self._patches.remove()

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
        root = roots[0]
        # To wait for another device would hold the program up.
        if len(roots) == 1 and root.is_cpu and root.numel() == 1 and not root.is_complex():
            self._sampling.note_loss(root.item() / scale_of(root, self._sampling.scales))
