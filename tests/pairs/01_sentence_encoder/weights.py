"""The checkpoint, with the names of the original release."""

import torch


def checkpoint(vocab=80, d=32, ff=64, positions=16, seed=0):
    g = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(*shape, generator=g) * 0.02

    state = {
        "embeddings.word_embeddings.weight": normal(vocab, d),
        "embeddings.position_embeddings.weight": normal(positions, d),
        "embeddings.token_type_embeddings.weight": normal(2, d),
        "embeddings.LayerNorm.weight": 1 + normal(d),
        "embeddings.LayerNorm.bias": normal(d),
        "pooler.dense.weight": normal(d, d) * 10,
        "pooler.dense.bias": normal(d),
    }
    for part in ("query", "key", "value"):
        state[f"encoder.attention.{part}.weight"] = normal(d, d) * 10
        state[f"encoder.attention.{part}.bias"] = normal(d)
    state["encoder.attention.output.weight"] = normal(d, d) * 10
    state["encoder.attention.output.bias"] = normal(d)
    state["encoder.intermediate.weight"] = normal(ff, d) * 10
    state["encoder.intermediate.bias"] = normal(ff)
    state["encoder.output.weight"] = normal(d, ff) * 10
    state["encoder.output.bias"] = normal(d)
    for name in ("attention.LayerNorm", "LayerNorm"):
        state[f"encoder.{name}.weight"] = 1 + normal(d)
        state[f"encoder.{name}.bias"] = normal(d)
    return state


def batch(step, vocab=80):
    g = torch.Generator().manual_seed(100 + step)
    ids = torch.randint(0, vocab, (6, 16), generator=g)
    kinds = (torch.arange(16) >= 9).long().expand(6, 16)
    target = torch.randn(6, 32, generator=g)
    return ids, kinds, target
