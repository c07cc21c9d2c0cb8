"""First and second order MAML on sinusoid tasks, functional forward pass."""
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(41)
INNER_LR, OUTER_LR = 0.1, 0.01


def forward(weights, x):
    w1, b1, w2, b2 = weights
    h = tf.nn.tanh(tf.matmul(x, w1) + b1)
    return tf.matmul(h, w2) + b2


def mse(weights, x, y):
    return tf.reduce_mean((forward(weights, x) - y) ** 2)


def adapt(weights, x, y, steps=2):
    for _ in range(steps):
        with tf.GradientTape() as inner:
            inner.watch(weights)
            loss = mse(weights, x, y)
        grads = inner.gradient(loss, weights)
        weights = [w - INNER_LR * g for w, g in zip(weights, grads)]
    return weights


def task(rng):
    amplitude, phase = rng.uniform(0.5, 2.0), rng.uniform(0, np.pi)
    x = rng.uniform(-3, 3, (10, 1)).astype(np.float32)
    y = (amplitude * np.sin(x + phase)).astype(np.float32)
    return (x[:5], y[:5]), (x[5:], y[5:])


meta = [
    tf.Variable(tf.random.normal((1, 10)), name="meta/w1"),
    tf.Variable(tf.zeros(10), name="meta/b1"),
    tf.Variable(tf.random.normal((10, 1)) * 0.3, name="meta/w2"),
    tf.Variable(tf.zeros(1), name="meta/b2"),
]
rng = np.random.RandomState(0)
for iteration in range(2):
    with tf.GradientTape() as outer:
        total = 0.0
        for _ in range(2):
            support, query = task(rng)
            adapted = adapt([tf.convert_to_tensor(v) for v in meta], *support)
            total += mse(adapted, *query)
        total /= 2
    grads = outer.gradient(total, meta)
    if iteration == 0:
        for v, g in zip(meta, grads):
            g = g.numpy().astype(np.float64)
            print("grad", v.name.split(":")[0], float(g.sum()), float(np.linalg.norm(g)))
    for v, g in zip(meta, grads):
        v.assign_sub(OUTER_LR * g)
    print("meta loss", iteration, float(total))
