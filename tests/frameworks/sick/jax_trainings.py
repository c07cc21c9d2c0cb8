"""Trainings with JAX that are sick, as people write them, and each cured: `NAME(sick)` trains."""

import jax
import jax.numpy as jnp
import optax


def data(count=64):
    x = jax.random.normal(jax.random.key(0), (count, 4))
    return x, x @ jnp.array([[1.0], [-2.0], [0.5], [3.0]])


def classes(count=64):
    x, y = data(count)
    return x, (y[:, 0] > 0).astype(int)


def dense(key, inputs, outputs):
    return {"kernel": jax.random.normal(key, (inputs, outputs)) / inputs**0.5, "bias": jnp.zeros(outputs)}


def two_layers(width=8, outputs=1):
    first, second = jax.random.split(jax.random.key(1))
    return {"hidden": dense(first, 4, width), "out": dense(second, width, outputs)}


def forward(params, x, activation=jnp.tanh):
    h = activation(x @ params["hidden"]["kernel"] + params["hidden"]["bias"])
    return h @ params["out"]["kernel"] + params["out"]["bias"]


def fit(loss_fn, params, rate, steps=8, sign=-1.0):
    @jax.jit
    def step(params):
        loss, grads = jax.value_and_grad(loss_fn)(params)
        return loss, jax.tree.map(lambda p, g: p + sign * rate * g, params, grads)

    for _ in range(steps):
        loss, params = step(params)
    return params


def fit_with_optax(loss_fn, params, optimizer, steps=8):
    state = optimizer.init(params)

    @jax.jit
    def gradients(params):
        return jax.value_and_grad(loss_fn)(params)

    for _ in range(steps):
        loss, grads = gradients(params)
        updates, state = optimizer.update(grads, state, params)
        params = optax.apply_updates(params, updates)
    return params


def nan_by_log(sick):
    x, labels = classes()

    def loss_fn(params):
        scores = jax.nn.relu(forward(params, x))
        p = scores if sick else jax.nn.softmax(scores)
        return -jnp.mean(jnp.log(p[jnp.arange(len(labels)), labels]))

    fit(loss_fn, two_layers(outputs=2), 0.1)


def exploding_by_rate(sick):
    x, y = data()

    def loss_fn(params):
        return jnp.mean((forward(params, x) - y) ** 2)

    fit_with_optax(loss_fn, two_layers(16), optax.sgd(3.0 if sick else 0.05), steps=12)


def rate_too_small(sick):
    x, y = data()

    def loss_fn(params):
        return jnp.mean((forward(params, x) - y) ** 2)

    fit_with_optax(loss_fn, two_layers(16), optax.sgd(learning_rate=1e-9 if sick else 0.05), steps=20)


def wrong_sign(sick):
    x, y = data()

    def loss_fn(w):
        return jnp.mean((x @ w - y) ** 2)

    fit(loss_fn, jnp.zeros((4, 1)), 0.05, steps=12, sign=1.0 if sick else -1.0)


def zero_init(sick):
    x, y = data()
    params = two_layers()
    if sick:
        params = jax.tree.map(jnp.zeros_like, params)

    def loss_fn(params):
        return jnp.mean((forward(params, x, jax.nn.relu) - y) ** 2)

    fit(loss_fn, params, 0.05)


def dead_relu(sick):
    x, y = data()
    params = two_layers()
    if sick:
        params["hidden"]["bias"] = jnp.full(8, -50.0)

    def loss_fn(params):
        return jnp.mean((forward(params, x, jax.nn.relu) - y) ** 2)

    fit_with_optax(loss_fn, params, optax.sgd(0.01), steps=12)
