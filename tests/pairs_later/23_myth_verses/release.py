import torch

VOCAB, WIDTH, HEADS, GROUPS, INNER, LAYERS, BASE, EPS = 48, 32, 4, 2, 56, 2, 10000.0, 1e-6
HEAD = WIDTH // HEADS


def weights():
    g = torch.Generator().manual_seed(23)

    def normal(*shape):
        return torch.randn(*shape, generator=g) * shape[-1] ** -0.5

    state = {"model.embed_tokens.weight": normal(VOCAB, WIDTH), "model.norm.weight": 1 + 0.1 * normal(WIDTH)}
    state["lm_head.weight"] = normal(VOCAB, WIDTH)
    for n in range(LAYERS):
        p = f"model.layers.{n}."
        state[p + "self_attn.q_proj.weight"] = normal(HEADS * HEAD, WIDTH)
        state[p + "self_attn.k_proj.weight"] = normal(GROUPS * HEAD, WIDTH)
        state[p + "self_attn.v_proj.weight"] = normal(GROUPS * HEAD, WIDTH)
        state[p + "self_attn.o_proj.weight"] = normal(WIDTH, HEADS * HEAD)
        state[p + "mlp.gate_proj.weight"] = normal(INNER, WIDTH)
        state[p + "mlp.up_proj.weight"] = normal(INNER, WIDTH)
        state[p + "mlp.down_proj.weight"] = normal(WIDTH, INNER)
        state[p + "input_layernorm.weight"] = 1 + 0.1 * normal(WIDTH)
        state[p + "post_attention_layernorm.weight"] = 1 + 0.1 * normal(WIDTH)
    return state


def verses(step):
    g = torch.Generator().manual_seed(230 + step)
    return torch.randint(VOCAB, (3, 14), generator=g)
