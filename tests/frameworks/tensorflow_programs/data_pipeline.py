"""tf.data: map, shuffle, batch, padded windows, prefetch; class weights and a validation set in fit."""
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(59)
AUTOTUNE = tf.data.AUTOTUNE

series = np.sin(np.arange(60, dtype=np.float32) / 3.0)


def windowed(values, size, batch):
    ds = tf.data.Dataset.from_tensor_slices(values)
    ds = ds.window(size + 1, shift=1, drop_remainder=True)
    ds = ds.flat_map(lambda w: w.batch(size + 1))
    ds = ds.map(lambda w: (w[:-1], w[-1:]), num_parallel_calls=AUTOTUNE, deterministic=True)
    ds = ds.shuffle(100, seed=3, reshuffle_each_iteration=False)
    return ds.batch(batch).prefetch(1)


train, valid = windowed(series[:40], 6, 12), windowed(series[40:], 6, 12)
normalize = tf.keras.layers.Normalization(axis=None)
normalize.adapt(series[:40])

model = tf.keras.Sequential(
    [
        tf.keras.Input((6,)),
        normalize,
        tf.keras.layers.Reshape((6, 1)),
        tf.keras.layers.Conv1D(4, 3, activation="relu", name="conv"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(1, name="dense"),
    ]
)
huber = tf.keras.losses.Huber()
optimizer = tf.keras.optimizers.Adam(0.02)

# one epoch by hand ...
for i, (x, y) in enumerate(train):
    with tf.GradientTape() as tape:
        loss = huber(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    if i == 0:
        for v, g in zip(model.trainable_variables, grads):
            g = g.numpy().astype(np.float64)
            print("grad", v.path, float(g.sum()), float(np.linalg.norm(g)))
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    print("batch", i, x.shape, float(loss))

# ... and one by Keras
model.compile(optimizer=optimizer, loss=huber, metrics=["mae"])
history = model.fit(train, validation_data=valid, epochs=1, verbose=0)
print({k: [float(e) for e in v] for k, v in sorted(history.history.items())})
