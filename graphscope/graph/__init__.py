"""The graph that a log says: nodes, edges and gradients at a position in time, selectors, and views to draw."""

from __future__ import annotations

from graphscope.graph.gradients import Contribution
from graphscope.graph.graph import Graph
from graphscope.graph.node import Edge, Node

__all__ = ["Contribution", "Edge", "Graph", "Node"]
