"""Distances between vectors as modules."""

from __future__ import annotations

from graphscope.engine.nn import functional
from graphscope.engine.nn.function_module import FunctionModule


class CosineSimilarity(FunctionModule):
    """The cosine of the angle between vectors along a dim."""

    function = functional.cosine_similarity
    shown = ()
    dim: int = 1
    eps: float = 1e-8


class PairwiseDistance(FunctionModule):
    """The p-norm of differences along the last dim."""

    function = functional.pairwise_distance
    shown = ()
    p: float = 2.0
    eps: float = 1e-6
    keepdim: bool = False

    @property
    def norm(self) -> float:
        """PyTorch's name of `p`."""
        return self.p
