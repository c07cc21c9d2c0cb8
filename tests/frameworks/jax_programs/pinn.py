"""Physics-informed network for u'' + u = 0, u(0) = 0, u'(0) = 1 (the answer is sin)."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import grad, jit, vmap


def init(key, layers=(1, 16, 16, 1)):
    params = []
    for n_in, n_out in zip(layers[:-1], layers[1:]):
        key, sub = jax.random.split(key)
        params.append({"W": jax.random.normal(sub, (n_in, n_out)) * np.sqrt(2 / (n_in + n_out)), "B": jnp.zeros(n_out)})
    return params


def net(params, x):
    h = jnp.reshape(x, (1,))
    *hidden, last = params
    for layer in hidden:
        h = jnp.tanh(h @ layer["W"] + layer["B"])
    return (h @ last["W"] + last["B"])[0]


u = net
u_x = grad(u, argnums=1)
u_xx = grad(u_x, argnums=1)


def residual(params, x):
    return vmap(u_xx, in_axes=(None, 0))(params, x) + vmap(u, in_axes=(None, 0))(params, x)


def loss_fun(params, colloc):
    mse_f = jnp.mean(residual(params, colloc) ** 2)
    mse_b = u(params, 0.0) ** 2 + (u_x(params, 0.0) - 1.0) ** 2
    return mse_f + mse_b


@jit
def update(params, m, colloc):
    grads = grad(loss_fun)(params, colloc)
    m = jax.tree_util.tree_map(lambda a, g: 0.9 * a + 0.1 * g, m, grads)
    params = jax.tree_util.tree_map(lambda p, a: p - 0.1 * a, params, m)
    return params, m


colloc = jnp.linspace(0.0, 3.0, 16)
params = init(jax.random.PRNGKey(99))
g0 = grad(loss_fun)(params, colloc)
for i, layer in enumerate(g0):
    for k in ("W", "B"):
        g = np.asarray(layer[k], np.float64)
        print("grad", f"{i}.{k}", float(g.sum()), float(np.linalg.norm(g)))

m = jax.tree_util.tree_map(jnp.zeros_like, params)
for epoch in range(3):
    params, m = update(params, m, colloc)
    print("epoch", epoch, "loss", float(loss_fun(params, colloc)))
print("u(1) =", float(u(params, 1.0)), "u'(1) =", float(u_x(params, 1.0)))
