"""Equinox module with optax."""
import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax


class Net(eqx.Module):
    layers: list
    scale: jax.Array
    activation: callable = eqx.field(static=True)

    def __init__(self, key):
        k1, k2, k3 = jr.split(key, 3)
        self.layers = [eqx.nn.Linear(3, 12, key=k1), eqx.nn.Linear(12, 12, key=k2), eqx.nn.Linear(12, 2, key=k3)]
        self.scale = jnp.ones(2)
        self.activation = jax.nn.elu

    def __call__(self, x):
        for layer in self.layers[:-1]:
            x = self.activation(layer(x))
        return self.layers[-1](x) * self.scale


@eqx.filter_value_and_grad
def compute_loss(model, x, y):
    pred = jax.vmap(model)(x)
    return optax.huber_loss(pred, y).mean()


@eqx.filter_jit
def make_step(model, opt_state, x, y):
    loss, grads = compute_loss(model, x, y)
    updates, opt_state = optim.update(grads, opt_state)
    model = eqx.apply_updates(model, updates)
    return loss, grads, model, opt_state


data = np.random.default_rng(10)
x = data.normal(size=(24, 3)).astype(np.float32)
y = np.stack([x.sum(1), x.prod(1)], axis=1)

model = Net(jr.PRNGKey(2))
optim = optax.adam(1e-2)
opt_state = optim.init(eqx.filter(model, eqx.is_inexact_array))
for step in range(3):
    loss, grads, model, opt_state = make_step(model, opt_state, x, y)
    if step == 0:
        for path, g in jax.tree_util.tree_leaves_with_path(grads):
            g = np.asarray(g, np.float64)
            print("grad", jax.tree_util.keystr(path), float(g.sum()), float(np.linalg.norm(g)))
    print(f"step={step}, loss={loss.item()!r}")
print("scale", model.scale.tolist())
