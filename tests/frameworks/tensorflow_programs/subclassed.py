"""The 'quickstart for experts': a subclassed model and a compiled train_step."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import Model
from tensorflow.keras.layers import Conv2D, Dense, Flatten

tf.keras.utils.set_random_seed(42)
x_train = np.random.rand(24, 8, 8, 1).astype("float32")
y_train = np.random.randint(0, 10, 24)
train_ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).batch(8)


class MyModel(Model):
    def __init__(self):
        super().__init__()
        self.conv1 = Conv2D(4, 3, activation="relu")
        self.flatten = Flatten()
        self.d1 = Dense(16, activation="relu")
        self.d2 = Dense(10)

    def call(self, x):
        x = self.conv1(x)
        x = self.flatten(x)
        x = self.d1(x)
        return self.d2(x)


model = MyModel()
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam()
train_loss = tf.keras.metrics.Mean(name="train_loss")
train_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="train_accuracy")


@tf.function
def train_step(images, labels):
    with tf.GradientTape() as tape:
        predictions = model(images, training=True)
        loss = loss_object(labels, predictions)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))

    train_loss(loss)
    train_accuracy(labels, predictions)
    return gradients


for n, (images, labels) in enumerate(train_ds):
    gradients = train_step(images, labels)
    if n == 0:
        for v, g in zip(model.trainable_variables, gradients):
            g = g.numpy().astype(np.float64)
            print(f"grad {v.path} {float(g.sum())!r} {float(np.linalg.norm(g))!r}")
    print(f"Batch {n}, Loss: {float(train_loss.result())!r}, Accuracy: {float(train_accuracy.result()) * 100:.2f}")
