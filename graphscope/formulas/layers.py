"""Formulas of what modules compute: convolutions, norms, pooling, embeddings, attention, recurrence."""

from __future__ import annotations

from typing import Final

from graphscope.formulas.formula import Formula, of

_IMAGE: Final = "stride, padding, dilation, groups"
_SHARES: Final = "(h - mean(h, d) - n * mean(h * n, d)) / s"
_NORMAL: Final = "n = (x - mean(x, d)) / s, s = sqrt(variance(x, d) + eps)"
_ATTENTION: Final = "w = softmax(query @ key.mT * scale + attn_mask, -1), scale = scale or 1 / sqrt(query.shape[-1])"
_WEIGHTS: Final = "Σ_t dz[t].T @ x[t] for W, Σ_t dz[t].T @ h[t-1] for U, Σ_t dz[t] for b and d"
_LOGITS: Final = f"s = w * (h - sum(w * h, -1)), h = g @ value.mT, {_ATTENTION}"


def _convolution(rank: int) -> Formula:
    return of(
        "out[n, o] = bias[o] + Σ_c weight[o, c] ⋆ x[n, c]",
        x=f"conv{rank}d_input(x, weight, g, {_IMAGE})",
        weight=f"conv{rank}d_weight(x, weight, g, {_IMAGE})",
        bias="sum(g, all_but(1, g))",
    )


def _transposed(rank: int) -> Formula:
    return of(
        "out[n, o] = bias[o] + Σ_c weight[c, o] * x[n, c]",
        x=f"conv{rank}d(g, weight, None, {_IMAGE})",
        weight=f"conv{rank}d_weight(g, weight, x, {_IMAGE})",
        bias="sum(g, all_but(1, g))",
    )


def _pool(rank: int) -> dict[str, Formula]:
    window = "kernel_size, stride, padding"
    return {
        f"max_pool{rank}d": of(
            "out = max over windows of x", x=f"at_largest(g, x, {window}, dilation)"
        ),
        f"avg_pool{rank}d": of(
            "out = Σ over windows of x / n",
            x=f"over_windows(g / n, x, {window}) where n = window_size(kernel_size, x)",
        ),
        f"adaptive_avg_pool{rank}d": of(
            "out = Σ over windows of x / n, as many windows as output_size",
            x="over_windows(g / n, x, output_size) where n = count(x) / count(g)"
        ),
        f"adaptive_max_pool{rank}d": of(
            "out = max over windows of x, as many windows as output_size", x="at_largest(g, x, output_size)"
        ),
    }  # fmt: skip


