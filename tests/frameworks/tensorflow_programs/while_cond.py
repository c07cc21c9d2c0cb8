"""tf.while_loop, tf.cond, tf.case, tf.switch_case, tf.scan and TensorArray by hand, in graphs and eagerly."""
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(53)

rate = tf.Variable(0.9, name="rate")
mix = tf.Variable(tf.random.normal((3, 3), stddev=0.4), name="mix")
x0 = tf.constant([[0.5, -1.0, 2.0]])


def power_iterate(x, n):
    def cond(i, x):
        return tf.less(i, n)

    def body(i, x):
        x = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.tanh(x @ mix), lambda: rate * x + 0.1)
        return [i + 1, x]

    _, x = tf.while_loop(cond, body, [tf.constant(0), x], maximum_iterations=10)
    return x


def polynomial(x, degree):
    terms = tf.TensorArray(tf.float32, size=degree)
    term = tf.ones_like(x)
    for k in tf.range(degree):
        term = term * x * rate
        terms = terms.write(k, term)
    return tf.reduce_sum(terms.stack(), axis=0)


graph_iterate = tf.function(power_iterate)
graph_polynomial = tf.function(polynomial)


@tf.function
def choose(i, x):
    return tf.switch_case(i, [lambda: x, lambda: x ** 2, lambda: tf.sin(x)], default=lambda: -x)


for name, iterate, series in [("eager", power_iterate, polynomial), ("graph", graph_iterate, graph_polynomial)]:
    with tf.GradientTape() as tape:
        y = iterate(x0, 4)
        z = series(y, tf.constant(3))
        chosen = choose(tf.constant(2), z)
        carried = tf.scan(lambda a, e: 0.5 * a + e, tf.transpose(chosen))
        loss = tf.reduce_sum(carried ** 2)
    grads = tape.gradient(loss, [rate, mix])
    for n, g in zip(("rate", "mix"), grads):
        g = g.numpy().astype(np.float64)
        print("grad", n, float(g.sum()), float(np.linalg.norm(g)))
    rate.assign_sub(0.01 * grads[0])
    mix.assign_sub(0.01 * grads[1])
    print(name, "loss", float(loss))
print("case", float(tf.case([(rate < 0, lambda: tf.constant(-1.0))], default=lambda: rate * 2)))
