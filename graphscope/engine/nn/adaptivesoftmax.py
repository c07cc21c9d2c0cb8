"""A classifier of very many classes: the frequent ones at once, the others by way of the cluster they are in."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from graphscope.engine.nn import functional
from graphscope.engine.nn.container import ModuleList, Sequential
from graphscope.engine.nn.linear import Linear
from graphscope.engine.nn.module import Module
from graphscope.engine.ops.joining import cat


class Classified(NamedTuple):
    """The log probability of each target, and their negative mean."""

    output: Any
    loss: Any


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log probabilities of classes that are sorted by how frequent they are. Source: Grave and others, 2017.

    Args:
        in_features: The size of an input.
        n_classes: How many classes there are.
        cutoffs: Where each cluster but the first begins.
        div_value: How much smaller each cluster's inner size is than the one before.
        head_bias: Whether the first layer has a bias.
        device: There is one, the CPU.
        dtype: That of the parameters.

    Raises:
        ValueError: The cutoffs are not increasing numbers from 1 to n_classes - 1.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if cutoffs != sorted(set(cutoffs)) or cutoffs[0] <= 0 or cutoffs[-1] > n_classes - 1:
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                "value is between 1 and n_classes-1"
            )
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = cutoffs[0], len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, dtype=dtype)
        self.tail = ModuleList()
        for number, (begin, end) in enumerate(pairwise(self.cutoffs), 1):
            inner = int(in_features // div_value**number)
            self.tail.append(
                Sequential(
                    Linear(in_features, inner, bias=False, dtype=dtype),
                    Linear(inner, end - begin, bias=False, dtype=dtype),
                )
            )

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        for layer in (self.head, *(layer for cluster in self.tail for layer in cluster)):
            layer.reset_parameters()

    def forward(self, input_: Any, target_: Any) -> Classified:
        """The log probability of each target, of which each cluster computes those that it holds."""
        if target_.ndim > 1 or input_.ndim != target_.ndim + 1 or input_.shape[:-1] != target_.shape:
            raise RuntimeError(
                f"inputs (samples, features) and one target for each do not fit: {tuple(input_.shape)} and "
                f"{tuple(target_.shape)}"
            )
        single = target_.ndim == 0
        input, target = (input_.unsqueeze(0), target_.unsqueeze(0)) if single else (input_, target_)
        if bool(((target < 0) | (target >= self.n_classes)).any()):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range [{target.min().item()}, "
                f"{target.max().item()}] were found. "
            )
        output, places = input.new_zeros(len(target)), target.clone()
        for number, (begin, end) in enumerate(pairwise(self.cutoffs)):
            rows = ((target >= begin) & (target < end)).nonzero().squeeze(1)
            if rows.numel():
                places[rows] = self.shortlist_size + number
                local = functional.log_softmax(self.tail[number](input.index_select(0, rows)), 1)
                found = local.gather(1, (target[rows] - begin).unsqueeze(1)).squeeze(1)
                output = output.index_add(0, rows, found)
        head = functional.log_softmax(self.head(input), 1)
        output = output + head.gather(1, places.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return Classified(output.squeeze(0) if single else output, loss)

    def log_prob(self, input: Any) -> Any:
        """The log probabilities of all classes, (samples, n_classes)."""
        head = functional.log_softmax(self.head(input), 1)
        parts = [head[:, : self.shortlist_size]]
        for number, cluster in enumerate(self.tail):
            place = self.shortlist_size + number
            parts.append(functional.log_softmax(cluster(input), 1) + head[:, place : place + 1])
        return cat(parts, 1)

    def predict(self, input: Any) -> Any:
        """The likeliest class of each sample; clusters that no sample is in are not computed."""
        out = self.head(input).argmax(1)
        rows = (out >= self.shortlist_size).nonzero().squeeze(1)
        if rows.numel():
            out[rows] = self.log_prob(input[rows]).argmax(1)
        return out
