"""Custom layers with weights of their own, a regularisation loss inside a layer, nested layers."""
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(7)


class Linear(keras.layers.Layer):
    def __init__(self, units=32, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        self.w = self.add_weight(shape=(input_shape[-1], self.units), initializer="random_normal", trainable=True, name="w")
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", trainable=True, name="b")

    def call(self, inputs):
        return tf.matmul(inputs, self.w) + self.b


class ActivityRegularization(keras.layers.Layer):
    def call(self, inputs):
        self.add_loss(1e-2 * tf.reduce_mean(inputs ** 2))
        return inputs


class ComputeSum(keras.layers.Layer):
    """Non-trainable state."""

    def __init__(self, dim):
        super().__init__()
        self.total = self.add_weight(initializer="zeros", shape=(dim,), trainable=False)

    def call(self, inputs):
        self.total.assign_add(tf.reduce_sum(inputs, axis=0))
        return inputs


class MLPBlock(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.linear_1 = Linear(10)
        self.activity = ActivityRegularization()
        self.linear_2 = Linear(10)
        self.sums = ComputeSum(10)
        self.linear_3 = Linear(1)

    def call(self, inputs):
        x = self.linear_1(inputs)
        x = self.activity(tf.nn.relu(x))
        x = self.sums(self.linear_2(x))
        x = tf.nn.relu(x)
        return self.linear_3(x)


mlp = MLPBlock()
optimizer = keras.optimizers.SGD(learning_rate=0.5)
data = tf.random.uniform((20, 4), seed=3)
target = tf.reduce_max(data, axis=1, keepdims=True)

for step in range(3):
    with tf.GradientTape() as tape:
        y = mlp(data)
        loss = tf.reduce_mean((y - target) ** 2) + sum(mlp.losses)
    grads = tape.gradient(loss, mlp.trainable_weights)
    if step == 0:
        for weight, g in zip(mlp.trainable_weights, grads):
            g = g.numpy().astype("float64")
            print("grad", weight.path, float(g.sum()), float(np.linalg.norm(g)))
    optimizer.apply(grads, mlp.trainable_weights)
    print("step", step, float(loss), "activity", float(mlp.losses[0]))
print("sum", float(tf.reduce_sum(mlp.sums.total)))
