"""MLP on two moons; optax: warmup schedule, clipping and Adam in a chain."""
import jax
import jax.numpy as jnp
import numpy as np
import optax


def two_moons(n, seed=0):
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, np.pi, n)
    label = rng.integers(0, 2, n)
    x = np.where(label, 1 - np.cos(t), np.cos(t))
    y = np.where(label, 0.5 - np.sin(t), np.sin(t))
    points = np.stack([x, y], 1) + rng.normal(0, 0.1, (n, 2))
    return points.astype(np.float32), label.astype(np.float32)


def init_mlp(key, widths):
    params = {}
    for i, (m, n) in enumerate(zip(widths, widths[1:])):
        key, k = jax.random.split(key)
        params[f"dense_{i}"] = {"kernel": jax.nn.initializers.glorot_uniform()(k, (m, n)), "bias": jnp.zeros(n)}
    return params


def mlp(params, x):
    for i in range(len(params)):
        layer = params[f"dense_{i}"]
        x = x @ layer["kernel"] + layer["bias"]
        if i + 1 < len(params):
            x = jax.nn.silu(x)
    return x.squeeze(-1)


def loss_fn(params, x, y):
    return optax.sigmoid_binary_cross_entropy(mlp(params, x), y).mean()


schedule = optax.warmup_cosine_decay_schedule(1e-3, 3e-2, warmup_steps=2, decay_steps=10)
optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule, weight_decay=1e-3))


@jax.jit
def train_step(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    params = optax.apply_updates(params, updates)
    return params, opt_state, loss, grads


def main():
    x, y = two_moons(48)
    params = init_mlp(jax.random.PRNGKey(3), [2, 16, 16, 1])
    opt_state = optimizer.init(params)
    for step in range(4):
        params, opt_state, loss, grads = train_step(params, opt_state, x, y)
        if step == 0:
            for path, g in jax.tree_util.tree_leaves_with_path(grads):
                g = np.asarray(g, np.float64)
                print("grad", jax.tree_util.keystr(path), float(g.sum()), float(np.linalg.norm(g)))
        print(f"step {step} loss {float(loss)!r}")
    acc = ((mlp(params, x) > 0) == y).mean()
    print("train accuracy", float(acc))


main()
