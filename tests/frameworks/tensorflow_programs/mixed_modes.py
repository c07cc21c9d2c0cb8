"""A tf.Module whose forward is compiled, called from an eager training loop with eager pieces around it."""
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(61)


class Dense(tf.Module):
    def __init__(self, n_in, n_out, name=None):
        super().__init__(name=name)
        with self.name_scope:
            self.w = tf.Variable(tf.random.normal([n_in, n_out]) / np.sqrt(n_in), name="w")
            self.b = tf.Variable(tf.zeros([n_out]), name="b")

    @tf.Module.with_name_scope
    def __call__(self, x):
        return tf.matmul(x, self.w) + self.b


class Net(tf.Module):
    def __init__(self):
        super().__init__(name="net")
        self.first = Dense(4, 9, name="first")
        self.second = Dense(9, 3, name="second")
        self.calls = tf.Variable(0, trainable=False, name="calls")

    @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32)])
    def features(self, x):
        self.calls.assign_add(1)
        return tf.nn.swish(self.first(x))

    def __call__(self, x):
        h = self.features(x)
        h = h / (1e-6 + tf.norm(h, axis=1, keepdims=True))  # eager again
        return self.second(h)


@tf.function(reduce_retracing=True)
def loss_of(logits, labels):
    tf.debugging.assert_all_finite(logits, "logits")
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


net = Net()
x = tf.random.normal((15, 4))
labels = tf.argmax(x[:, :3], axis=1, output_type=tf.int32)
optimizer = tf.keras.optimizers.Adagrad(0.1)

for step, size in enumerate([5, 10, 15]):  # batches of other shapes
    with tf.GradientTape() as tape:
        loss = loss_of(net(x[:size]), labels[:size])
        decay = 1e-3 * tf.add_n([tf.nn.l2_loss(v) for v in net.trainable_variables if "w" in v.name])
        total = loss + decay
    grads = tape.gradient(total, net.trainable_variables)
    if step == 0:
        for v, g in zip(net.trainable_variables, grads):
            g = g.numpy().astype(np.float64)
            print("grad", v.name[:-2], float(g.sum()), float(np.linalg.norm(g)))
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    print("step", step, "loss", float(loss), "decay", float(decay))
print("calls", int(net.calls))
