"""Regression with raw variables, a gradient tape and hand-written SGD."""
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)

x = tf.random.normal((48, 3))
noise = tf.random.normal((48, 1), stddev=0.1)
y = x @ tf.constant([[1.0], [-2.0], [0.5]]) + 0.3 + noise

w1 = tf.Variable(tf.random.normal((3, 8), stddev=0.5), name="w1")
b1 = tf.Variable(tf.zeros(8), name="b1")
w2 = tf.Variable(tf.random.normal((8, 1), stddev=0.5), name="w2")
b2 = tf.Variable(tf.zeros(1), name="b2")
variables = [w1, b1, w2, b2]

learning_rate = 0.05
for step in range(4):
    with tf.GradientTape() as tape:
        hidden = tf.nn.relu(tf.matmul(x, w1) + b1)
        prediction = tf.matmul(hidden, w2) + b2
        loss = tf.reduce_mean(tf.square(prediction - y))
    grads = tape.gradient(loss, variables)
    if step == 0:
        for name, g in zip(["w1", "b1", "w2", "b2"], grads):
            g = g.numpy().astype(np.float64)
            print("grad", name, float(g.sum()), float(np.linalg.norm(g)))
    for v, g in zip(variables, grads):
        v.assign_sub(learning_rate * g)
    print("step", step, "loss", float(loss))
