"""Critic of a Wasserstein GAN with gradient penalty (grad of grad)."""
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.RandomState(2)


def leaky_relu(x, a=0.2):
    return jnp.where(x > 0, x, a * x)


def critic(params, x):
    (w1, b1), (w2, b2), (w3, b3) = params
    h = leaky_relu(x @ w1 + b1)
    h = leaky_relu(h @ w2 + b2)
    return (h @ w3 + b3).squeeze(-1)


def penalty(params, x):
    score = lambda single: critic(params, single)
    gradients = jax.vmap(jax.grad(score))(x)
    norm = jnp.sqrt(jnp.sum(gradients ** 2, axis=1) + 1e-12)
    return jnp.mean((norm - 1.0) ** 2)


def critic_loss(params, real, fake, eps):
    wasserstein = critic(params, fake).mean() - critic(params, real).mean()
    mix = eps * real + (1 - eps) * fake
    return wasserstein + 10.0 * penalty(params, mix)


sizes = [2, 16, 16, 1]
params = [
    (jnp.asarray(rng.randn(a, b).astype("f") / np.sqrt(a)), jnp.zeros(b)) for a, b in zip(sizes[:-1], sizes[1:])
]
real = rng.randn(12, 2).astype("f") * 0.1 + np.array([1.0, -1.0], "f")
fake = rng.randn(12, 2).astype("f")

for step in range(3):
    eps = rng.rand(12, 1).astype("f")
    loss, grads = jax.value_and_grad(critic_loss)(params, real, fake, eps)
    if step == 0:
        for i, layer in enumerate(grads):
            for name, g in zip(("w", "b"), layer):
                g = np.asarray(g, dtype=np.float64)
                print(f"grad {name}{i + 1}", float(g.sum()), float(np.linalg.norm(g)))
    params = jax.tree_util.tree_map(lambda p, g: p - 0.02 * g, params, grads)
    print("critic loss", float(loss))
print("penalty", float(penalty(params, fake)))
