"""Views to draw, and passes that make a view simpler: each takes a view and returns another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from graphscope.graph.passes.cut import neighbourhood, slice_to
from graphscope.graph.passes.leaves import beside_users, split_shared_leaves, without_unused_data
from graphscope.graph.passes.readable import readable
from graphscope.graph.passes.repeats import fold_repeats
from graphscope.graph.passes.scopes import fold_scopes
from graphscope.graph.passes.sums import join_rules, join_sums
from graphscope.graph.passes.updates import ends_of_updates, update_boxes
from graphscope.graph.passes.whole import whole
from graphscope.graph.view import GraphView

__all__ = [
    "FOLDS",
    "beside_users",
    "ends_of_updates",
    "fold_repeats",
    "fold_scopes",
    "join_rules",
    "join_sums",
    "neighbourhood",
    "readable",
    "slice_to",
    "split_shared_leaves",
    "update_boxes",
    "whole",
    "without_unused_data",
]

FOLDS: Final[dict[str, Callable[[GraphView], GraphView]]] = {
    "none": lambda view: view,
    "scopes": fold_scopes,
    "repeats": fold_repeats,
}
"""The folds that a person can ask for by name."""
