"""tf.function with loops and branches that autograph turns into graph ops."""
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(11)


class Cell(tf.Module):
    def __init__(self, size, name=None):
        super().__init__(name=name)
        self.kernel = tf.Variable(tf.random.normal((size + 1, size), stddev=0.4), name="kernel")
        self.bias = tf.Variable(tf.zeros(size), name="bias")
        self.out = tf.Variable(tf.random.normal((size, 1), stddev=0.4), name="out")

    @tf.function
    def __call__(self, sequence):
        h = tf.zeros((tf.shape(sequence)[1], self.bias.shape[0]))
        for t in tf.range(tf.shape(sequence)[0]):
            x = sequence[t]
            if tf.reduce_mean(x) > 0:
                h = tf.tanh(tf.concat([x, h], 1) @ self.kernel + self.bias)
            else:
                h = 0.5 * h
        return h @ self.out


@tf.function
def collatz_length(n):
    turns = tf.constant(0)
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        turns += 1
        if turns > 100:
            break
    return turns


cell = Cell(6)
sequence = tf.random.normal((5, 3, 1))
target = tf.reduce_sum(sequence, axis=0)


@tf.function
def train(lr):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((cell(sequence) - target) ** 2)
    grads = tape.gradient(loss, [cell.kernel, cell.bias, cell.out])
    for v, g in zip([cell.kernel, cell.bias, cell.out], grads):
        v.assign_sub(lr * g)
    return loss, grads


for step in range(3):
    loss, grads = train(tf.constant(0.1))
    if step == 0:
        for n, g in zip(["kernel", "bias", "out"], grads):
            g = g.numpy().astype(np.float64)
            print("grad", n, float(g.sum()), float(np.linalg.norm(g)))
    tf.print("step", step, "of 3")
    print("loss", float(loss))
print("collatz", int(collatz_length(tf.constant(27))), int(collatz_length(tf.constant(6))))
