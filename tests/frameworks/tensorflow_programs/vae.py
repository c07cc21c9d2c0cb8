"""Variational autoencoder with a Sampling layer and its own train_step (after the Keras example)."""
import os

os.environ["KERAS_BACKEND"] = "tensorflow"

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

keras.utils.set_random_seed(37)


class Sampling(layers.Layer):
    """Uses (z_mean, z_log_var) to sample z."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.seed_generator = keras.random.SeedGenerator(1337)

    def call(self, inputs):
        z_mean, z_log_var = inputs
        epsilon = keras.random.normal(shape=ops.shape(z_mean), seed=self.seed_generator)
        return z_mean + ops.exp(0.5 * z_log_var) * epsilon


latent_dim = 2
encoder_inputs = keras.Input(shape=(16,))
x = layers.Dense(12, activation="relu", name="enc")(encoder_inputs)
z_mean = layers.Dense(latent_dim, name="z_mean")(x)
z_log_var = layers.Dense(latent_dim, name="z_log_var")(x)
z = Sampling()([z_mean, z_log_var])
encoder = keras.Model(encoder_inputs, [z_mean, z_log_var, z], name="encoder")

latent_inputs = keras.Input(shape=(latent_dim,))
x = layers.Dense(12, activation="relu", name="dec")(latent_inputs)
decoder = keras.Model(latent_inputs, layers.Dense(16, activation="sigmoid", name="pixels")(x), name="decoder")


class VAE(keras.Model):
    def __init__(self, encoder, decoder, **kwargs):
        super().__init__(**kwargs)
        self.encoder = encoder
        self.decoder = decoder
        self.total_loss_tracker = keras.metrics.Mean(name="total_loss")
        self.kl_loss_tracker = keras.metrics.Mean(name="kl_loss")

    @property
    def metrics(self):
        return [self.total_loss_tracker, self.kl_loss_tracker]

    def losses_of(self, data):
        z_mean, z_log_var, z = self.encoder(data)
        reconstruction = self.decoder(z)
        reconstruction_loss = ops.mean(keras.losses.binary_crossentropy(data, reconstruction)) * 16
        kl_loss = -0.5 * (1 + z_log_var - ops.square(z_mean) - ops.exp(z_log_var))
        kl_loss = ops.mean(ops.sum(kl_loss, axis=1))
        return reconstruction_loss + kl_loss, kl_loss

    def train_step(self, data):
        with tf.GradientTape() as tape:
            total_loss, kl_loss = self.losses_of(data)
        grads = tape.gradient(total_loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
        self.total_loss_tracker.update_state(total_loss)
        self.kl_loss_tracker.update_state(kl_loss)
        return {"loss": self.total_loss_tracker.result(), "kl_loss": self.kl_loss_tracker.result()}


data = (np.random.rand(24, 16) > 0.5).astype("float32")
vae = VAE(encoder, decoder)
with tf.GradientTape() as tape:
    loss, _ = vae.losses_of(data)
for v, g in zip(vae.trainable_weights, tape.gradient(loss, vae.trainable_weights)):
    g = g.numpy().astype(np.float64)
    print("grad", v.path, float(g.sum()), float(np.linalg.norm(g)))

vae.compile(optimizer=keras.optimizers.Adam(1e-2))
history = vae.fit(data, epochs=2, batch_size=12, shuffle=False, verbose=0)
print("loss", [float(v) for v in history.history["loss"]], "kl", [float(v) for v in history.history["kl_loss"]])
print("decoded", float(np.sum(decoder.predict(np.zeros((1, 2)), verbose=0))))
