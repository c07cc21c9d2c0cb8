"""The parts of a node: what its op computes on the way to its result, from its recorded inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from graphscope.graph import Node


@dataclass(frozen=True, slots=True)
class Part:
    """One value that a composite op computes on its way."""

    label: str
    """What it is: `variance`, `scores`."""
    value: np.ndarray
    constants: Mapping[str, Any] = field(default_factory=dict)
    """The constants of the call that came in at this part: `{"eps": 1e-05}`."""


def expand(node: Node) -> tuple[Part, ...] | None:
    """What a composite op computes on its way, in order; the last part is its result.

    None where the op is no composite one, where its inputs were not kept, or where what is computed here is not
    what was recorded.
    """
    return None
