"""Flax linen CNN with a TrainState, after the MNIST example."""
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn
from flax.training import train_state


class CNN(nn.Module):
    """A simple CNN model."""

    @nn.compact
    def __call__(self, x):
        x = nn.Conv(features=4, kernel_size=(3, 3))(x)
        x = nn.relu(x)
        x = nn.avg_pool(x, window_shape=(2, 2), strides=(2, 2))
        x = x.reshape((x.shape[0], -1))
        x = nn.Dense(features=16)(x)
        x = nn.LayerNorm()(x)
        x = nn.relu(x)
        x = nn.Dense(features=5)(x)
        return x


@jax.jit
def apply_model(state, images, labels):
    """Computes gradients, loss and accuracy for a single batch."""

    def loss_fn(params):
        logits = state.apply_fn({"params": params}, images)
        one_hot = jax.nn.one_hot(labels, 5)
        loss = jnp.mean(optax.softmax_cross_entropy(logits=logits, labels=one_hot))
        return loss, logits

    grad_fn = jax.value_and_grad(loss_fn, has_aux=True)
    (loss, logits), grads = grad_fn(state.params)
    accuracy = jnp.mean(jnp.argmax(logits, -1) == labels)
    return grads, loss, accuracy


@jax.jit
def update_model(state, grads):
    return state.apply_gradients(grads=grads)


def create_train_state(rng):
    cnn = CNN()
    params = cnn.init(rng, jnp.ones([1, 8, 8, 1]))["params"]
    tx = optax.sgd(0.1, 0.9)
    return train_state.TrainState.create(apply_fn=cnn.apply, params=params, tx=tx)


def train_and_evaluate():
    rng = np.random.RandomState(0)
    images = rng.rand(8, 8, 8, 1).astype(np.float32)
    labels = rng.randint(0, 5, (8,))
    state = create_train_state(jax.random.key(0))
    for epoch in range(3):
        grads, loss, accuracy = apply_model(state, images, labels)
        if epoch == 0:
            for path, g in jax.tree_util.tree_leaves_with_path(grads):
                g = np.asarray(g, np.float64)
                print("grad", jax.tree_util.keystr(path), repr(float(g.sum())), repr(float(np.linalg.norm(g))))
        state = update_model(state, grads)
        print("epoch:% 3d, train_loss: %r, train_accuracy: %.2f" % (epoch, float(loss), float(accuracy) * 100))
    return state


if __name__ == "__main__":
    train_and_evaluate()
