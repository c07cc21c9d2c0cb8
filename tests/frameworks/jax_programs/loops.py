"""fori_loop, while_loop, cond and switch in a differentiable simulation and around it."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

DT = 0.1


def accelerate(params, x):
    return -params["stiffness"] * x + params["bias"]


def bounce(state):
    x, v = state
    return -x, -0.8 * v


def simulate(params, x0):
    def body(i, state):
        x, v = state
        v = v + DT * accelerate(params, x) - DT * params["drag"] * v * jnp.abs(v)
        x = x + DT * v
        return lax.cond(x < 0.2, bounce, lambda s: s, (x, v))

    x, v = lax.fori_loop(0, 8, body, (x0, params["v0"]))
    return x


def error(params, x0, target):
    return (simulate(params, x0) - target) ** 2


def sqrt_newton(a):
    """Not differentiated: the number of turns depends on the value."""

    def cond(carry):
        x, n = carry
        return (jnp.abs(x * x - a) > 1e-4) & (n < 20)

    def body(carry):
        x, n = carry
        return 0.5 * (x + a / x), n + 1

    return lax.while_loop(cond, body, (a, 0))


branches = [lambda g: g, lambda g: 0.5 * g, lambda g: jnp.clip(g, -0.1, 0.1)]

params = {"stiffness": jnp.float32(1.3), "bias": jnp.float32(0.1), "drag": jnp.float32(0.05), "v0": jnp.float32(-1.0)}
for step in range(3):
    loss, grads = jax.value_and_grad(error)(params, jnp.float32(0.7), 1.5)
    if step == 0:
        for k, g in grads.items():
            print("grad", k, float(g), abs(float(g)))
    size, turns = sqrt_newton(sum(g * g for g in grads.values()))
    kind = jnp.minimum(step, 2)
    params = {k: p - 0.05 * lax.switch(kind, branches, grads[k]) for k, p in params.items()}
    print("step", step, "loss", float(loss), "norm", float(size), "after", int(turns), "turns")
print({k: float(v) for k, v in params.items()})
