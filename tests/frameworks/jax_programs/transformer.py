"""A one-block causal transformer language model, from scratch."""
import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np

text = "the quick brown fox jumps over the lazy dog and runs away from the quick dog"
chars = sorted(set(text))
ids = np.array([chars.index(c) for c in text])


@dataclasses.dataclass(frozen=True)
class Config:
    vocab: int = len(chars)
    ctx: int = 8
    d_model: int = 16
    heads: int = 2
    d_ff: int = 32


def layer_norm(x, g, b, eps=1e-5):
    u = x.mean(-1, keepdims=True)
    s = jnp.square(x - u).mean(-1, keepdims=True)
    return g * (x - u) * jax.lax.rsqrt(s + eps) + b


def attention(p, x, cfg):
    T, D = x.shape[-2:]
    qkv = x @ p["qkv"]
    q, k, v = jnp.split(qkv, 3, axis=-1)
    split = lambda t: t.reshape(*t.shape[:-1], cfg.heads, D // cfg.heads).swapaxes(-2, -3)
    q, k, v = map(split, (q, k, v))
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(D // cfg.heads)
    mask = jnp.tril(jnp.ones((T, T), bool))
    scores = jnp.where(mask, scores, -1e9)
    out = jax.nn.softmax(scores, axis=-1) @ v
    out = out.swapaxes(-2, -3).reshape(x.shape)
    return out @ p["proj"]


def model(p, tokens, cfg):
    x = p["wte"][tokens] + p["wpe"][: tokens.shape[-1]]
    x = x + attention(p["attn"], layer_norm(x, **p["ln_1"]), cfg)
    h = layer_norm(x, **p["ln_2"])
    h = jax.nn.gelu(h @ p["mlp"]["fc"] + p["mlp"]["fc_b"])
    x = x + h @ p["mlp"]["out"]
    return layer_norm(x, **p["ln_f"]) @ p["wte"].T


def init(key, cfg):
    keys = iter(jax.random.split(key, 8))
    n = lambda *shape: 0.1 * jax.random.normal(next(keys), shape)
    ln = lambda: {"g": jnp.ones(cfg.d_model), "b": jnp.zeros(cfg.d_model)}
    return {
        "wte": n(cfg.vocab, cfg.d_model),
        "wpe": n(cfg.ctx, cfg.d_model),
        "attn": {"qkv": n(cfg.d_model, 3 * cfg.d_model), "proj": n(cfg.d_model, cfg.d_model)},
        "mlp": {"fc": n(cfg.d_model, cfg.d_ff), "fc_b": jnp.zeros(cfg.d_ff), "out": n(cfg.d_ff, cfg.d_model)},
        "ln_1": ln(),
        "ln_2": ln(),
        "ln_f": ln(),
    }


def get_batch(rng, cfg, n=4):
    starts = rng.integers(0, len(ids) - cfg.ctx - 1, n)
    x = np.stack([ids[s : s + cfg.ctx] for s in starts])
    y = np.stack([ids[s + 1 : s + cfg.ctx + 1] for s in starts])
    return x, y


def main():
    cfg = Config()
    rng = np.random.default_rng(0)
    params = init(jax.random.key(0), cfg)

    def loss_fn(params, x, y):
        logits = model(params, x, cfg)
        logp = jax.nn.log_softmax(logits, axis=-1)
        return -jnp.mean(jnp.take_along_axis(logp, y[..., None], axis=-1))

    grad_fn = jax.jit(jax.value_and_grad(loss_fn))
    for it in range(3):
        x, y = get_batch(rng, cfg)
        loss, grads = grad_fn(params, x, y)
        if it == 0:
            for path, g in jax.tree_util.tree_leaves_with_path(grads):
                g = np.asarray(g, np.float64)
                print("grad", jax.tree_util.keystr(path), repr(float(g.sum())), repr(float(np.linalg.norm(g))))
        norm = jnp.sqrt(sum(jnp.sum(g ** 2) for g in jax.tree_util.tree_leaves(grads)))
        scale = jnp.minimum(1.0, 1.0 / norm)  # clip by global norm
        params = jax.tree_util.tree_map(lambda p, g: p - 0.5 * scale * g, params, grads)
        print(f"iter {it}: loss {float(loss)!r} gradient norm {float(norm)!r}")


if __name__ == "__main__":
    main()
