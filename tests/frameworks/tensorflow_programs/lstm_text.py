"""Sentiment of padded sequences: Embedding with mask, bidirectional LSTM and GRU, compile and fit."""
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(29)

reviews = [[3, 7, 2], [5, 1, 1, 8], [9, 2], [4, 4, 6, 1, 2], [8, 8, 3], [2, 5, 9, 9]]
x = tf.keras.utils.pad_sequences(reviews, maxlen=5, padding="post")
y = np.array([1, 0, 1, 0, 0, 1], dtype="float32")

model = tf.keras.Sequential()
model.add(tf.keras.Input(shape=(5,)))
model.add(tf.keras.layers.Embedding(10, 4, mask_zero=True, name="embedding"))
model.add(tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(3, return_sequences=True), name="bi"))
model.add(tf.keras.layers.GRU(4, name="gru"))
model.add(tf.keras.layers.Dense(1, activation="sigmoid", name="out"))
model.compile(loss="binary_crossentropy", optimizer=tf.keras.optimizers.Adam(0.01))

with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.keras.losses.binary_crossentropy(y[:, None], model(x, training=True)))
grads = tape.gradient(loss, model.trainable_variables)
for v, g in zip(model.trainable_variables, grads):
    g = tf.convert_to_tensor(g).numpy().astype(np.float64)
    print("grad", v.path, float(g.sum()), float(np.linalg.norm(g)))

h = model.fit(x, y, epochs=2, batch_size=3, shuffle=False, verbose=0)
print(h.history["loss"])
print(model.predict_on_batch(x[:2]).ravel().tolist())
