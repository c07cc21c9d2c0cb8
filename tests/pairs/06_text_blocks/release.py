"""What the released file holds: weights as (in, out), as the original code multiplies them."""

import torch


def tensors(d=24, layers=2, vocab=60, ctx=14):
    g = torch.Generator().manual_seed(2)
    draw = lambda *shape: torch.randn(*shape, generator=g)
    out = {"wte": draw(vocab, d) * 0.5, "wpe": draw(ctx, d) * 0.2, "ln_f/g": torch.ones(d), "ln_f/b": torch.zeros(d)}
    for i in range(layers):
        for name, n, m in (("attn/c_attn", d, 3 * d), ("attn/c_proj", d, d), ("mlp/c_fc", d, 4 * d), ("mlp/c_proj", 4 * d, d)):
            out[f"h{i}/{name}/w"] = draw(n, m) / n**0.5
            out[f"h{i}/{name}/b"] = draw(m) * 0.05
        for name in ("ln_1", "ln_2"):
            out[f"h{i}/{name}/g"] = 1 + draw(d) * 0.1
            out[f"h{i}/{name}/b"] = draw(d) * 0.1
    return out
