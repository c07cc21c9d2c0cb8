"""Trainings with TensorFlow and Keras that are sick, as people write them, and each cured: `NAME(sick)` trains."""

import keras
import numpy as np
import tensorflow as tf


def data(count=64, width=4):
    keras.utils.set_random_seed(0)
    x = np.random.default_rng(0).standard_normal((count, width)).astype("float32")
    return x, (x @ np.array([[1.0], [-2.0], [0.5], [3.0]], "float32")[:width]).astype("float32")


def classes(count=64, width=4):
    x, y = data(count, width)
    return x, (y[:, 0] > 0).astype("int32")


def nan_by_log(sick):
    x, labels = classes()
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(2)])
    optimizer = keras.optimizers.SGD(0.1)
    for _ in range(8):
        with tf.GradientTape() as tape:
            scores = tf.nn.relu(model(x))
            p = scores if sick else tf.nn.softmax(scores)
            chosen = tf.gather(p, labels, batch_dims=1)
            loss = -tf.reduce_mean(tf.math.log(chosen))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))


def exploding_by_rate(sick):
    x, y = data()
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(learning_rate=3.0 if sick else 0.05), "mse")
    model.fit(x, y, batch_size=16, epochs=4, shuffle=False, verbose=0)


def rate_too_small(sick):
    x, y = data()
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(learning_rate=1e-9 if sick else 0.05), "mse")
    model.fit(x, y, batch_size=16, epochs=6, shuffle=False, verbose=0)


def wrong_sign(sick):
    x, y = data()
    w = tf.Variable(tf.zeros([4, 1]), name="w")
    for _ in range(12):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.matmul(x, w) - y) ** 2)
        grad = tape.gradient(loss, w)
        if sick:
            w.assign_add(0.05 * grad)
        else:
            w.assign_sub(0.05 * grad)


def zero_init(sick):
    x, y = data()
    initializer = "zeros" if sick else "glorot_uniform"
    hidden = keras.layers.Dense(8, activation="relu", kernel_initializer=initializer)
    out = keras.layers.Dense(1, kernel_initializer=initializer)
    model = keras.Sequential([keras.Input((4,)), hidden, out])
    model.compile("sgd", "mse")
    model.fit(x, y, batch_size=16, epochs=3, shuffle=False, verbose=0)


def dead_relu(sick):
    x, y = data()
    bias = keras.initializers.Constant(-50.0 if sick else 0.0)
    hidden = keras.layers.Dense(8, activation="relu", bias_initializer=bias)
    model = keras.Sequential([keras.Input((4,)), hidden, keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.01), "mse")
    model.fit(x, y, batch_size=16, epochs=4, shuffle=False, verbose=0)


def double_softmax(sick):
    x, labels = classes()
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(2)])
    optimizer = keras.optimizers.SGD(0.1)
    for _ in range(8):
        with tf.GradientTape() as tape:
            scores = model(x)
            if sick:
                scores = tf.nn.softmax(scores)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, scores))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))


def broadcast_loss(sick):
    x, y = data()
    y = y[:, 0] if sick else y
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
    optimizer = keras.optimizers.SGD(0.05)
    for _ in range(8):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
