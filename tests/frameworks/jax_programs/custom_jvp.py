"""Rules of one's own, forward mode: a stable log(1 + exp(x)) and a safe norm."""
import jax
import jax.numpy as jnp
import numpy as np


@jax.custom_jvp
def log1pexp(x):
    return jnp.log(1.0 + jnp.exp(x))


@log1pexp.defjvp
def log1pexp_jvp(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    ans = log1pexp(x)
    ans_dot = (1 - 1 / (1 + jnp.exp(x))) * x_dot
    return ans, ans_dot


@jax.custom_jvp
def safe_norm(v):
    return jnp.sqrt(jnp.sum(v * v))


@safe_norm.defjvp
def _safe_norm_jvp(primals, tangents):
    v, = primals
    dv, = tangents
    n = safe_norm(v)
    return n, jnp.where(n == 0, 0.0, jnp.vdot(v, dv) / jnp.where(n == 0, 1.0, n))


def model(theta, x):
    h = log1pexp(x @ theta["w"] + theta["c"])
    return h @ theta["v"]


def objective(theta, x, y):
    fit = jnp.mean((model(theta, x) - y) ** 2)
    return fit + 0.01 * safe_norm(theta["w"].ravel()) + 0.01 * safe_norm(theta["c"])


rs = np.random.RandomState(8)
x = rs.randn(20, 4).astype(np.float32)
y = np.abs(x).sum(1).astype(np.float32)
theta = {
    "w": jnp.asarray(rs.randn(4, 6).astype(np.float32)),
    "c": jnp.zeros(6),  # the plain rule of the norm gives NaN here
    "v": jnp.asarray(rs.randn(6).astype(np.float32)),
}
step_fn = jax.jit(jax.value_and_grad(objective))
for t in range(4):
    loss, g = step_fn(theta, x, y)
    if t == 0:
        for k in g:
            a = np.asarray(g[k], np.float64)
            print("grad", k, float(a.sum()), float(np.linalg.norm(a)))
    theta = {k: theta[k] - 0.05 * g[k] for k in theta}
    print(t, float(loss))
print("slope at 100:", float(jax.grad(log1pexp)(100.0)))
