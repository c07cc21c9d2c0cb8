"""Vanilla RNN that predicts the next value of a sine, the time loop is a lax.scan."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

HIDDEN = 12


def init_params(key):
    k = jax.random.split(key, 3)
    return dict(
        wx=jax.random.normal(k[0], (1, HIDDEN)) * 0.5,
        wh=jax.random.normal(k[1], (HIDDEN, HIDDEN)) / jnp.sqrt(HIDDEN),
        wo=jax.random.normal(k[2], (HIDDEN, 1)) * 0.5,
        bh=jnp.zeros(HIDDEN),
        bo=jnp.zeros(1),
    )


def rnn(params, xs):
    def cell(h, x):
        h = jnp.tanh(x @ params["wx"] + h @ params["wh"] + params["bh"])
        return h, h @ params["wo"] + params["bo"]

    h0 = jnp.zeros((xs.shape[1], HIDDEN))
    _, ys = lax.scan(cell, h0, xs)
    return ys


def mse(params, xs, ts):
    return jnp.square(rnn(params, xs) - ts).mean()


t = np.linspace(0, 4 * np.pi, 17, dtype=np.float32)
phase = np.array([0.0, 0.3, 0.9, 1.7], dtype=np.float32)
wave = np.sin(t[:, None] + phase[None, :])[..., None]
inputs, targets = wave[:-1], wave[1:]

params = init_params(jax.random.PRNGKey(7))
value_and_grad = jax.value_and_grad(mse)
for epoch in range(3):
    loss, g = value_and_grad(params, inputs, targets)
    if epoch == 0:
        for k, v in sorted(g.items()):
            v = np.array(v, dtype=np.float64)
            print("grad %s %r %r" % (k, float(v.sum()), float((v ** 2).sum() ** 0.5)))
    params = jax.tree_util.tree_map(lambda p, d: p - 0.05 * d, params, g)
    print("epoch %d loss %r" % (epoch, float(loss)))
