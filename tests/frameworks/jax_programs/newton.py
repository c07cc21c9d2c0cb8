"""Logistic regression by Newton's method: jacfwd, jacrev, hessian, jvp and vjp, from the autodiff cookbook."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import grad, hessian, jacfwd, jacrev, jvp, vjp


def sigmoid(x):
    return 0.5 * (jnp.tanh(x / 2) + 1)


inputs = jnp.array([[0.52, 1.12, 0.77], [0.88, -1.08, 0.15], [0.52, 0.06, -1.30], [0.74, -2.49, 1.39], [-0.3, 0.4, 0.9]])
targets = jnp.array([True, True, False, True, False])


def predict(W, b):
    return sigmoid(jnp.dot(inputs, W) + b)


def loss(wb):
    W, b = wb[:3], wb[3]
    preds = predict(W, b)
    label_probs = preds * targets + (1 - preds) * (1 - targets)
    return -jnp.sum(jnp.log(label_probs)) + 0.1 * jnp.sum(wb ** 2)


def hvp(f, x, v):
    return jvp(grad(f), (x,), (v,))[1]


wb = jnp.array([0.1, -0.2, 0.05, 0.0])
g = np.asarray(grad(loss)(wb), np.float64)
print("grad wb", float(g.sum()), float(np.linalg.norm(g)))

J = jacfwd(predict)(wb[:3], wb[3])
J2 = jacrev(predict)(wb[:3], wb[3])
print("jacobians", float(jnp.abs(J).sum()), float(jnp.abs(J2).sum()))

for step in range(4):
    value, pullback = vjp(loss, wb)
    (gradient,) = pullback(jnp.ones(()))
    H = hessian(loss)(wb)
    H2 = jacfwd(jacrev(loss))(wb)
    direction = jnp.linalg.solve(H, gradient)
    check = hvp(loss, wb, direction)  # H (H^-1 g) = g
    wb = wb - direction
    print("step", step, "loss", float(value), "trace", float(jnp.trace(H2)), "check", float(jnp.vdot(check, gradient)))
print("solution", [float(v) for v in wb])
