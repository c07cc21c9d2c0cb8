"""Differentially private SGD: per-example gradients by vmap(grad), clipped and noised."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import grad, jit, vmap
from jax.flatten_util import ravel_pytree


def predict(params, x):
    h = jax.nn.relu(params["hidden"]["w"].T @ x + params["hidden"]["b"])
    return params["out"]["w"].T @ h + params["out"]["b"]


def loss(params, example):
    x, y = example
    logits = predict(params, x)
    return jax.nn.logsumexp(logits) - logits[y]


def clipped_grad(params, max_norm, example):
    grads = grad(loss)(params, example)
    flat, unravel = ravel_pytree(grads)
    norm = jnp.linalg.norm(flat)
    return unravel(flat / jnp.maximum(1.0, norm / max_norm)), norm


def private_grad(params, batch, key, max_norm, noise):
    clipped, norms = vmap(clipped_grad, (None, None, 0))(params, max_norm, batch)
    summed = jax.tree_util.tree_map(lambda g: g.sum(0), clipped)
    flat, unravel = ravel_pytree(summed)
    flat = flat + noise * max_norm * jax.random.normal(key, flat.shape)
    return unravel(flat / len(batch[1])), norms


rng = np.random.RandomState(17)
batch = rng.randn(7, 5).astype(np.float32), rng.randint(0, 3, 7)
params = {
    "hidden": {"w": jnp.array(rng.randn(5, 9) * 0.5, jnp.float32), "b": jnp.zeros(9)},
    "out": {"w": jnp.array(rng.randn(9, 3) * 0.5, jnp.float32), "b": jnp.zeros(3)},
}

# what every example contributes
each = vmap(grad(loss), in_axes=(None, 0))(params, batch)
for path, g in jax.tree_util.tree_leaves_with_path(each):
    g = np.asarray(g, np.float64)
    print("grad", jax.tree_util.keystr(path), float(g.sum()), float(np.linalg.norm(g)))

key = jax.random.PRNGKey(5)
step = jit(private_grad, static_argnums=(3, 4))
for i in range(3):
    key, sub = jax.random.split(key)
    grads, norms = step(params, batch, sub, 1.0, 0.1)
    params = jax.tree_util.tree_map(lambda p, g: p - 0.2 * g, params, grads)
    mean = vmap(loss, in_axes=(None, 0))(params, batch).mean()
    print("round", i, "loss", float(mean), "largest norm", float(norms.max()))
