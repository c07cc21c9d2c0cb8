"""MNIST for beginners, on digits made up here."""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

rng = np.random.RandomState(0)
prototypes = rng.rand(10, 64)


def next_batch(n):
    digits = rng.randint(0, 10, n)
    images = (prototypes[digits] + 0.3 * rng.rand(n, 64)).astype(np.float32)
    return images, np.eye(10, dtype=np.float32)[digits]


# Create the model
x = tf.placeholder(tf.float32, [None, 64])
W = tf.Variable(tf.zeros([64, 10]))
b = tf.Variable(tf.zeros([10]))
y = tf.matmul(x, W) + b

# Define loss and optimizer
y_ = tf.placeholder(tf.float32, [None, 10])
cross_entropy = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y_, logits=y))
train_step = tf.train.GradientDescentOptimizer(0.5).minimize(cross_entropy)

correct_prediction = tf.equal(tf.argmax(y, 1), tf.argmax(y_, 1))
accuracy = tf.reduce_mean(tf.cast(correct_prediction, tf.float32))

sess = tf.InteractiveSession()
tf.global_variables_initializer().run()
# Train
for i in range(4):
    batch_xs, batch_ys = next_batch(20)
    _, loss = sess.run([train_step, cross_entropy], feed_dict={x: batch_xs, y_: batch_ys})
    print("step", i, "loss", float(loss))

# Test trained model
test_xs, test_ys = next_batch(50)
print("accuracy", float(accuracy.eval(feed_dict={x: test_xs, y_: test_ys})))
w = sess.run(W).astype(np.float64)
print("W", float(w.sum()), float(np.linalg.norm(w)))
