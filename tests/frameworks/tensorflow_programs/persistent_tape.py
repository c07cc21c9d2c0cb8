"""One persistent tape, several losses; watched tensors, jacobian, stop_recording."""
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(13)

x = tf.constant(np.linspace(-1, 1, 12, dtype=np.float32)[:, None])
shared = tf.Variable(tf.random.normal((1, 7)), name="shared")
head_a = tf.Variable(tf.random.normal((7, 1)) * 0.3, name="head_a")
head_b = tf.Variable(tf.random.normal((7, 1)) * 0.3, name="head_b")

for step in range(3):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        features = tf.sin(x @ shared)
        a = features @ head_a
        b = tf.nn.sigmoid(features @ head_b)
        loss_a = tf.reduce_mean((a - x ** 2) ** 2)
        loss_b = tf.reduce_mean(tf.keras.losses.binary_crossentropy(tf.cast(x > 0, tf.float32), b))
        with tape.stop_recording():
            spread = tf.math.reduce_std(features)
    ga = tape.gradient(loss_a, [shared, head_a])
    gb = tape.gradient(loss_b, [shared, head_b])
    slope = tape.gradient(a, x)
    del tape
    if step == 0:
        named = [("a.shared", ga[0]), ("head_a", ga[1]), ("b.shared", gb[0]), ("head_b", gb[1]), ("x", slope)]
        for name, g in named:
            g = g.numpy().astype(np.float64)
            print("grad", name, float(g.sum()), float(np.linalg.norm(g)))
    shared.assign_sub(0.1 * (ga[0] + gb[0]))
    head_a.assign_sub(0.1 * ga[1])
    head_b.assign_sub(0.1 * gb[1])
    print(step, float(loss_a), float(loss_b), float(spread))

with tf.GradientTape() as tape:
    y = tf.squeeze(tf.sin(x[:4] @ shared) @ head_a)
print("jacobian", float(tf.reduce_sum(tf.abs(tape.jacobian(y, head_a)))))
