"""Leaves with hooks of the program, which may put others in the place of the gradients that arrive."""

from __future__ import annotations

import weakref
from types import FrameType
from typing import TYPE_CHECKING, Final

import torch

from graphscope.adapters.torch import compiled, tensor_base
from graphscope.adapters.torch.standing_gradients import tell_gradient

if TYPE_CHECKING:
    from graphscope.adapters.torch.session import Session

OP: Final = ("hooked_grad", "What the gradient of a leaf is when the hooks of the program have run.")
"""The op of such a row, and what it does."""


class HookedLeaves:
    """Those that are known, and what their gradients are behind each backward pass."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.references: list[weakref.ref[torch.Tensor]] = []
        """Compiled code asks whether there are any."""

    def note(self, tensor: torch.Tensor) -> None:
        """A tensor has a hook."""
        if tensor_base.is_leaf(tensor) and not self.holds(tensor):
            self.references.append(compiled.Reference(tensor))

    def holds(self, tensor: torch.Tensor) -> bool:
        """Whether the program may change the gradients that arrive at a tensor."""
        return any(each() is tensor for each in self.references)

    def passed(self, first: int, frame: FrameType) -> None:
        """A backward pass has ended, whose rows begin at `first`: append what the gradients are that it added to."""
        if not self.references:
            return
        session = self._session
        held = [(reference, reference()) for reference in self.references]
        live = [(reference, tensor) for reference, tensor in held if tensor is not None and tensor_base.is_leaf(tensor)]
        self.references[:] = [reference for reference, _ in live]
        for _, tensor in live:
            known, gradient = session.identities.find(tensor), tensor_base.gradient(tensor)
            if gradient is not None and known is not None and known.extended().accumulated >= first:
                tell_gradient(session, known, gradient, OP, {}, frame)
