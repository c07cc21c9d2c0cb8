"""What functions of PyTorch call their arguments, and what they take where a call does not say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

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

_NUMBER: Final = ("input", "number")
_REDUCED: Final = ("input", "dim", "keepdim")

PARAMETERS: Final[Mapping[str, Sequence[str]]] = {
    **dict.fromkeys(("add", "sub", "mul", "div", "floor_divide", "remainder", "pow", "maximum", "minimum"), _NUMBER),
    **dict.fromkeys(
        ("sum", "mean", "amax", "amin", "prod", "max", "min", "argmax", "logsumexp", "all", "any"), _REDUCED
    ),
    **dict.fromkeys(
        ("softmax", "log_softmax", "cumsum", "cumprod", "unbind", "squeeze", "unsqueeze"), ("input", "dim")
    ),
    "getitem": ("input", "index"),
    "transpose": ("input", "dim0", "dim1"),
    "flatten": ("input", "start_dim", "end_dim"),
    "permute": ("input", "dims"),
    "reshape": ("input", "shape"),
    "view": ("input", "shape"),
    "cat": ("tensors", "dim"),
    "stack": ("tensors", "dim"),
    "chunk": ("input", "chunks", "dim"),
    "split": ("input", "sizes", "dim"),
    "clamp": ("input", "min", "max"),
    "tril": ("input", "diagonal"),
    "triu": ("input", "diagonal"),
    "roll": ("input", "shifts", "dims"),
    "flip": ("input", "dims"),
    "gather": ("input", "dim", "index"),
    "masked_fill": ("input", "mask", "value"),
    "where": ("condition", "input", "other"),
    "dropout": ("input", "p", "training"),
    "max_pool2d": ("input", "kernel_size", "stride", "padding"),
    "avg_pool2d": ("input", "kernel_size", "stride", "padding"),
    "conv1d": ("input", "weight", "bias", "stride", "padding", "dilation", "groups"),
    "conv2d": ("input", "weight", "bias", "stride", "padding", "dilation", "groups"),
    "batch_norm": ("input", "running_mean", "running_var", "weight", "bias", "training", "momentum", "eps"),
    "layer_norm": ("input", "normalized_shape", "weight", "bias", "eps"),
}
"""What functions call their arguments, where a log does not say it."""
