"""RULES: what rounding may make of the result of each op, in two runs of it.

An error that comes in is multiplied by the derivative of the op (its condition: Higham, Accuracy and Stability of
Numerical Algorithms, 2nd ed., sections 1.6 and 3.1); then come the roundings of the op itself.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from graphscope.compare.error_rules import elements, norms, sums
from graphscope.compare.error_rules.sizes import Rule

_CONVERSIONS: Final = ("to", "type", "type_as", "float", "half", "bfloat16", "double")
_MOVES: Final = (
    "view", "reshape", "transpose", "permute", "t", "T", "mT", "swapaxes", "movedim", "contiguous", "clone", "detach",
    "alias", "squeeze", "unsqueeze", "flatten", "unflatten", "expand", "expand_as", "view_as", "reshape_as", "repeat",
    "repeat_interleave", "tile", "cat", "concat", "stack", "hstack", "vstack", "split", "chunk", "unbind", "getitem",
    "select", "narrow", "index_select", "gather", "take", "take_along_dim", "embedding", "flip", "roll", "tril", "triu",
    "pad", "relu", "relu6", "hardtanh", "clamp", "clip", "abs", "neg", "max", "min", "amax", "amin", "maximum",
    "minimum", "where", "masked_fill", "max_pool1d", "max_pool2d", "max_pool3d", "unfold", "diagonal", "cpu", "cuda",
    "broadcast_to", "identity", "leaky_relu", "sort", "topk", "pixel_shuffle", "set", "setitem", "copy",
    "requires_grad", "masked_select", "index_copy", "scatter", "data", "ravel", "adaptive_max_pool2d", "einops",
)  # fmt: skip
_SMOOTH: Final = ("sigmoid", "tanh", "sin", "cos", "erf", "softsign", "hardswish", "hardsigmoid", "logsigmoid", "atan")
_GATED: Final = ("gelu", "silu", "mish", "softplus", "elu", "selu", "celu", "prelu")
_SUMS: Final = ("sum", "nansum", "trace", "add_n", "norm", "linalg_norm", "linalg_vector_norm", "logsumexp")
_MEANS: Final = ("mean", "nanmean", "avg_pool1d", "avg_pool2d", "adaptive_avg_pool1d", "adaptive_avg_pool2d")
_LOSSES: Final = (
    "cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "kl_div", "gaussian_nll_loss", "poisson_nll_loss", "cosine_embedding_loss",
)  # fmt: skip
_OPTIMIZERS: Final = (
    "SGD", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "Adagrad", "Adadelta", "Rprop", "ASGD", "SparseAdam",
    "Adafactor", "Muon", "LBFGS", "Lion",
)  # fmt: skip

_times = elements.elementwise(lambda x, y, out: y, lambda x, y, out: x)
_over = elements.elementwise(lambda x, y, out: 1 / y, lambda x, y, out: out / y)
_power = elements.elementwise(lambda x, y, out: y * out / x, lambda x, y, out: out * np.log(np.abs(x)), units=8)

RULES: Final[dict[str, Rule]] = {
    **dict.fromkeys(_MOVES, elements.moved),
    **dict.fromkeys(_CONVERSIONS, elements.converted),
    **dict.fromkeys(("empty", "empty_like", "empty_strided", "new_empty"), elements.arbitrary),
    **dict.fromkeys(("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout"), elements.dropped),
    **dict.fromkeys(_SMOOTH, elements.elementwise(lambda x, out: 1.0, own=lambda x, out: 4.0)),
    **dict.fromkeys(_GATED, elements.elementwise(lambda x, out: 2.0, own=lambda x, out: 8 * np.abs(x), units=8)),
    **dict.fromkeys(("add", "sub", "rsub", "subtract"), elements.added),
    **dict.fromkeys(("mul", "multiply"), _times),
    **dict.fromkeys(("div", "true_divide", "divide", "truediv"), _over),
    **dict.fromkeys(("exp", "exp2"), elements.elementwise(lambda x, out: out, own=lambda x, out: 2 * out)),
    "expm1": elements.elementwise(lambda x, out: out + 1),
    **dict.fromkeys(("log", "log2", "log10"), elements.elementwise(lambda x, out: 1.5 / x, own=lambda x, out: 4.0)),
    "log1p": elements.elementwise(lambda x, out: 1 / (1 + x)),
    "sqrt": elements.elementwise(lambda x, out: 0.5 / out),
    "rsqrt": elements.elementwise(lambda x, out: 0.5 * out / x),
    "reciprocal": elements.elementwise(lambda x, out: out * out),
    "square": elements.elementwise(lambda x, out: 2 * x),
    "pow": _power,
    **dict.fromkeys(_SUMS, sums.total),
    **dict.fromkeys(_MEANS, sums.average),
    **dict.fromkeys(("cumsum", "logcumsumexp"), sums.running),
    **dict.fromkeys(("var", "std"), sums.deviating),
    **dict.fromkeys(("matmul", "mm", "bmm", "mv", "dot", "inner"), sums.product(0, 1)),
    **dict.fromkeys(("addmm", "addmv", "baddbmm"), sums.product(1, 2, 0)),
    "linear": sums.product(0, 1, 2, transposed=True),
    "einsum": sums.contraction,
    **dict.fromkeys(("conv1d", "conv2d", "conv3d"), sums.convolution),
    "layer_norm": norms.normalised(norms.last_axes),
    "rms_norm": norms.normalised(norms.last_axes, centred=False),
    "batch_norm": norms.normalised(lambda call, value: (0, *range(2, value.ndim)), 3),
    "instance_norm": norms.normalised(lambda call, value: tuple(range(2, value.ndim)), 3),
    "group_norm": norms.normalised(lambda call, value: (2,)),
    "softmax": norms.softmax,
    "log_softmax": norms.log_softmax,
    "scaled_dot_product_attention": norms.attention,
    **dict.fromkeys(_LOSSES, sums.loss),
    **dict.fromkeys(_OPTIMIZERS, elements.updated),
}
