"""Keras in three lines: Sequential, compile, fit."""
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(1)

rng = np.random.RandomState(0)
x_train = rng.rand(32, 12).astype("float32")
y_train = rng.randint(0, 4, 32)

model = keras.Sequential(
    [
        keras.Input(shape=(12,)),
        layers.Dense(16, activation="relu", name="hidden"),
        layers.Dropout(0.2),
        layers.Dense(4, name="logits"),
    ]
)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(optimizer="adam", loss=loss_fn, metrics=["accuracy"])

# what the very first step would see without dropout
with tf.GradientTape() as tape:
    first = loss_fn(y_train, model(x_train, training=False))
for v, g in zip(model.trainable_variables, tape.gradient(first, model.trainable_variables)):
    g = g.numpy().astype("float64")
    print("grad", v.path, float(g.sum()), float(np.linalg.norm(g)))

history = model.fit(x_train, y_train, batch_size=16, epochs=2, shuffle=False, verbose=0)
print("loss", history.history["loss"])
print("evaluate", model.evaluate(x_train, y_train, verbose=0))
print("predict", model.predict(x_train[:2], verbose=0).tolist())
