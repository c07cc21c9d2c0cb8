"""One recurrent network twice: its graph is built while it runs, and defined first to be run later."""

import numpy as np

import graphscope as torch
import graphscope.static as tf

numbers = np.random.default_rng(2)
start = {"W_h": numbers.normal(size=(20, 20)) / 5, "W_x": numbers.normal(size=(20, 10))}

# Define by run: the loop is Python's, and each turn adds its nodes.
W_h = torch.tensor(start["W_h"], dtype=torch.float32, requires_grad=True)
W_x = torch.tensor(start["W_x"], dtype=torch.float32, requires_grad=True)


def read(sequence):
    h = torch.zeros(20, 1)
    for x in sequence:
        h = torch.tanh(W_h @ h + W_x @ x)
    return h.sum()


# Define, then run: the loop is a node, and what it does a graph of its own.
sequence = tf.placeholder(tf.float32, [None, 10, 1], name="sequence")
V_h = tf.Variable(start["W_h"], dtype=tf.float32, name="W_h")
V_x = tf.Variable(start["W_x"], dtype=tf.float32, name="W_x")


def turn(t, h):
    return t + 1, tf.tanh(tf.matmul(V_h, h) + tf.matmul(V_x, tf.gather(sequence, t)), name="h")


length = tf.shape(sequence)[0]
_, last = tf.while_loop(lambda t, h: t < length, turn, [tf.constant(0), tf.zeros([20, 1])], name="over")
loss = tf.reduce_sum(last, name="loss")
(slope,) = tf.gradients(loss, [V_x])

with tf.Session() as session:
    for turns in (2, 5):
        given = numbers.normal(size=(turns, 10, 1)).astype(np.float32)
        W_h.grad = W_x.grad = None
        by_run = read(torch.tensor(given))
        by_run.backward()
        first, gradient = session.run([loss, slope], {sequence: given})
        same = np.allclose(gradient, W_x.grad.numpy(), rtol=1e-3, atol=1e-5)
        print(f"{turns} turns: by run {by_run.item():.4f}, defined first {first:.4f}, gradients agree: {same}")

print("Question: which of the two graphs is larger for a sequence of 5 than for one of 2?")
