""" Multilayer Perceptron with Adam, weights in dictionaries, in the manner of the tutorials of 2017. """
from __future__ import print_function

import numpy as np
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

tf.set_random_seed(1234)

# Parameters
learning_rate = 0.01
training_epochs = 2
batch_size = 10
display_step = 1

# Network Parameters
n_hidden_1 = 16
n_hidden_2 = 12
num_input = 20
num_classes = 4

rng = np.random.RandomState(3)
train_x = rng.randn(30, num_input).astype(np.float32)
train_y = np.eye(num_classes)[np.argmax(train_x[:, :num_classes], 1)]

# tf Graph input
X = tf.placeholder("float", [None, num_input], name="X")
Y = tf.placeholder("float", [None, num_classes], name="Y")

# Store layers weight & bias
weights = {
    'h1': tf.Variable(rng.normal(0, 0.3, (num_input, n_hidden_1)), dtype=tf.float32, name="h1"),
    'h2': tf.Variable(rng.normal(0, 0.3, (n_hidden_1, n_hidden_2)), dtype=tf.float32, name="h2"),
    'out': tf.Variable(rng.normal(0, 0.3, (n_hidden_2, num_classes)), dtype=tf.float32, name="out")
}
biases = {
    'b1': tf.Variable(tf.zeros([n_hidden_1]), name="b1"),
    'b2': tf.Variable(tf.zeros([n_hidden_2]), name="b2"),
    'out': tf.Variable(tf.zeros([num_classes]), name="b_out")
}


# Create model
def multilayer_perceptron(x):
    layer_1 = tf.nn.relu(tf.add(tf.matmul(x, weights['h1']), biases['b1']))
    layer_2 = tf.nn.sigmoid(tf.add(tf.matmul(layer_1, weights['h2']), biases['b2']))
    out_layer = tf.matmul(layer_2, weights['out']) + biases['out']
    return out_layer


# Construct model
logits = multilayer_perceptron(X)
loss_op = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(logits=logits, labels=Y))
optimizer = tf.train.AdamOptimizer(learning_rate=learning_rate)
train_op = optimizer.minimize(loss_op)
init = tf.global_variables_initializer()

with tf.Session() as sess:
    sess.run(init)

    # Training cycle
    for epoch in range(training_epochs):
        avg_cost = 0.
        total_batch = int(len(train_x) / batch_size)
        for i in range(total_batch):
            batch_x = train_x[i * batch_size:(i + 1) * batch_size]
            batch_y = train_y[i * batch_size:(i + 1) * batch_size]
            _, c = sess.run([train_op, loss_op], feed_dict={X: batch_x, Y: batch_y})
            avg_cost += c / total_batch
        if epoch % display_step == 0:
            print("Epoch:", '%04d' % (epoch + 1), "cost={!r}".format(float(avg_cost)))
    print("Optimization Finished!")

    # Test model
    pred = tf.nn.softmax(logits)  # Apply softmax to logits
    correct_prediction = tf.equal(tf.argmax(pred, 1), tf.argmax(Y, 1))
    accuracy = tf.reduce_mean(tf.cast(correct_prediction, "float"))
    print("Accuracy:", float(accuracy.eval({X: train_x, Y: train_y})))
