"""A small convolutional net written with jax.lax only."""
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

DN = ("NHWC", "HWIO", "NHWC")


def conv(x, w, b, stride=1):
    y = lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=DN)
    return y + b


def max_pool(x, size=2):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, size, size, 1), (1, size, size, 1), "VALID")


def avg_pool(x):
    return jnp.mean(x, axis=(1, 2))


def init(key):
    k1, k2, k3 = jax.random.split(key, 3)
    he = jax.nn.initializers.he_normal()
    return {
        "conv1": {"w": he(k1, (3, 3, 1, 4)), "b": jnp.zeros((4,))},
        "conv2": {"w": he(k2, (3, 3, 4, 8)), "b": jnp.zeros((8,))},
        "fc": {"w": he(k3, (8, 5)), "b": jnp.zeros((5,))},
    }


def forward(params, x):
    x = jax.nn.relu(conv(x, **params["conv1"]))
    x = max_pool(x)
    x = jax.nn.relu(conv(x, **params["conv2"], stride=2))
    x = avg_pool(x)
    return x @ params["fc"]["w"] + params["fc"]["b"]


def cross_entropy(params, x, labels):
    logp = jax.nn.log_softmax(forward(params, x))
    return -jnp.take_along_axis(logp, labels[:, None], axis=1).mean()


@partial(jax.jit, static_argnums=(3,))
def train_step(params, x, labels, lr):
    loss, grads = jax.value_and_grad(cross_entropy)(params, x, labels)
    params = jax.tree_util.tree_map(lambda p, g: p - lr * g, params, grads)
    return params, loss, grads


if __name__ == "__main__":
    rng = np.random.default_rng(3)
    images = rng.normal(size=(8, 12, 12, 1)).astype(np.float32)
    labels = rng.integers(0, 5, size=8)
    params = init(jax.random.PRNGKey(42))
    for step in range(3):
        params, loss, grads = train_step(params, images, labels, 0.1)
        if step == 0:
            for path, g in jax.tree_util.tree_flatten_with_path(grads)[0]:
                g = np.asarray(g, np.float64)
                print("grad", jax.tree_util.keystr(path), float(g.sum()), float(np.sqrt((g * g).sum())))
        print("loss", float(loss))
    print("logits", [float(v) for v in forward(params, images[:1])[0]])
