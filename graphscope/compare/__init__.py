"""Where two runs part: two logs are aligned by the graph; the first difference is told with its lines on both sides.

`diff` does it; what it answers is a `Difference`. Who reads on: `comparison` is the order of the work.
"""

from graphscope.compare.baseline import Baseline, read_baseline, save_baseline
from graphscope.compare.comparison import diff
from graphscope.compare.departure import Departure, departure
from graphscope.compare.difference import Difference, Distance, Fact, Parting, Side
from graphscope.compare.exact import exact

__all__ = [
    "Baseline", "Departure", "Difference", "Distance", "Fact", "Parting", "Side", "departure", "diff", "exact",
    "read_baseline", "save_baseline",
]  # fmt: skip
