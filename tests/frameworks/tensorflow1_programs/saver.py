"""Train, save, restore into a fresh session, go on; checkpoints with tf.train.Saver."""
import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

n = np.arange(12, dtype=np.float32)
xs = (n - 6) / 6
ys = 3 * xs ** 2 - 2 * xs + 1

with tf.Graph().as_default():
    x = tf.placeholder(tf.float32, name="x")
    y = tf.placeholder(tf.float32, name="y")
    coefficients = tf.get_variable("coefficients", shape=[3], initializer=tf.zeros_initializer())
    powers = tf.stack([tf.ones_like(x), x, x * x])
    prediction = tf.reduce_sum(powers * tf.expand_dims(coefficients, 1), 0, name="prediction")
    loss = tf.reduce_mean(tf.square(prediction - y), name="loss")
    global_step = tf.Variable(0, trainable=False, name="global_step")
    train_op = tf.train.RMSPropOptimizer(0.1).minimize(loss, global_step=global_step)
    saver = tf.train.Saver(max_to_keep=2)

    directory = tempfile.mkdtemp()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            _, l = sess.run([train_op, loss], {x: xs, y: ys})
            print("step", int(global_step.eval()), "loss", float(l))
        path = saver.save(sess, os.path.join(directory, "model.ckpt"), global_step=global_step)
        print("saved", os.path.basename(path))

    with tf.Session() as sess:
        saver.restore(sess, path)
        print("restored at", int(sess.run(global_step)), sess.run(coefficients).tolist())
        for _ in range(2):
            _, l = sess.run([train_op, loss], {x: xs, y: ys})
            print("loss", float(l))
        print(sess.run("prediction:0", {"x:0": xs[:2]}).tolist())
