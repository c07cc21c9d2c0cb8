"""What can be copied of where one stands: each with a key, in words, and as the text that goes to the clipboard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.debugger.result_lines import lines_of_finding
from graphscope.tui.scene import title

if TYPE_CHECKING:
    from graphscope.diagnose import Finding
    from graphscope.tui.scene import Scene

_MOST: Final = 10_000
"""So many numbers are copied; of a larger array its ends, as NumPy prints them."""
_SHOWN: Final = 44


class Offer(NamedTuple):
    """Something that can be copied."""

    key: str
    what: str
    text: str

    @property
    def words(self) -> str:
        """What it is and how it begins, in a line."""
        first, *others = self.text.splitlines() or [""]
        return f"{self.what}: {first[:_SHOWN]}{'...' if others or len(first) > _SHOWN else ''}"


def offers(scene: Scene, finding: Finding | None, cell: np.generic | None, answer: str = "") -> Iterator[Offer]:
    """What can be copied.

    Args:
        scene: Where one stands.
        finding: The finding that is told, if one is.
        cell: The number under the cursor, if the cursor is in a table of numbers.
        answer: What was said at the prompt last.
    """
    if cell is not None:
        yield Offer("c", "number under the cursor", str(cell.item()))
    if finding is not None:
        yield Offer("f", "finding", "\n".join(line.text for line in lines_of_finding(finding)))
    if answer:
        yield Offer("a", "newest answer", answer)
    node = scene.node
    if node is None:
        return
    yield Offer("n", "node", f"#{node.row} {title(node)}")
    if node.name:
        yield Offer("m", "name", node.name)
    for key, what, array in (("v", "value", node.value), ("g", "gradient", node.grad)):
        if array is not None:
            yield Offer(key, what, written(np.asarray(array)))
    site = node.site
    if site is not None:
        yield Offer("p", "path and line", f"{site.file}:{site.line}")
        if node.source_line:
            yield Offer("l", "line of source", node.source_line)


def written(array: np.ndarray) -> str:
    """An array as Python reads it: a number, or lists of numbers; of a large one what NumPy prints."""
    return repr(array.tolist()) if array.size <= _MOST else np.array_repr(array)
