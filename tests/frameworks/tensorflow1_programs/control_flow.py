"""tf.while_loop, tf.cond and tf.case: learning the rate of a recurrence through the loop's gradient."""
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

rate = tf.Variable(0.5, name="rate", dtype=tf.float32)
offset = tf.Variable([0.1, -0.2], name="offset", dtype=tf.float32)
start = tf.placeholder(tf.float32, [2], name="start")
turns = tf.placeholder(tf.int32, [], name="turns")
target = tf.constant([1.0, 0.25], name="target")


def condition(i, state):
    return i < turns


def body(i, state):
    pulled = tf.tanh(rate * state + offset)
    state = tf.cond(tf.reduce_sum(state) > 0.5, lambda: pulled, lambda: pulled + 0.3)
    return [i + 1, state]


count, final = tf.while_loop(condition, body, [tf.constant(0), start])
error = tf.reduce_sum(tf.squared_difference(final, target), name="error")
gradients = tf.gradients(error, [rate, offset])
step_size = tf.case([(tf.less(error, 0.5), lambda: tf.constant(0.05)), (tf.less(error, 2.0), lambda: tf.constant(0.1))],
                    default=lambda: tf.constant(0.2), exclusive=False)
update = tf.group(
    tf.assign_sub(rate, step_size * gradients[0]),
    tf.assign_sub(offset, step_size * gradients[1]),
    name="update",
)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    feed = {start: np.array([0.4, 0.9], np.float32), turns: 5}
    for step in range(4):
        value, (d_rate, d_offset), n = sess.run([error, gradients, count], feed_dict=feed)
        if step == 0:
            print("grad rate", float(d_rate), abs(float(d_rate)))
            wide = d_offset.astype(np.float64)
            print("grad offset", float(wide.sum()), float(np.linalg.norm(wide)))
        sess.run(update, feed_dict=feed)
        print("step", step, "error", float(value), "after", int(n), "turns")
        print("d_rate", float(d_rate), "d_offset", [float(d) for d in d_offset])
    print("other length", sess.run(final, {start: [0.0, 0.0], turns: 2}).tolist())
    print("rate", float(sess.run(rate)))
