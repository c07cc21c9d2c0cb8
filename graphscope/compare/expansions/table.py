"""EXPANSIONS: what each composite op computes on its way. Parameters bear the names that PyTorch gives them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from graphscope.compare.expansions import activations, attention, losses, norms, products, recurrent
from graphscope.compare.expansions.part import Parts

EXPANSIONS: Final[dict[str, Callable[..., Parts]]] = {
    "addbmm": products.addbmm,
    "addcdiv": products.addcdiv,
    "addcmul": products.addcmul,
    "addmm": products.addmm,
    "addmv": products.addmm,
    "baddbmm": products.addmm,
    "batch_norm": norms.batch_norm,
    "binary_cross_entropy": losses.binary_cross_entropy,
    "binary_cross_entropy_with_logits": losses.binary_cross_entropy_with_logits,
    "conv1d": products.conv,
    "conv2d": products.conv,
    "conv3d": products.conv,
    "cosine_similarity": norms.cosine_similarity,
    "cross_entropy": losses.cross_entropy,
    "einsum": products.einsum,
    "embedding": products.embedding,
    "gelu": activations.gelu,
    "glu": activations.glu,
    "group_norm": norms.group_norm,
    "gru": recurrent.layers(recurrent.gru_step),
    "gru_cell": recurrent.cell(recurrent.gru_step),
    "huber_loss": losses.huber_loss,
    "instance_norm": norms.instance_norm,
    "kl_div": losses.kl_div,
    "l1_loss": losses.l1_loss,
    "layer_norm": norms.layer_norm,
    "lerp": products.lerp,
    "linear": products.linear,
    "log_softmax": activations.log_softmax,
    "logsumexp": activations.logsumexp,
    "lstm": recurrent.layers(recurrent.lstm_step),
    "lstm_cell": recurrent.cell(recurrent.lstm_step),
    "mish": activations.mish,
    "mse_loss": losses.mse_loss,
    "multi_head_attention_forward": attention.multi_head_attention_forward,
    "nll_loss": losses.nll_loss,
    "normalize": norms.normalize,
    "rms_norm": norms.rms_norm,
    "rnn_relu": recurrent.layers(recurrent.rnn_relu_step),
    "rnn_relu_cell": recurrent.cell(recurrent.rnn_relu_step),
    "rnn_tanh": recurrent.layers(recurrent.rnn_step),
    "rnn_tanh_cell": recurrent.cell(recurrent.rnn_step),
    "scaled_dot_product_attention": attention.scaled_dot_product_attention,
    "silu": activations.silu,
    "smooth_l1_loss": losses.smooth_l1_loss,
    "softmax": activations.softmax,
    "softplus": activations.softplus,
    "std": norms.std,
    "var": norms.var,
}
