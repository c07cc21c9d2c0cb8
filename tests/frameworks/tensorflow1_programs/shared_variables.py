"""variable_scope, get_variable, AUTO_REUSE and reuse_variables: a siamese network; regularizers in a collection."""
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

WEIGHT_DECAY = 0.01
rng = np.random.RandomState(5)


def l2(weight):
    return WEIGHT_DECAY * tf.nn.l2_loss(weight)


def dense(x, units, name, activation=None):
    with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
        shape = [x.get_shape().as_list()[-1], units]
        init = tf.constant_initializer(np.linspace(-0.4, 0.5, shape[0] * units).reshape(shape))
        w = tf.get_variable("weights", shape, initializer=init)
        b = tf.get_variable("biases", [units], initializer=tf.zeros_initializer())
        out = tf.nn.bias_add(tf.matmul(x, w), b)
        return activation(out) if activation is not None else out


def tower(x):
    h = dense(x, 6, "layer1", tf.nn.tanh)
    return dense(h, 3, "layer2")


left = tf.placeholder(tf.float32, shape=(None, 4), name="left")
right = tf.placeholder(tf.float32, shape=(None, 4), name="right")
same = tf.placeholder(tf.float32, shape=(None,), name="same")

with tf.variable_scope("siamese") as scope:
    a = tower(left)
    scope.reuse_variables()
    b = tower(right)

for v in tf.trainable_variables():
    if v.op.name.endswith("weights"):
        tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, l2(v))

d2 = tf.reduce_sum(tf.square(a - b), axis=1)
margin = tf.maximum(0.0, 1.0 - tf.sqrt(d2 + 1e-6))
contrastive = tf.reduce_mean(same * d2 + (1.0 - same) * tf.square(margin), name="contrastive")
tf.add_to_collection("losses", contrastive)
regularization = tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES), name="regularization")
total_loss = tf.add_n(tf.get_collection("losses") + [regularization], name="total_loss")

with tf.variable_scope("training"):
    global_step = tf.get_variable("global_step", [], dtype=tf.int64, initializer=tf.zeros_initializer(), trainable=False)
    rate = tf.train.exponential_decay(0.2, global_step, 1, 0.9, staircase=True)
    train_op = tf.train.MomentumOptimizer(rate, 0.9).minimize(total_loss, global_step=global_step)

print([v.name for v in tf.global_variables() if "Momentum" not in v.name])
feed = {
    left: rng.randn(8, 4),
    right: rng.randn(8, 4),
    same: rng.randint(0, 2, 8),
}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(4):
        loss, reg, lr = sess.run([contrastive, regularization, rate], feed)
        sess.run(train_op, feed)
        step = tf.train.global_step(sess, global_step)
        print("step", int(step), "contrastive", float(loss), "regularization", float(reg), "rate", float(lr))
    graph = tf.get_default_graph()
    print(float(sess.run(graph.get_tensor_by_name("total_loss:0"), feed_dict=feed)))
