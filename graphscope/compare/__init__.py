"""Where two runs part: two logs are aligned by the graph; the first difference is told with its lines on both sides.

`diff` does it; what it answers is a `Difference`. Who reads on: `comparison` is the order of the work.
"""

from graphscope.compare.comparison import diff
from graphscope.compare.difference import Difference, Distance, Fact, Parting, Side

__all__ = ["Difference", "Distance", "Fact", "Parting", "Side", "diff"]
