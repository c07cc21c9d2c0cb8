# MNIST-like classifier, after the "Training a simple neural network" tutorial
import numpy as onp
import jax.numpy as np
from jax import grad, jit, value_and_grad, vmap
from jax import random
from jax.scipy.special import logsumexp


def random_layer_params(m, n, key, scale=1e-1):
    w_key, b_key = random.split(key)
    return scale * random.normal(w_key, (n, m)), scale * random.normal(b_key, (n,))


def init_network_params(sizes, key):
    keys = random.split(key, len(sizes))
    return [random_layer_params(m, n, k) for m, n, k in zip(sizes[:-1], sizes[1:], keys)]


layer_sizes = [36, 24, 16, 10]
step_size = 0.05
params = init_network_params(layer_sizes, random.PRNGKey(0))


def relu(x):
    return np.maximum(0, x)


def predict(params, image):
    # per-example predictions
    activations = image
    for w, b in params[:-1]:
        outputs = np.dot(w, activations) + b
        activations = relu(outputs)

    final_w, final_b = params[-1]
    logits = np.dot(final_w, activations) + final_b
    return logits - logsumexp(logits)


batched_predict = vmap(predict, in_axes=(None, 0))


def one_hot(x, k, dtype=np.float32):
    return np.array(x[:, None] == np.arange(k), dtype)


def accuracy(params, images, targets):
    target_class = np.argmax(targets, axis=1)
    predicted_class = np.argmax(batched_predict(params, images), axis=1)
    return np.mean(predicted_class == target_class)


def loss(params, images, targets):
    preds = batched_predict(params, images)
    return -np.mean(preds * targets)


@jit
def update(params, x, y):
    value, grads = value_and_grad(loss)(params, x, y)
    new = [(w - step_size * dw, b - step_size * db) for (w, b), (dw, db) in zip(params, grads)]
    return new, value, grads


def get_batches(n, size):
    rs = onp.random.RandomState(1)
    for _ in range(n):
        yield rs.rand(size, 36).astype("float32"), rs.randint(0, 10, size)


for i, (x, y) in enumerate(get_batches(4, 32)):
    y = one_hot(y, 10)
    params, value, grads = update(params, x, y)
    if i == 0:
        for layer, (dw, db) in enumerate(grads):
            for name, g in (("w", dw), ("b", db)):
                g = onp.asarray(g, "float64")
                print(f"grad {layer}.{name} {float(g.sum())!r} {float(onp.linalg.norm(g))!r}")
    print(f"batch {i}: loss {float(value)!r}")
print("Training set accuracy {}".format(float(accuracy(params, x, y))))
