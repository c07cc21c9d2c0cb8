"""A network that goes NaN, defined first and run later: TensorFlow's tutorial on debugging, over data/digits.npz.

`graphscope debug samples/digits_session.py` and tfdbg's own commands find the node where it begins:
docs/tutorial/5-sessions.md. With `--fixed` it learns.
"""

import pathlib
import sys

import numpy as np

import graphscope.static as tf

STEPS = 10

with np.load(pathlib.Path(__file__).parent / "data" / "digits.npz") as file:
    images = file["images"].reshape(-1, 64) / np.float32(16)
    labels = np.eye(10, dtype=np.float32)[file["labels"]]
train, test = slice(0, 1400), slice(1400, 1797)

pixels = tf.placeholder(tf.float32, [None, 64], name="pixels")
truth = tf.placeholder(tf.float32, [None, 10], name="truth")


def dense(x, inputs, outputs, name, seed):
    with tf.name_scope(name):
        weights = tf.Variable(tf.truncated_normal([inputs, outputs], stddev=0.1, seed=seed), name="weights")
        bias = tf.Variable(tf.zeros([outputs]), name="bias")
        return tf.add(tf.matmul(x, weights, name="product"), bias, name="sum")


hidden = tf.nn.relu(dense(pixels, 64, 500, "hidden", seed=42), name="activation")
logits = dense(hidden, 500, 10, "logits", seed=43)
guess = tf.nn.softmax(logits, name="guess")

with tf.name_scope("cross_entropy"):
    if "--fixed" in sys.argv:
        each = tf.nn.softmax_cross_entropy_with_logits(labels=truth, logits=logits)
    else:
        each = tf.negative(tf.multiply(truth, tf.log(guess, name="log"), name="product"))
    loss = tf.reduce_mean(each, name="loss")

step = tf.train.AdamOptimizer(0.1).minimize(loss)
right = tf.equal(tf.argmax(guess, 1), tf.argmax(truth, 1))
accuracy = tf.reduce_mean(tf.cast(right, tf.float32), name="accuracy")

with tf.Session() as session:
    for number in range(STEPS):
        seen = session.run(accuracy, {pixels: images[test], truth: labels[test]})
        print(f"accuracy before step {number}: {seen:.3f}")
        session.run(step, {pixels: images[train], truth: labels[train]})

print("Question: which node is the first to hold an infinite number, and what was it given?")
