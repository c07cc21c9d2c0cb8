"""WGAN-GP critic and generator: a tape inside a tape."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(17)
BATCH, LATENT = 8, 3

generator = tf.keras.Sequential([layers.Input((LATENT,)), layers.Dense(8, activation="relu"), layers.Dense(2)], name="generator")
critic = tf.keras.Sequential([layers.Input((2,)), layers.Dense(12), layers.LeakyReLU(0.2), layers.Dense(1)], name="critic")
g_optimizer = tf.keras.optimizers.Adam(1e-2, beta_1=0.5)
c_optimizer = tf.keras.optimizers.Adam(1e-2, beta_1=0.5)


def gradient_penalty(real, fake):
    alpha = tf.random.uniform((BATCH, 1))
    mixed = alpha * real + (1 - alpha) * fake
    with tf.GradientTape() as gp_tape:
        gp_tape.watch(mixed)
        pred = critic(mixed, training=True)
    grads = gp_tape.gradient(pred, mixed)
    norm = tf.sqrt(tf.reduce_sum(tf.square(grads), axis=1))
    return tf.reduce_mean((norm - 1.0) ** 2)


def train_critic(real):
    noise = tf.random.normal((BATCH, LATENT))
    with tf.GradientTape() as tape:
        fake = generator(noise, training=True)
        cost = tf.reduce_mean(critic(fake, training=True)) - tf.reduce_mean(critic(real, training=True))
        gp = gradient_penalty(real, fake)
        loss = cost + 10.0 * gp
    grads = tape.gradient(loss, critic.trainable_variables)
    c_optimizer.apply_gradients(zip(grads, critic.trainable_variables))
    return loss, gp, grads


def train_generator():
    noise = tf.random.normal((BATCH, LATENT))
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(critic(generator(noise, training=True), training=True))
    grads = tape.gradient(loss, generator.trainable_variables)
    g_optimizer.apply_gradients(zip(grads, generator.trainable_variables))
    return loss, grads


data = tf.random.normal((3 * BATCH, 2)) * 0.2 + [[2.0, -1.0]]
for i in range(3):
    c_loss, gp, c_grads = train_critic(data[i * BATCH : (i + 1) * BATCH])
    g_loss, g_grads = train_generator()
    if i == 0:
        for v, g in zip(critic.trainable_variables + generator.trainable_variables, c_grads + g_grads):
            if g is None:
                print(v.path, "no gradient")
                continue
            g = g.numpy().astype(np.float64)
            print("grad", v.path, float(g.sum()), float(np.linalg.norm(g)))
    print(i, "critic", float(c_loss), "penalty", float(gp), "generator", float(g_loss))
