"""How things look that widgets draw by themselves: each meaning with a style in words of the theme.

This is no part of the style sheet: Textual would match every meaning against every rule whenever a widget's classes,
focus or size change, which took a third of the time until the first picture.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from rich.style import Style
from textual.color import Color
from textual.widget import Widget

from graphscope.tui.guard import Guarded

STYLES: Final[dict[str, dict[str, str]]] = {
    "tape": {
        "op": "bold $forward",
        "leaf": "$leaf",
        "grad": "$backward",
        "forward": "$forward 70%",
        "backward": "$backward 80%",
        "rising": "$backward 45%",
        "rising-here": "bold reverse $backward",
        "number": "$faint",
        "current-mark": "bold $warning",
        "breakpoint": "bold $error",
        "label": "$foreground",
        "name": "$leaf",
        "shape": "$muted",
        "inputs": "$muted",
        "bar": "$forward",
        "bar-grad": "$backward",
        "flag": "bold $error",
        "future": "dim",
        "scope": "italic $secondary",
        "pass-mark": "bold $backward",
        "step-mark": "$warning",
        "other-mark": "$warning",
        "told": "$muted",
        "cursor": "on $cursor-row",
    },
    "source": {
        "number": "$faint",
        "count": "$secondary",
        "breakpoint": "bold $error",
        "current": "on $cursor-row",
        "current-mark": "bold $warning",
        "empty": "$muted",
    },
    "array": {
        "index": "$faint",
        "number": "$foreground",
        "negative": "$accent",
        "odd": "bold reverse $error",
        "zero": "$faint",
        "cursor": "reverse",
    },
    "map": {
        "forward": "$forward",
        "backward": "$backward",
        "leaf": "$leaf",
        "current": "bold $warning",
        "data": "$forward 60%",
        "gradient": "$backward 70%",
        "link": "$faint",
        "way": "$warning",
        "note": "$muted",
        "module": "bold $foreground",
        "fact": "$muted",
        "forward-here": "bold reverse $forward",
        "backward-here": "bold reverse $backward",
    },
    "timeline": {
        "label": "$muted",
        "forward": "$forward",
        "backward": "$backward",
        "mixed": "#a08ac8",
        "step": "$faint",
        "now": "bold $warning",
        "flag": "bold $error",
        "loss": "$secondary",
        "norm": "$backward",
        "memory": "$muted",
        "peak": "bold $warning",
    },
}
"""By the part of the screen: attributes, a colour, which a share lets the background shine through, `on` a colour."""


def style_of(words: str, variables: Mapping[str, str]) -> Style:
    """The style of an entry of the table in the colours of a theme."""
    attributes: list[str] = []
    colour = background = None
    above = False
    for word in words.split():
        if word == "on":
            above = True
        elif word[0] in "$#":
            found = Color.parse(variables[word[1:]] if word[0] == "$" else word)
            colour, background = (colour, found) if above else (found, background)
        elif word[-1] == "%" and colour is not None:
            colour = Color.parse(variables["background"]).blend(colour, float(word[:-1]) / 100, alpha=1.0)
        else:
            attributes.append(word)
    return Style.parse(" ".join(attributes)) + Style(
        color=colour.rich_color if colour is not None else None,
        bgcolor=background.rich_color if background is not None else None,
    )


class Drawn(Guarded, Widget):
    """A widget that draws its lines by itself; what it draws has meanings, and these have looks."""

    PART: ClassVar[str]
    """Its part of the table."""
    _styles_of: dict[str, Style]

    def look(self, meaning: str) -> Style:
        """The style of a meaning in the theme of now; to be laid over the widget's own."""
        known = self.__dict__.setdefault("_styles_of", {})
        found: Style | None = known.get(meaning)
        if found is None:
            found = known[meaning] = style_of(STYLES[self.PART][meaning], self.app.theme_variables)
        return found

    def notify_style_update(self) -> None:
        """Forget looks that another theme has made old."""
        super().notify_style_update()
        self.__dict__.pop("_styles_of", None)
