"""What differs about two calls: constants and attributes, with the defaults of what was not said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from graphscope.compare.difference import Fact
from graphscope.eventlog.typed import Input, spelled

if TYPE_CHECKING:
    from graphscope.graph import Node

DEFAULTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "layer_norm": {"eps": 1e-05},
    "group_norm": {"eps": 1e-05},
    "batch_norm": {"eps": 1e-05, "momentum": 0.1, "training": False},
    "instance_norm": {"eps": 1e-05},
    "rms_norm": {"eps": None},
    "gelu": {"approximate": "none"},
    "softmax": {"dim": None},
    "dropout": {"p": 0.5, "training": True},
    "leaky_relu": {"negative_slope": 0.01},
    "elu": {"alpha": 1.0},
    "cross_entropy": {"reduction": "mean", "label_smoothing": 0.0, "ignore_index": -100, "weight": None},
    "nll_loss": {"reduction": "mean", "ignore_index": -100, "weight": None},
    "mse_loss": {"reduction": "mean"},
    "l1_loss": {"reduction": "mean"},
    "smooth_l1_loss": {"reduction": "mean", "beta": 1.0},
    "huber_loss": {"reduction": "mean", "delta": 1.0},
    "binary_cross_entropy": {"reduction": "mean"},
    "binary_cross_entropy_with_logits": {"reduction": "mean"},
    "kl_div": {"reduction": "mean", "log_target": False},
    "interpolate": {"mode": "nearest", "align_corners": None, "scale_factor": None, "size": None},
    "grid_sample": {"mode": "bilinear", "padding_mode": "zeros", "align_corners": None},
    "scaled_dot_product_attention": {"attn_mask": None, "dropout_p": 0.0, "is_causal": False, "scale": None},
    "embedding": {"padding_idx": None, "max_norm": None, "scale_grad_by_freq": False},
    "conv1d": {"bias": None, "stride": 1, "padding": 0, "dilation": 1, "groups": 1},
    "conv2d": {"bias": None, "stride": 1, "padding": 0, "dilation": 1, "groups": 1},
    "linear": {"bias": None},
    "var": {"correction": 1, "unbiased": True, "keepdim": False},
    "std": {"correction": 1, "unbiased": True, "keepdim": False},
    "sum": {"dim": None, "keepdim": False},
    "mean": {"dim": None, "keepdim": False},
    "normalize": {"p": 2.0, "dim": 1, "eps": 1e-12},
    "avg_pool2d": {"stride": None, "padding": 0, "ceil_mode": False, "count_include_pad": True},
    "max_pool2d": {"stride": None, "padding": 0, "dilation": 1, "ceil_mode": False},
}
"""What functions take where the call does not say."""


def told(node: Node) -> dict[str, str]:
    """What a call was given beside its inputs, by name, as people write it; an input is `·`."""
    given = node.arguments
    inputs = node.graph.log.op(node.event.op).inputs
    found: dict[str, str] = {}
    for place, operand in enumerate(given.operands or ()):
        name = inputs[place] if place < len(inputs) else f"argument {place + 1}"
        found[name] = _spelled(operand)
    for name, value in given.attributes.items():
        if not name.startswith("_"):
            found[name] = _spelled(value)
    return found


def _spelled(value: Any) -> str:
    return "·" if isinstance(value, Input) else spelled(value, lambda _: "·")


def facts(a: Node, b: Node) -> tuple[Fact, ...]:
    """What two calls were told differently."""
    one, other = told(a), told(b)
    found: list[Fact] = []
    if a.op == b.op:
        defaults = DEFAULTS.get(a.op, {})
        for name in dict.fromkeys([*one, *other]):
            texts = [each.get(name, _spelled(defaults[name]) if name in defaults else "") for each in (one, other)]
            if texts[0] != texts[1]:
                found.append(Fact(name, *texts))
    else:
        found.append(Fact("op", a.op, b.op))
        shared = [name for name in one if name in other and one[name] != other[name]]
        found += [Fact(name, one[name], other[name]) for name in shared]
    if a.dtype != b.dtype:
        found.append(Fact("dtype", a.dtype, b.dtype))
    if a.shape != b.shape:
        found.append(Fact("shape", str(tuple(a.shape)), str(tuple(b.shape))))
    return tuple(found)
