"""Two-layer perceptron on a toy regression, parameters in a dict, SGD by hand."""
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.RandomState(0)
X = rng.randn(64, 8).astype(np.float32)
y = (np.sin(X[:, :1]) + 0.5 * X[:, 1:2]).astype(np.float32)

params = {
    "w1": jnp.array(rng.randn(8, 32) * 0.3, dtype=jnp.float32),
    "b1": jnp.zeros(32),
    "w2": jnp.array(rng.randn(32, 1) * 0.3, dtype=jnp.float32),
    "b2": jnp.zeros(1),
}


def predict(params, x):
    h = jnp.tanh(x @ params["w1"] + params["b1"])
    return h @ params["w2"] + params["b2"]


def loss(params, x, y):
    err = predict(params, x) - y
    return jnp.mean(err ** 2)


lr = 0.1
for step in range(4):
    grads = jax.grad(loss)(params, X, y)
    if step == 0:
        for name in params:
            g = np.asarray(grads[name], np.float64)
            print("grad", name, repr(float(g.sum())), repr(float(np.linalg.norm(g))))
    params = {k: params[k] - lr * grads[k] for k in params}
    print("step", step, "loss", repr(float(loss(params, X, y))))

print("b2", repr(float(params["b2"][0])))