FORMULAS: Final[dict[str, Formula]] = {
    **{f"conv{rank}d": _convolution(rank) for rank in (1, 2, 3)},
    **{f"conv_transpose{rank}d": _transposed(rank) for rank in (1, 2, 3)},
    **{name: formula for rank in (1, 2, 3) for name, formula in _pool(rank).items()},
    "layer_norm": of(
        "out = (x - mean x) / √(var x + eps) · weight + bias",
        x=f"{_SHARES} where h = g * weight, {_NORMAL}, d = last(normalized_shape)",
        weight=f"g * n where {_NORMAL}, d = last(normalized_shape)",
        bias="g",
    ),
    "rms_norm": of(
        "out = x / √(mean x² + eps) · weight",
        x="(h - n * mean(h * n, d)) / s where h = g * weight, n = x / s, s = sqrt(mean(x**2, d) + eps), "
        "d = last(normalized_shape)",
        weight="g * x / sqrt(mean(x**2, d) + eps) where d = last(normalized_shape)",
    ),
    "group_norm": of(
        "out = (x - mean x) / √(var x + eps) · weight + bias, the mean of each group of channels",
        x=f"ungrouped({_SHARES}, g) where h = grouped(g * weight, num_groups), "
        "n = (y - mean(y, d)) / s, s = sqrt(variance(y, d) + eps), y = grouped(x, num_groups), d = (2,)",
        weight="g * ungrouped(n, g) where n = (y - mean(y, d)) / sqrt(variance(y, d) + eps), "
        "y = grouped(x, num_groups), d = (2,)",
        bias="g",
    ),
    "instance_norm": of(
        "out = (x - mean x) / √(var x + eps) · weight + bias, the mean of each channel of each sample",
        x=f"{_SHARES} where h = g * channel(weight, x), {_NORMAL}, d = image_dims(x)",
        weight=f"sum(g * n, all_but(1, g)) where {_NORMAL}, d = image_dims(x)",
        bias="sum(g, all_but(1, g))",
    ),
    "batch_norm": of(
        "out = (x - mean x) / √(var x + eps) · weight + bias, mean and var of the batch, or running ones",
        x=f"{_SHARES} if training else h / sqrt(channel(running_var, x) + eps) "
        f"where h = g * channel(weight, x), {_NORMAL}, d = all_but(1, x)",
        weight=f"sum(g * (n if training else r), all_but(1, g)) where {_NORMAL}, d = all_but(1, x), "
        "r = (x - channel(running_mean, x)) / sqrt(channel(running_var, x) + eps)",
        bias="sum(g, all_but(1, g))",
    ),
    "embedding": of(
        "out = weight[x]", {"indices": "x"}, weight="put_rows(weight, x, g, padding_idx)"
    ),
    "embedding_bag": of("out[b] = Σ weight[x[i]], i in bag b"),
    "scaled_dot_product_attention": of(
        "out = w · value, w = softmax(query · keyᵀ / √d + attn_mask)",
        query=f"s @ key * scale where {_LOGITS}",
        key=f"s.mT @ query * scale where {_LOGITS}",
        value=f"w.mT @ g where {_ATTENTION}",
        attn_mask=f"s where {_LOGITS}",
    ),
    "multi_head_attention_forward": of(
        "out = [w · v of each head] · out_proj_weightᵀ + out_proj_bias, w = softmax(q · kᵀ / √d), "
        "q, k, v = query, key, value · in_proj_weightᵀ + in_proj_bias",
        query="backward of the projection of h, where h = g @ out_proj_weight through w · v and softmax to q",
        key="backward of the projection of h, where h = g @ out_proj_weight through w · v and softmax to k",
        value="backward of the projection of h, where h = w.mT @ (g @ out_proj_weight) of each head",
        in_proj_weight="[dq.T @ query; dk.T @ key; dv.T @ value], dq, dk, dv the gradients of q, k, v",
        in_proj_bias="[Σ dq, Σ dk, Σ dv], dq, dk, dv the gradients of q, k, v",
        out_proj_weight="g.T @ [w · v of each head]",
        out_proj_bias="g",
    ),
    "lstm": of(
        "i, f, n, o = W · x[t] + b + U · h[t-1] + d in four parts; c[t] = σ(f) · c[t-1] + σ(i) · tanh n; "
        "h[t] = σ(o) · tanh c[t]; out = h",
        {"hx": "state", "params": "weights"},
        x="dz[t] @ W, with dz[t] the gradient of (i, f, n, o) at t, from the last t to the first",
        state="dz[0] @ U for h, dc[0] · σ(f) for c",
        weights=_WEIGHTS,
    ),
    "gru": of(
        "r, u = σ(W · x[t] + U · h[t-1]) in two parts; n = tanh(W · x[t] + r · (U · h[t-1])); "
        "h[t] = (1 - u) · n + u · h[t-1]; out = h",
        {"hx": "state", "params": "weights"},
        x="dz[t] @ W, with dz[t] the gradient of (r, u, n) at t, from the last t to the first",
        state="dz[0] @ U + dh[0] · u",
        weights="Σ_t dz[t].T @ x[t] for W, Σ_t dz[t].T @ h[t-1] for U, Σ_t dz[t] for the biases",
    ),
    "rnn_tanh": of(
        "h[t] = tanh(W · x[t] + b + U · h[t-1] + d); out = h", {"hx": "state", "params": "weights"},
        x="dz[t] @ W, dz[t] = dh[t] · (1 - h[t]²), from the last t to the first",
        state="dz[0] @ U",
        weights=_WEIGHTS,
    ),
    "rnn_relu": of(
        "h[t] = max(0, W · x[t] + b + U · h[t-1] + d); out = h", {"hx": "state", "params": "weights"},
        x="dz[t] @ W, dz[t] = dh[t] where h[t] > 0, from the last t to the first",
        state="dz[0] @ U",
        weights=_WEIGHTS,
    ),
    "prelu": of(
        "out = x if x > 0 else weight · x", x="where(x > 0, g, g * channel(weight, x))",
        weight="sum(where(x > 0, 0, g * x), all_but(1, g))",
    ),
    "pixel_shuffle": of(
        "out[c, h·r + i, w·r + j] = x[c·r² + i·r + j, h, w], r = upscale_factor",
        x="pixel_unshuffle(g, upscale_factor)",
    ),
    "interpolate": of(
        "out[i, j] = Σ A[i, k] · B[j, l] · x[k, l], A and B as mode says", x="Σ A[i, k] · B[j, l] · g[i, j]"
    ),
}  # fmt: skip
