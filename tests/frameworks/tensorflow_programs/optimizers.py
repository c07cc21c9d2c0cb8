"""The same small problem under many optimizers: schedules, weight decay, averaging, clipping."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import optimizers as opts

tf.keras.utils.set_random_seed(47)
A = tf.random.normal((10, 4))
b = tf.random.normal((10, 1))
start = tf.random.normal((4, 1))


def train(optimizer, show=False):
    w = tf.Variable(start, name="weights")
    for step in range(2):
        with tf.GradientTape() as tape:
            loss = tf.nn.l2_loss(A @ w - b) / 10
        (g,) = tape.gradient(loss, [w])
        if show and step == 0:
            d = g.numpy().astype(np.float64)
            print("grad weights", float(d.sum()), float(np.linalg.norm(d)))
        optimizer.apply_gradients([(g, w)])
    return float(loss), w.numpy().ravel().tolist()


decay = opts.schedules.ExponentialDecay(0.1, decay_steps=1, decay_rate=0.9)
for i, optimizer in enumerate(
    [
        opts.SGD(decay),
        opts.SGD(0.1, momentum=0.9, nesterov=True),
        opts.RMSprop(0.05, centered=True),
        opts.Adagrad(0.1),
        opts.Adadelta(1.0),
        opts.Adam(0.1, amsgrad=True),
        opts.AdamW(0.1, weight_decay=0.01),
        opts.Nadam(0.1, clipnorm=1.0),
        opts.Ftrl(0.1),
        opts.Lion(0.01),
    ]
):
    loss, w = train(optimizer, show=i == 0)
    print(type(optimizer).__name__, loss, w)
