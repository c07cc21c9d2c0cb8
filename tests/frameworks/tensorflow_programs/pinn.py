"""Burgers' equation with a physics-informed network: second derivatives by nested tapes."""
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(43)
nu = 0.01 / np.pi

model = tf.keras.Sequential([tf.keras.layers.InputLayer(shape=(2,))])
for _ in range(2):
    model.add(tf.keras.layers.Dense(10, activation="tanh", kernel_initializer="glorot_normal"))
model.add(tf.keras.layers.Dense(1))


def pde(t, x):
    with tf.GradientTape() as second:
        second.watch(x)
        with tf.GradientTape(persistent=True) as first:
            first.watch(t)
            first.watch(x)
            u = model(tf.stack([t[:, 0], x[:, 0]], axis=1))
        u_x = first.gradient(u, x)
        u_t = first.gradient(u, t)
        del first
    u_xx = second.gradient(u_x, x)
    return u_t + u * u_x - nu * u_xx


def compute_loss(t_r, x_r, data, u_data):
    phi_r = tf.reduce_mean(tf.square(pde(t_r, x_r)))
    return phi_r + tf.reduce_mean(tf.square(u_data - model(data)))


t_r, x_r = tf.random.uniform((12, 1)), tf.random.uniform((12, 1), -1.0, 1.0)
x_0 = tf.random.uniform((8, 1), -1.0, 1.0)
data = tf.concat([tf.zeros((8, 1)), x_0], 1)
u_data = -tf.sin(np.float32(np.pi) * x_0)
lr = tf.keras.optimizers.schedules.PiecewiseConstantDecay([1, 3], [1e-2, 5e-3, 1e-3])
optim = tf.keras.optimizers.Adam(learning_rate=lr)

for i in range(3):
    with tf.GradientTape() as tape:
        loss = compute_loss(t_r, x_r, data, u_data)
    g = tape.gradient(loss, model.trainable_variables)
    if i == 0:
        for v, d in zip(model.trainable_variables, g):
            d = d.numpy().astype(np.float64)
            print("grad", v.path, float(d.sum()), float(np.linalg.norm(d)))
    optim.apply_gradients(zip(g, model.trainable_variables))
    print("It %02d: loss = %r" % (i, float(loss)))
