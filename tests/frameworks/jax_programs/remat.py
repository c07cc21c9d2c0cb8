"""Deep residual MLP whose blocks are rematerialised in the backward pass."""
import functools

import jax
import jax.ad_checkpoint
import jax.numpy as jnp
import numpy as np


@jax.checkpoint
def block(p, x):
    h = jnp.sin(x @ p["w1"])
    return x + h @ p["w2"]


@functools.partial(jax.checkpoint, policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable)
def head(w, x):
    return jax.nn.log_softmax(jnp.cos(x) @ w)


def forward(params, x):
    for p in params["blocks"]:
        x = block(p, x)
    return head(params["head"], x)


def nll(params, x, y):
    return -jnp.mean(jnp.sum(forward(params, x) * y, axis=1))


def init(seed, depth=4, width=8, classes=3):
    rng = np.random.RandomState(seed)
    mat = lambda a, b: jnp.asarray(rng.randn(a, b) / np.sqrt(a), jnp.float32)
    return {"blocks": [{"w1": mat(width, width), "w2": 0.1 * mat(width, width)} for _ in range(depth)], "head": mat(width, classes)}


params = init(0)
rng = np.random.RandomState(1)
x = rng.randn(10, 8).astype(np.float32)
y = np.eye(3, dtype=np.float32)[rng.randint(0, 3, 10)]

for step in range(3):
    loss, grads = jax.value_and_grad(nll)(params, x, y)
    if step == 0:
        for i, g in enumerate(grads["blocks"]):
            for k in ("w1", "w2"):
                a = np.asarray(g[k], np.float64)
                print(f"grad blocks.{i}.{k} {float(a.sum())!r} {float(np.linalg.norm(a))!r}")
        a = np.asarray(grads["head"], np.float64)
        print(f"grad head {float(a.sum())!r} {float(np.linalg.norm(a))!r}")
    params = jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, params, grads)
    print(f"{step} {float(loss)!r}")
