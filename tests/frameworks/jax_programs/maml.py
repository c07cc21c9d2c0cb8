# MAML on sinusoids: gradient through a gradient step
from functools import partial

import jax
import jax.numpy as jnp
import numpy as onp
from jax import grad, jit, random, tree_util, vmap

alpha, beta = 0.1, 0.01


def net_init(rng, hidden=12):
    r1, r2 = random.split(rng)
    return [
        (random.normal(r1, (1, hidden)), jnp.zeros(hidden)),
        (random.normal(r2, (hidden, 1)) / hidden ** 0.5, jnp.zeros(1)),
    ]


def net_apply(params, x):
    (w1, b1), (w2, b2) = params
    return jnp.tanh(x @ w1 + b1) @ w2 + b2


def loss(params, inputs, targets):
    return jnp.mean((targets - net_apply(params, inputs)) ** 2)


def inner_update(p, x1, y1, alpha=alpha):
    grads = grad(loss)(p, x1, y1)
    inner_sgd_fn = lambda g, state: state - alpha * g
    return tree_util.tree_map(inner_sgd_fn, grads, p)


def maml_loss(p, x1, y1, x2, y2):
    p2 = inner_update(p, x1, y1)
    return loss(p2, x2, y2)


def batch_maml_loss(p, x1_b, y1_b, x2_b, y2_b):
    task_losses = vmap(partial(maml_loss, p))(x1_b, y1_b, x2_b, y2_b)
    return jnp.mean(task_losses)


def sample_tasks(rs, outer_batch_size, inner_batch_size):
    As = rs.uniform(low=0.1, high=0.5, size=(outer_batch_size, 1, 1))
    phases = rs.uniform(low=0.0, high=onp.pi, size=(outer_batch_size, 1, 1))

    def get_batch():
        xs = rs.uniform(low=-5.0, high=5.0, size=(outer_batch_size, inner_batch_size, 1))
        return xs.astype("float32"), (As * onp.sin(xs + phases)).astype("float32")

    return (*get_batch(), *get_batch())


@jit
def step(params, *batch):
    value, g = jax.value_and_grad(batch_maml_loss)(params, *batch)
    return tree_util.tree_map(lambda p, d: p - beta * d, params, g), value, g


rs = onp.random.RandomState(0)
params = net_init(random.PRNGKey(0))
for i in range(3):
    batch = sample_tasks(rs, 3, 6)
    params, value, g = step(params, *batch)
    if i == 0:
        for n, d in zip(("w1", "b1", "w2", "b2"), tree_util.tree_leaves(g)):
            d = onp.asarray(d, onp.float64)
            print("grad", n, float(d.sum()), float(onp.linalg.norm(d)))
    print("meta loss", i, float(value))
adapted = inner_update(params, batch[0][0], batch[1][0])
print("after adaptation", float(loss(adapted, batch[2][0], batch[3][0])))
