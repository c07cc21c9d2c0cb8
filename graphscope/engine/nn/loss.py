"""Losses as modules: between predictions and targets, and with margins between what belongs together and not."""

from __future__ import annotations

import warnings
from types import MappingProxyType
from typing import Any

from graphscope.engine.core.settings import KW_ONLY
from graphscope.engine.nn import functional
from graphscope.engine.nn.function_module import FunctionModule


def _reduction(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """The reduction, also as old programs ask for it."""
    if size_average is None and reduce is None:
        return reduction
    meant = "none" if reduce is False else "sum" if size_average is False else "mean"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{meant}' instead.", stacklevel=5
    )
    return meant


class _Loss(FunctionModule):
    """A loss. Weights of classes or elements are buffers, which move with the module."""

    shown = ()
    passed = MappingProxyType({"size_average": "", "reduce": ""})

    def settled(self, settings: dict[str, Any]) -> dict[str, Any]:
        old = (settings.pop("size_average", None), settings.pop("reduce", None))
        for name in ("weight", "pos_weight"):
            if name in settings:
                self.register_buffer(name, settings.pop(name))
        return {**settings, "reduction": _reduction(*old, settings["reduction"])}


class _PlainLoss(_Loss):
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


class _WeightedLoss(_Loss):
    weight: Any = None
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


class L1Loss(_PlainLoss):
    """The mean absolute difference."""

    function = functional.l1_loss


class MSELoss(_PlainLoss):
    """The mean squared difference."""

    function = functional.mse_loss


class SmoothL1Loss(_PlainLoss):
    """The squared difference where it is below beta, the absolute one elsewhere."""

    function = functional.smooth_l1_loss
    beta: float = 1.0


class HuberLoss(_Loss):
    """`SmoothL1Loss` scaled by delta."""

    function = functional.huber_loss
    reduction: str = "mean"
    delta: float = 1.0


class NLLLoss(_Loss):
    """The negative logarithm of the probability of each sample's class, from logarithms of probabilities."""

    function = functional.nll_loss
    weight: Any = None
    size_average: bool | None = None
    ignore_index: int = -100
    reduce: bool | None = None
    reduction: str = "mean"


class CrossEntropyLoss(NLLLoss):
    """The cross-entropy between logits and class numbers, or probabilities."""

    function = functional.cross_entropy
    label_smoothing: float = 0.0


class BCELoss(_WeightedLoss):
    """The cross-entropy between probabilities and targets of 0 to 1."""

    function = functional.binary_cross_entropy


class BCEWithLogitsLoss(_WeightedLoss):
    """The cross-entropy between sigmoids of logits and targets of 0 to 1, computed without overflow."""

    function = functional.binary_cross_entropy_with_logits
    pos_weight: Any = None


class KLDivLoss(_PlainLoss):
    """The Kullback-Leibler divergence from the input, which is logarithms, to the target."""

    function = functional.kl_div
    log_target: bool = False


class GaussianNLLLoss(_Loss):
    """The negative logarithm of the likelihood of numbers around a mean with a variance."""

    function = functional.gaussian_nll_loss
    _: KW_ONLY
    full: bool = False
    eps: float = 1e-6
    reduction: str = "mean"


class _MarginLoss(_Loss):
    margin: float = 0.0
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


class CosineEmbeddingLoss(_MarginLoss):
    """How far two vectors fail to point the same way (target 1), or differently (target -1)."""

    function = functional.cosine_embedding_loss


class TripletMarginLoss(_Loss):
    """How far an anchor fails to be nearer to its like than to another, by a margin."""

    function = functional.triplet_margin_loss
    margin: float = 1.0
    p: float = 2.0
    eps: float = 1e-6
    swap: bool = False
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


class CTCLoss(_Loss):
    """Connectionist temporal classification: all alignments of a target with a longer input."""

    function = functional.ctc_loss
    blank: int = 0
    reduction: str = "mean"
    zero_infinity: bool = False
