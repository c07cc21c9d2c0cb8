"""tf.custom_gradient: a straight-through sign, a stable function, and a rule with a variable in it."""
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(19)


@tf.custom_gradient
def binarize(x):
    def grad(upstream):
        return tf.where(tf.abs(x) <= 1.0, upstream, tf.zeros_like(upstream))

    return tf.sign(x), grad


@tf.custom_gradient
def log1pexp(x):
    e = tf.exp(x)

    def grad(upstream):
        return upstream * (1 - 1 / (1 + e))

    return tf.math.log(1 + e), grad


@tf.custom_gradient
def scale_gradient(x, factor):
    return tf.identity(x), lambda upstream: (upstream * factor, None)


gate = tf.Variable(0.7, name="gate")


@tf.custom_gradient
def gated(x):
    value = x * gate

    def grad(upstream, variables=None):
        return upstream * gate, [tf.reduce_sum(upstream * x)]

    return value, grad


W = tf.Variable(tf.random.normal((5, 8), stddev=0.6), name="W")
V = tf.Variable(tf.random.normal((8, 1), stddev=0.6), name="V")
X = tf.random.normal((16, 5))
Y = tf.reduce_sum(X, 1, keepdims=True)
optimizer = tf.keras.optimizers.SGD(0.05)

for step in range(4):
    with tf.GradientTape() as tape:
        h = X @ binarize(W)
        h = gated(log1pexp(h))
        out = scale_gradient(h, 0.5) @ V
        loss = tf.reduce_mean(tf.math.squared_difference(out, Y))
    grads = tape.gradient(loss, [W, gate, V])
    if step == 0:
        for name, g in zip(("W", "gate", "V"), grads):
            g = g.numpy().astype(np.float64)
            print("grad", name, float(g.sum()), float(np.linalg.norm(g)))
    optimizer.apply_gradients(zip(grads, [W, gate, V]))
    print("step", step, float(loss))
