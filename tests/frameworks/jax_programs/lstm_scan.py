# LSTM sequence classifier. One fused gate matrix, lax.scan over time, momentum SGD.
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np


class LSTMState(NamedTuple):
    h: jnp.ndarray
    c: jnp.ndarray


class LSTMParams(NamedTuple):
    kernel: jnp.ndarray
    recurrent: jnp.ndarray
    bias: jnp.ndarray


class Model(NamedTuple):
    embed: jnp.ndarray
    lstm: LSTMParams
    head: jnp.ndarray


VOCAB, EMBED, UNITS, CLASSES = 11, 6, 10, 3


def glorot(key, shape):
    limit = np.sqrt(6 / (shape[0] + shape[1]))
    return jax.random.uniform(key, shape, minval=-limit, maxval=limit)


def init(key):
    ks = jax.random.split(key, 4)
    bias = jnp.concatenate([jnp.zeros(UNITS), jnp.ones(UNITS), jnp.zeros(2 * UNITS)])  # forget gate starts open
    lstm = LSTMParams(glorot(ks[0], (EMBED, 4 * UNITS)), glorot(ks[1], (UNITS, 4 * UNITS)), bias)
    return Model(jax.random.normal(ks[2], (VOCAB, EMBED)) * 0.3, lstm, glorot(ks[3], (UNITS, CLASSES)))


def lstm_step(p, state, x):
    gates = x @ p.kernel + state.h @ p.recurrent + p.bias
    i, f, g, o = jnp.split(gates, 4, axis=-1)
    c = jax.nn.sigmoid(f) * state.c + jax.nn.sigmoid(i) * jnp.tanh(g)
    h = jax.nn.sigmoid(o) * jnp.tanh(c)
    return LSTMState(h, c), h


def apply(model, tokens):
    x = model.embed[tokens]  # (batch, time, embed)
    x = jnp.swapaxes(x, 0, 1)
    zero = jnp.zeros((tokens.shape[0], UNITS))
    final, _ = jax.lax.scan(lambda s, xt: lstm_step(model.lstm, s, xt), LSTMState(zero, zero), x)
    return final.h @ model.head


def loss_fn(model, batch):
    tokens, labels = batch
    logits = apply(model, tokens)
    onehot = jax.nn.one_hot(labels, CLASSES)
    return -jnp.mean(jnp.sum(onehot * jax.nn.log_softmax(logits), axis=-1))


@jax.jit
def step(model, velocity, batch):
    loss, grads = jax.value_and_grad(loss_fn)(model, batch)
    velocity = jax.tree_util.tree_map(lambda v, g: 0.9 * v + g, velocity, grads)
    model = jax.tree_util.tree_map(lambda p, v: p - 0.1 * v, model, velocity)
    return model, velocity, loss, grads


def main():
    rs = np.random.RandomState(5)
    batch = (rs.randint(0, VOCAB, (6, 9)), rs.randint(0, CLASSES, 6))
    model = init(jax.random.PRNGKey(1))
    velocity = jax.tree_util.tree_map(jnp.zeros_like, model)
    for it in range(3):
        model, velocity, loss, grads = step(model, velocity, batch)
        if it == 0:
            for path, leaf in jax.tree_util.tree_leaves_with_path(grads):
                leaf = np.asarray(leaf).astype(np.float64)
                print("grad", jax.tree_util.keystr(path), repr(leaf.sum().item()), repr(np.linalg.norm(leaf).item()))
        print(it, repr(loss.item()))
    print("accuracy", float((apply(model, batch[0]).argmax(-1) == batch[1]).mean()))


main()
