"""Rules of one's own, reverse mode: gradient clipping inside the graph, and a fixed point by the implicit function."""
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, vjp


@jax.custom_vjp
def clip_gradient(lo, hi, x):
    return x


def clip_gradient_fwd(lo, hi, x):
    return x, (lo, hi)


def clip_gradient_bwd(res, g):
    lo, hi = res
    return (None, None, jnp.clip(g, lo, hi))


clip_gradient.defvjp(clip_gradient_fwd, clip_gradient_bwd)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def fixed_point(f, a, x_guess):
    def cond_fun(carry):
        x_prev, x = carry
        return jnp.max(jnp.abs(x_prev - x)) > 1e-5

    def body_fun(carry):
        _, x = carry
        return x, f(a, x)

    _, x_star = lax.while_loop(cond_fun, body_fun, (x_guess, f(a, x_guess)))
    return x_star


def fixed_point_fwd(f, a, x_init):
    x_star = fixed_point(f, a, x_init)
    return x_star, (a, x_star)


def fixed_point_rev(f, res, x_star_bar):
    a, x_star = res
    _, vjp_a = vjp(lambda a: f(a, x_star), a)
    a_bar, = vjp_a(fixed_point(partial(rev_iter, f), (a, x_star, x_star_bar), x_star_bar))
    return a_bar, jnp.zeros_like(x_star)


def rev_iter(f, packed, u):
    a, x_star, x_star_bar = packed
    _, vjp_x = vjp(lambda x: f(a, x), x_star)
    return x_star_bar + vjp_x(u)[0]


fixed_point.defvjp(fixed_point_fwd, fixed_point_rev)


def layer(a, x):
    W, b = a
    return jnp.tanh(W @ x + b)


def deq(params, inp):
    W, U, out = params
    x = fixed_point(layer, (W, U @ inp), jnp.zeros(W.shape[0]))
    return out @ clip_gradient(-0.3, 0.3, x)


def loss(params, xs, ys):
    total = 0.0
    for x, y in zip(xs, ys):
        total += (deq(params, x) - y) ** 2
    return total / len(xs)


rng = np.random.RandomState(4)
params = [jnp.asarray(a, jnp.float32) for a in (rng.randn(5, 5) * 0.15, rng.randn(5, 3) * 0.5, rng.randn(5))]
xs = [jnp.asarray(v, jnp.float32) for v in rng.randn(3, 3)]
ys = [1.0, -1.0, 0.5]
for step in range(3):
    value, grads = jax.value_and_grad(loss)(params, xs, ys)
    if step == 0:
        for name, g in zip(["W", "U", "out"], grads):
            g = np.asarray(g, np.float64)
            print("grad", name, repr(float(g.sum())), repr(float(np.linalg.norm(g))))
    params = [p - 0.1 * g for p, g in zip(params, grads)]
    print("loss", repr(float(value)))
