"""A log as an outline: sections over its rows, one within another; screens, console and exporters read the same."""

from graphscope.graph.outline.kinds import KINDS, SECTION, SectionKind
from graphscope.graph.outline.outline import Outline, outline
from graphscope.graph.outline.steps import Steps, steps
from graphscope.graph.outline.stretches import Stretch

__all__ = ["KINDS", "SECTION", "Outline", "SectionKind", "Steps", "Stretch", "outline", "steps"]
