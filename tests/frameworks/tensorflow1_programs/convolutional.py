"""Deep MNIST for experts: helpers, name scopes, dropout by a placeholder (on tiny images)."""
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.set_random_seed(7)
np.random.seed(7)


def weight_variable(shape):
    initial = np.clip(np.random.normal(0, 0.1, shape), -0.2, 0.2)
    return tf.Variable(initial.astype(np.float32), name="weights")


def bias_variable(shape):
    initial = tf.constant(0.1, shape=shape)
    return tf.Variable(initial, name="biases")


def conv2d(x, W):
    return tf.nn.conv2d(x, W, strides=[1, 1, 1, 1], padding='SAME')


def max_pool_2x2(x):
    return tf.nn.max_pool(x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME')


x = tf.placeholder(tf.float32, [None, 64], name='x')
y_ = tf.placeholder(tf.int64, [None], name='y_')
keep_prob = tf.placeholder(tf.float32, name='keep_prob')

with tf.name_scope('reshape'):
    x_image = tf.reshape(x, [-1, 8, 8, 1])

with tf.name_scope('conv1'):
    W_conv1 = weight_variable([3, 3, 1, 4])
    b_conv1 = bias_variable([4])
    h_conv1 = tf.nn.relu(conv2d(x_image, W_conv1) + b_conv1)
    h_pool1 = max_pool_2x2(h_conv1)

with tf.name_scope('fc1'):
    W_fc1 = weight_variable([4 * 4 * 4, 12])
    b_fc1 = bias_variable([12])
    h_flat = tf.reshape(h_pool1, [-1, 4 * 4 * 4])
    h_fc1 = tf.nn.relu(tf.matmul(h_flat, W_fc1) + b_fc1)

with tf.name_scope('dropout'):
    h_fc1_drop = tf.nn.dropout(h_fc1, keep_prob)

with tf.name_scope('fc2'):
    W_fc2 = weight_variable([12, 3])
    b_fc2 = bias_variable([3])
    y_conv = tf.matmul(h_fc1_drop, W_fc2) + b_fc2

with tf.name_scope('loss'):
    cross_entropy = tf.losses.sparse_softmax_cross_entropy(labels=y_, logits=y_conv)

with tf.name_scope('adam_optimizer'):
    train_step = tf.train.AdamOptimizer(1e-2).minimize(cross_entropy)

with tf.name_scope('accuracy'):
    correct_prediction = tf.cast(tf.equal(tf.argmax(y_conv, 1), y_), tf.float32)
    accuracy = tf.reduce_mean(correct_prediction)

images = np.random.rand(12, 64).astype(np.float32)
labels = np.random.randint(0, 3, 12)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(3):
        train_accuracy, loss = sess.run([accuracy, cross_entropy], feed_dict={x: images, y_: labels, keep_prob: 1.0})
        print('step %d, training accuracy %g, loss %r' % (i, train_accuracy, float(loss)))
        train_step.run(feed_dict={x: images, y_: labels, keep_prob: 1.0})
    dropped = sess.run(h_fc1_drop, feed_dict={x: images, keep_prob: 0.5})
    kept = sess.run(h_fc1, feed_dict={x: images})
    # what dropout kept is doubled, whichever units that were
    print('dropout doubles:', bool(np.all(np.isclose(dropped, 0) | np.isclose(dropped, 2 * kept, rtol=1e-4))))
