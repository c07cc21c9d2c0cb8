"""RNN by hand over a TensorArray, with gradients computed, clipped and applied."""
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

data = "hello session, hello graph "
chars = sorted(set(data))
char_to_ix = {ch: i for i, ch in enumerate(chars)}
vocab_size, hidden_size, seq_length = len(chars), 10, 8
rng = np.random.RandomState(9)

inputs = tf.placeholder(tf.int32, [seq_length], name="inputs")
targets = tf.placeholder(tf.int32, [seq_length], name="targets")
init_state = tf.placeholder(tf.float32, [1, hidden_size], name="state")

with tf.variable_scope("RNN"):
    Wxh = tf.Variable(rng.randn(vocab_size, hidden_size).astype(np.float32) * 0.1, name="Wxh")
    Whh = tf.Variable(rng.randn(hidden_size, hidden_size).astype(np.float32) * 0.1, name="Whh")
    Why = tf.Variable(rng.randn(hidden_size, vocab_size).astype(np.float32) * 0.1, name="Why")
    bh = tf.Variable(tf.zeros([1, hidden_size]), name="bh")
    by = tf.Variable(tf.zeros([1, vocab_size]), name="by")

one_hot = tf.one_hot(inputs, vocab_size)
input_ta = tf.TensorArray(tf.float32, size=seq_length).unstack(one_hot)
output_ta = tf.TensorArray(tf.float32, size=seq_length)


def step(t, h, out):
    x = tf.expand_dims(input_ta.read(t), 0)
    h = tf.tanh(tf.matmul(x, Wxh) + tf.matmul(h, Whh) + bh)
    out = out.write(t, tf.matmul(h, Why) + by)
    return t + 1, h, out


_, last_state, output_ta = tf.while_loop(
    lambda t, h, out: t < seq_length, step, (tf.constant(0), init_state, output_ta))
logits = tf.reshape(output_ta.stack(), [seq_length, vocab_size])
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=targets, logits=logits))

# Minimizer with gradient clipping
minimizer = tf.train.AdagradOptimizer(0.1)
grads_and_vars = minimizer.compute_gradients(loss)
grad_clipping = tf.constant(5.0, name="grad_clipping")
clipped_grads_and_vars = []
for grad, var in grads_and_vars:
    clipped_grad = tf.clip_by_value(grad, -grad_clipping, grad_clipping)
    clipped_grads_and_vars.append((clipped_grad, var))
updates = minimizer.apply_gradients(clipped_grads_and_vars)

sess = tf.Session()
sess.run(tf.global_variables_initializer())
p, h = 0, np.zeros([1, hidden_size], np.float32)
first = {inputs: [char_to_ix[c] for c in data[:seq_length]], targets: [char_to_ix[c] for c in data[1:seq_length + 1]],
         init_state: h}
for (_, var), grad in zip(grads_and_vars, sess.run([grad for grad, _ in grads_and_vars], feed_dict=first)):
    grad = grad.astype(np.float64)
    print("grad %s %r %r" % (var.op.name, float(grad.sum()), float(np.linalg.norm(grad))))
for n in range(3):
    ix = [char_to_ix[c] for c in data[p:p + seq_length]]
    tx = [char_to_ix[c] for c in data[p + 1:p + seq_length + 1]]
    h, l, _ = sess.run([last_state, loss, updates], feed_dict={inputs: ix, targets: tx, init_state: h})
    print("iter: %d, p: %d, loss: %r" % (n, p, float(l)))
    p += seq_length
print("state", float(np.abs(h).sum()))
sess.close()
