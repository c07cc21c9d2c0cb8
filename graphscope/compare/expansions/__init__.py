"""What a composite op computes on its way: a table of ops, in NumPy alone.

for part in expand(node) or ():
    part.label, part.value, part.constants
"""

from __future__ import annotations

from graphscope.compare.expansions.expansion import ahead_of_dropout, expand
from graphscope.compare.expansions.part import Part

__all__ = ["Part", "ahead_of_dropout", "expand"]
