"""The published weights of the small recipe model, and its tokens."""

import torch

VOCAB, PLACES, WIDTH, HEADS, LAYERS = 60, 24, 32, 4, 2


def weights():
    g = torch.Generator().manual_seed(7)

    def normal(*shape, std=0.08):
        return torch.randn(*shape, generator=g) * std

    state = {
        "decoder.embed_tokens.weight": normal(VOCAB, WIDTH, std=0.3),
        "decoder.embed_positions.weight": normal(PLACES + 2, WIDTH, std=0.3),
        "decoder.final_layer_norm.weight": 1 + normal(WIDTH),
        "decoder.final_layer_norm.bias": normal(WIDTH),
    }
    for n in range(LAYERS):
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            state[f"decoder.layers.{n}.self_attn.{name}.weight"] = normal(WIDTH, WIDTH, std=0.2)
            state[f"decoder.layers.{n}.self_attn.{name}.bias"] = normal(WIDTH)
        for name in ("self_attn_layer_norm", "final_layer_norm"):
            state[f"decoder.layers.{n}.{name}.weight"] = 1 + normal(WIDTH)
            state[f"decoder.layers.{n}.{name}.bias"] = normal(WIDTH)
        state[f"decoder.layers.{n}.fc1.weight"] = normal(4 * WIDTH, WIDTH, std=0.2)
        state[f"decoder.layers.{n}.fc1.bias"] = normal(4 * WIDTH)
        state[f"decoder.layers.{n}.fc2.weight"] = normal(WIDTH, 4 * WIDTH, std=0.1)
        state[f"decoder.layers.{n}.fc2.bias"] = normal(WIDTH)
    return state


def batches(count):
    g = torch.Generator().manual_seed(8)
    return [torch.randint(VOCAB, (3, 17), generator=g) for _ in range(count)]
