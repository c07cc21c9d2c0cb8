# Variational autoencoder, basic PRNG key handling
import jax
import jax.numpy as jnp
import numpy as np
from jax import random


def dense_init(key, n_in, n_out):
    return {"kernel": random.normal(key, (n_in, n_out)) * jnp.sqrt(2.0 / n_in), "bias": jnp.zeros((n_out,))}


def dense(p, x):
    return jnp.dot(x, p["kernel"]) + p["bias"]


def init_vae(key, n_x=20, n_h=16, n_z=3):
    k1, k2, k3, k4, k5 = random.split(key, 5)
    encoder = {"hidden": dense_init(k1, n_x, n_h), "mu": dense_init(k2, n_h, n_z), "logvar": dense_init(k3, n_h, n_z)}
    decoder = {"hidden": dense_init(k4, n_z, n_h), "out": dense_init(k5, n_h, n_x)}
    return {"encoder": encoder, "decoder": decoder}


def encode(p, x):
    h = jax.nn.softplus(dense(p["hidden"], x))
    return dense(p["mu"], h), dense(p["logvar"], h)


def decode(p, z):
    h = jax.nn.softplus(dense(p["hidden"], z))
    return dense(p["out"], h)


def reparameterize(key, mu, logvar):
    std = jnp.exp(0.5 * logvar)
    eps = random.normal(key, mu.shape)
    return mu + std * eps


def bernoulli_logpdf(logits, x):
    return -jnp.sum(jnp.logaddexp(0.0, jnp.where(x > 0.5, -1.0, 1.0) * logits), axis=-1)


def elbo(params, key, x):
    mu, logvar = encode(params["encoder"], x)
    z = reparameterize(key, mu, logvar)
    logits = decode(params["decoder"], z)
    kl = -0.5 * jnp.sum(1 + logvar - jnp.square(mu) - jnp.exp(logvar), axis=-1)
    return jnp.mean(bernoulli_logpdf(logits, x) - kl)


@jax.jit
def train_step(params, key, x):
    loss, grads = jax.value_and_grad(lambda p: -elbo(p, key, x))(params)
    return jax.tree_util.tree_map(lambda p, g: p - 1e-2 * g, params, grads), loss


key = random.PRNGKey(123)
key, init_key = random.split(key)
params = init_vae(init_key)
data = (np.random.RandomState(0).rand(10, 20) > 0.6).astype(np.float32)

key, eps_key = random.split(key)
first = jax.grad(lambda p: -elbo(p, eps_key, data))(params)
for part in ("encoder", "decoder"):
    for layer, p in first[part].items():
        for name, g in p.items():
            g = np.asarray(g, np.float64)
            print(f"grad {part}.{layer}.{name} {float(g.sum())!r} {float(np.linalg.norm(g))!r}")

for step in range(3):
    key, subkey = random.split(key)
    params, loss = train_step(params, subkey, data)
    print(f"Step {step}: -ELBO {float(loss)!r}")

samples = jax.nn.sigmoid(decode(params["decoder"], random.normal(key, (2, 3))))
print("mean of samples", float(samples.mean()))
