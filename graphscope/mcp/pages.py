"""Parts of long answers: so much is told at once, with how much there is and where the next part begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

LONGEST: Final = 500
"""So many items are told at once at most, whatever was asked for."""

LONGEST_TEXT: Final = 20_000
"""So many characters of a text are told at once at most."""

_Item = TypeVar("_Item")


def page(
    items: Sequence[_Item], offset: int, limit: int, data: Callable[[_Item], Any] = lambda item: item
) -> dict[str, Any]:
    """Some items of many as data: `items`, how many there are (`total`), and the `offset` of those that follow.

    `next_offset` is None behind the last.
    """
    begin = max(offset, 0)
    end = begin + max(1, min(limit, LONGEST))
    told = [data(item) for item in items[begin:end]]
    return {"items": told, "total": len(items), "next_offset": end if end < len(items) else None}


def cut(text: str, most: int = LONGEST_TEXT) -> str:
    """A text, of a longer one its two ends with how much is left out between."""
    if len(text) <= most:
        return text
    return f"{text[: most // 2]}\n... {len(text) - most:,} characters are left out ...\n{text[-(most // 2) :]}"
