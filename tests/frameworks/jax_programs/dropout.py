"""MLP with dropout and batch normalisation, keys split by hand, state carried along."""
import jax
import jax.numpy as jnp
import jax.random as jrandom
import numpy as np


def dropout(key, x, rate, train=True):
    if not train or rate == 0:
        return x
    keep = jrandom.bernoulli(key, 1 - rate, x.shape)
    return jnp.where(keep, x / (1 - rate), 0)


def batch_norm(p, s, x, train, momentum=0.9):
    if train:
        mean, var = x.mean(0), x.var(0)
        s = {"mean": momentum * s["mean"] + (1 - momentum) * mean, "var": momentum * s["var"] + (1 - momentum) * var}
    else:
        mean, var = s["mean"], s["var"]
    return p["gamma"] * (x - mean) / jnp.sqrt(var + 1e-5) + p["beta"], s


def net(params, state, x, key, train):
    k1, k2 = jrandom.split(key)
    x = dropout(k1, x, 0.1, train)
    x = x @ params["l1"]
    x, state = batch_norm(params["bn"], state, x, train)
    x = jax.nn.relu(x)
    x = dropout(k2, x, 0.5, train)
    return x @ params["l2"] + params["b2"], state


def loss_fn(params, state, key, x, y):
    logits, state = net(params, state, x, key, True)
    logp = jax.nn.log_softmax(logits)
    l2 = sum((params[k] ** 2).sum() for k in ("l1", "l2"))
    return -logp[jnp.arange(len(y)), y].mean() + 1e-3 * l2, state


@jax.jit
def train_step(params, state, key, x, y):
    (loss, state), grads = jax.value_and_grad(loss_fn, has_aux=True)(params, state, key, x, y)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), state, loss, grads


rng = np.random.RandomState(21)
x = rng.randn(16, 6).astype(np.float32)
y = (x[:, 0] * x[:, 1] > 0).astype(np.int32)
params = {
    "l1": jnp.array(rng.randn(6, 20), jnp.float32) * 0.4,
    "bn": {"gamma": jnp.ones(20), "beta": jnp.zeros(20)},
    "l2": jnp.array(rng.randn(20, 2), jnp.float32) * 0.2,
    "b2": jnp.zeros(2),
}
state = {"mean": jnp.zeros(20), "var": jnp.ones(20)}
key = jrandom.PRNGKey(0)
for step in range(3):
    key, sub = jrandom.split(key)
    params, state, loss, grads = train_step(params, state, sub, x, y)
    if step == 0:
        for path, g in jax.tree_util.tree_leaves_with_path(grads):
            g = np.asarray(g, np.float64)
            print("grad", jax.tree_util.keystr(path), float(g.sum()), float(np.linalg.norm(g)))
    print("step", step, float(loss))
logits, _ = net(params, state, x, key, False)
print("eval accuracy", float((logits.argmax(1) == y).mean()), "running mean", float(state["mean"].sum()))
