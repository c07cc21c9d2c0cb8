"""tf.gradients and apply_gradients with clip_by_global_norm; summaries of gradients printed; control dependencies."""
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)

np.random.seed(0)
num_points = 20
x_data = np.random.normal(0.0, 0.55, num_points).astype(np.float32)
y_data = x_data * 0.1 + 0.3 + np.random.normal(0.0, 0.03, num_points).astype(np.float32)

graph = tf.Graph()
with graph.as_default():
    with tf.name_scope("model"):
        W = tf.Variable([0.8], name="W", dtype=tf.float32)
        b = tf.Variable(tf.zeros([1]), name="b")
        y = W * x_data + b
    with tf.name_scope("loss"):
        residual = y - y_data
        huber = tf.where(tf.abs(residual) < 0.1, 0.5 * tf.square(residual), 0.1 * (tf.abs(residual) - 0.05))
        loss = tf.reduce_mean(huber, name="value")
    with tf.name_scope("train"):
        optimizer = tf.train.GradientDescentOptimizer(learning_rate=0.5)
        tvars = tf.trainable_variables()
        raw = tf.gradients(loss, tvars)
        grads, norm = tf.clip_by_global_norm(raw, 0.05)
        train = optimizer.apply_gradients(zip(grads, tvars))
        averaged = tf.Variable([0.0], trainable=False, name="averaged_W")
        with tf.control_dependencies([train]):
            keep_average = tf.assign(averaged, 0.9 * averaged + 0.1 * W.read_value())
    init = tf.global_variables_initializer()

with tf.Session(graph=graph) as sess:
    sess.run(init)
    for step in range(4):
        value, n, dW, db = sess.run([loss, norm] + raw)
        if step == 0:
            print("grad W", float(dW[0]), abs(float(dW[0])))
            print("grad b", float(db[0]), abs(float(db[0])))
        sess.run(keep_average)
        print(step, "loss", float(value), "norm", float(n), "dW", float(dW[0]), "db", float(db[0]))
        print(step, "W", sess.run(W).tolist(), "b", sess.run(b).tolist())
    print("averaged", sess.run(averaged).tolist())
