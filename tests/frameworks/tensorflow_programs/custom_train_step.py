"""Overriding train_step of keras.Model, with gradient accumulation into a moving norm."""
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(5)


class CustomModel(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense1 = keras.layers.Dense(10, activation="gelu", name="dense1")
        self.dense2 = keras.layers.Dense(1, name="dense2")
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.norm_tracker = keras.metrics.Mean(name="gradient_norm")

    def call(self, inputs, training=False):
        return self.dense2(self.dense1(inputs))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = tf.reduce_mean(tf.abs(y - y_pred))
        trainable_vars = self.trainable_variables
        gradients = tape.gradient(loss, trainable_vars)
        gradients, norm = tf.clip_by_global_norm(gradients, 0.5)
        self.optimizer.apply_gradients(zip(gradients, trainable_vars))
        self.loss_tracker.update_state(loss)
        self.norm_tracker.update_state(norm)
        return {m.name: m.result() for m in self.metrics}

    @property
    def metrics(self):
        return [self.loss_tracker, self.norm_tracker]


x = np.random.random((30, 5)).astype("float32")
y = (x.sum(axis=1, keepdims=True) ** 2).astype("float32")
model = CustomModel()
model.compile(optimizer=keras.optimizers.SGD(0.05, momentum=0.9))

with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.abs(y - model(x)))
for variable, g in zip(model.trainable_variables, tape.gradient(loss, model.trainable_variables)):
    g = np.asarray(g, np.float64)
    print("grad", variable.path, g.sum(), np.linalg.norm(g))

history = model.fit(x, y, epochs=3, batch_size=30, verbose=0)
for key, values in history.history.items():
    print(key, [float(v) for v in values])
