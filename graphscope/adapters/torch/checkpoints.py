"""Checkpoints: what is computed again in the backward pass lies in a scope `recompute` of the module that it is of."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

from graphscope.adapters.kit.call_scopes import within
from graphscope.adapters.torch.context import Context
from graphscope.adapters.torch.session import Session


class Checkpoints:
    """Follows `torch.utils.checkpoint`, of both kinds."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def entries(self) -> Iterator[tuple[Any, str, Any]]:
        """What is to be replaced: the owner, the name, and what takes the place."""
        library = sys.modules.get("torch.utils.checkpoint")
        frame = getattr(library, "_CheckpointFrame", None)
        if frame is not None:
            yield frame, "__init__", self._remembering(frame.__init__)
        function = getattr(library, "CheckpointFunction", None)
        if function is not None:
            yield function, "backward", staticmethod(self._again(function.backward, None))

    def _remembering(self, original: Callable[..., None]) -> Callable[..., None]:
        """The frame of a checkpoint, which holds what is to be run again."""

        @functools.wraps(original)
        def init(frame: Any, recompute_fn: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
            if not self.session.ended:
                recompute_fn = self._again(recompute_fn, self.session.places.here.context)
            original(frame, recompute_fn, *args, **kwargs)

        return init

    def _again(self, function: Callable[..., Any], context: Context | None) -> Callable[..., Any]:
        """A function that computes again, in the scope of the module that computed first."""

        @functools.wraps(function)
        def again(*args: Any, **kwargs: Any) -> Any:
            session = self.session
            place = session.places.here
            if session.ended or place.busy:
                return function(*args, **kwargs)
            outer = place.context
            with within(place, self._scope(context or outer, outer), session.writer):
                return function(*args, **kwargs)

        return again

    def _scope(self, first: Context, outer: Context) -> Context:
        """The scope of what is computed again: of this thread, which need not be the one that computed first."""
        path = first.path.child("recompute", "checkpoint")
        inner = outer.inner.get(id(path))
        if inner is None or inner.path is not path:
            inner = outer.inner[id(path)] = Context(path, backward=True).marked(self.session.writer)
            inner.module = first.module
        return inner
