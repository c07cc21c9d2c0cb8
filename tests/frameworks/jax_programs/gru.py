"""GRU unrolled with a Python loop; the cell is a class registered as a pytree node."""
import jax
import jax.numpy as jnp
import numpy as np
from jax.nn import sigmoid


@jax.tree_util.register_pytree_node_class
class GRUCell:
    def __init__(self, wz, wr, wh):
        self.wz, self.wr, self.wh = wz, wr, wh

    @classmethod
    def create(cls, key, n_in, n_hidden):
        shape = (n_in + n_hidden, n_hidden)
        return cls(*(jax.random.normal(k, shape) * 0.25 for k in jax.random.split(key, 3)))

    def __call__(self, h, x):
        hx = jnp.concatenate([h, x], axis=-1)
        z = sigmoid(hx @ self.wz)
        r = sigmoid(hx @ self.wr)
        candidate = jnp.tanh(jnp.concatenate([r * h, x], axis=-1) @ self.wh)
        return (1 - z) * h + z * candidate

    def tree_flatten(self):
        return (self.wz, self.wr, self.wh), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


def run(cell, readout, seq):
    h = jnp.zeros((seq.shape[1], cell.wz.shape[1]))
    for x in seq:
        h = cell(h, x)
    return h @ readout


def loss(model, seq, target):
    cell, readout = model
    return jnp.mean(jnp.abs(run(cell, readout, seq) - target))


# adding problem: sum of the two marked values
rng = np.random.RandomState(11)
seq = np.zeros((6, 5, 2), np.float32)
seq[..., 0] = rng.rand(6, 5)
for b in range(5):
    i, j = rng.choice(6, 2, replace=False)
    seq[i, b, 1] = seq[j, b, 1] = 1
target = (seq[..., 0] * seq[..., 1]).sum(0)[:, None]
seq = jnp.asarray(seq)

key = jax.random.PRNGKey(0)
model = (GRUCell.create(key, 2, 8), jax.random.normal(jax.random.fold_in(key, 1), (8, 1)) * 0.4)
for step in range(3):
    value, (d_cell, d_out) = jax.value_and_grad(loss)(model, seq, target)
    if step == 0:
        for name, g in [("wz", d_cell.wz), ("wr", d_cell.wr), ("wh", d_cell.wh), ("readout", d_out)]:
            g = np.asarray(g, np.float64)
            print(f"grad {name} {g.sum()} {np.linalg.norm(g)}")
    model = jax.tree_util.tree_map(lambda p, g: p - 0.3 * g, model, (d_cell, d_out))
    print(f"step {step} loss {float(value)!r}")
