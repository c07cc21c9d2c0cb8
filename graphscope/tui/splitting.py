"""Two regions beside each other, or one above the other, whose border a mouse drags."""

from __future__ import annotations

from typing import Final

from textual import events
from textual.containers import Container
from textual.layouts.grid import GridLayout
from textual.layouts.horizontal import HorizontalLayout

from graphscope.tui.guard import Guarded

_LEAST: Final = 0.15


class Split(Guarded, Container):
    """Gives its first two regions the room that a person chose; until then, what the style sheet says."""

    _share: float | None = None
    """What of the room is the first region's."""

    @property
    def share(self) -> float | None:
        """What of the room a person has given to the first region."""
        return self._share

    def give(self, share: float) -> None:
        """Give the first region so much of the room."""
        self._share = max(_LEAST, min(share, 1 - _LEAST))
        self._place()

    def _pair_at(self, x: int, y: int) -> bool:
        """Whether a place is on the border between the first two regions that are seen."""
        shown = [each.region for each in self.displayed_children]
        if len(shown) < 2 or isinstance(self.layout, GridLayout):
            return False
        first, second = shown[:2]
        if isinstance(self.layout, HorizontalLayout):
            return x in (first.right - 1, second.x)
        return y in (first.bottom - 1, second.y)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take hold of the border."""
        if self._pair_at(event.screen_x, event.screen_y):
            event.stop()
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Let the border follow the mouse."""
        if self.app.mouse_captured is not self:
            return
        event.stop()
        region = self.region
        beside = isinstance(self.layout, HorizontalLayout)
        share = (
            (event.screen_x - region.x + 1) / region.width
            if beside
            else (event.screen_y - region.y + 1) / region.height
        )
        self.give(share)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Let go."""
        self.release_mouse()

    def on_resize(self) -> None:
        """Keep the shares; where the regions lie in another way, let the style sheet decide again."""
        self._place()

    def _place(self) -> None:
        for region in self.children:
            region.styles.width = region.styles.height = None
        shown = self.displayed_children[:2]
        if self._share is None or len(shown) < 2 or isinstance(self.layout, GridLayout):
            return
        for region, share in zip(shown, (self._share, 1 - self._share), strict=True):
            size = f"{share * 100:.1f}fr"
            if isinstance(self.layout, HorizontalLayout):
                region.styles.width = size
            else:
                region.styles.height = size
