"""Functional API: two inputs, shared layer, two outputs, run eagerly."""
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(2)

title = keras.Input(shape=(6,), dtype="int32", name="title")
tags = keras.Input(shape=(4,), name="tags")

embedded = keras.layers.Embedding(20, 5, name="words")(title)
pooled = keras.layers.GlobalAveragePooling1D()(embedded)
x = keras.layers.concatenate([pooled, tags])
x = keras.layers.Dense(8, activation="tanh", name="shared")(x)
priority = keras.layers.Dense(1, name="priority")(x)
department = keras.layers.Dense(3, activation="softmax", name="department")(x)
model = keras.Model(inputs=[title, tags], outputs=[priority, department])

rng = np.random.RandomState(3)
inputs = [rng.randint(0, 20, (10, 6)).astype("int32"), rng.rand(10, 4).astype("float32")]
wanted = rng.rand(10, 1).astype("float32")
labels = keras.utils.to_categorical(rng.randint(0, 3, 10), 3)


def total_loss():
    p, d = model(inputs, training=True)
    mse = keras.losses.MeanSquaredError()(wanted, p)
    return mse + 0.5 * keras.losses.CategoricalCrossentropy()(labels, d)


with tf.GradientTape() as tape:
    loss = total_loss()
for v, g in zip(model.trainable_variables, tape.gradient(loss, model.trainable_variables)):
    g = tf.convert_to_tensor(g).numpy().astype(np.float64)
    print("grad", v.path, float(g.sum()), float(np.linalg.norm(g)))

model.compile(
    optimizer=keras.optimizers.RMSprop(1e-2),
    loss={"priority": "mse", "department": "categorical_crossentropy"},
    loss_weights={"priority": 1.0, "department": 0.5},
    run_eagerly=True,
)
for epoch in range(2):
    result = model.train_on_batch(inputs, {"priority": wanted, "department": labels}, return_dict=True)
    print(epoch, {k: float(v) for k, v in sorted(result.items())})
