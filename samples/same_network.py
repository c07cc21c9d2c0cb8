"""One small recurrent network in four frameworks, each as it runs eagerly and as it is traced or compiled, timed.

    python samples/same_network.py

All begin with the same weights and take the gradient of the same loss. They are timed in turn, a tenth of a second
each, nine times over, and the quickest time of each counts; what is not installed is left out, and said.
"""

import importlib.util
import time

import numpy as np

TURNS, HIDDEN, GIVEN = 20, 32, 16

numbers = np.random.default_rng(0)
W_h = (numbers.normal(size=(HIDDEN, HIDDEN)) / 8).astype(np.float32)
W_x = (numbers.normal(size=(HIDDEN, GIVEN)) / 4).astype(np.float32)
SEQUENCE = numbers.normal(size=(TURNS, GIVEN, 1)).astype(np.float32)


# The network of graphscope and of PyTorch; tanh, zeros and so on are those of the library that `gs` is.


def loss_of(gs):
    def loss(h_weights, x_weights, sequence):
        h = gs.zeros(HIDDEN, 1)
        for t in range(TURNS):
            h = gs.tanh(h_weights @ h + x_weights @ sequence[t])
        return (h * h).sum()

    return loss


def eager(gs, loss=None):
    given = gs.tensor(W_h, requires_grad=True), gs.tensor(W_x, requires_grad=True), gs.tensor(SEQUENCE)
    run = loss or loss_of(gs)

    def step():
        given[0].grad = given[1].grad = None
        value = run(*given)
        value.backward()
        return value.item(), given[0].grad

    return step


def graphscope_eager():
    import graphscope as gs

    return eager(gs)


def graphscope_compiled():
    import graphscope as gs
    from graphscope import jit

    given = gs.tensor(W_h), gs.tensor(W_x), gs.tensor(SEQUENCE)
    both = jit.value_and_grad(loss_of(gs), *given, argnums=(0, 1))

    def step():
        value, gradients = both(*given)
        return value.item(), gradients[0]

    return step


def graphscope_static():
    import graphscope.static as tf

    sequence = tf.placeholder(tf.float32, SEQUENCE.shape)
    h_weights, x_weights = tf.Variable(W_h), tf.Variable(W_x)
    h = tf.zeros([HIDDEN, 1])
    for t in range(TURNS):
        h = tf.tanh(tf.matmul(h_weights, h) + tf.matmul(x_weights, sequence[t]))
    loss = tf.reduce_sum(h * h)
    gradients = tf.gradients(loss, [h_weights, x_weights])
    session = tf.Session()

    def step():
        value, gradient, _ = session.run([loss, *gradients], {sequence: SEQUENCE})
        return value.item(), gradient

    return step


def torch_eager():
    import torch

    return eager(torch)


def torch_traced():
    import torch

    given = torch.tensor(W_h), torch.tensor(W_x), torch.tensor(SEQUENCE)
    return eager(torch, torch.jit.trace(loss_of(torch), given))


def torch_scripted():
    import torch

    def loss(h_weights, x_weights, sequence, hidden: int = HIDDEN):
        h = torch.zeros([hidden, 1])
        for x in sequence:
            h = torch.tanh(h_weights @ h + x_weights @ x)
        return (h * h).sum()

    return eager(torch, torch.jit.script(loss))


def tensorflow_step(wrap):
    import tensorflow as tf

    h_weights, x_weights, sequence = tf.Variable(W_h), tf.Variable(W_x), tf.constant(SEQUENCE)

    @wrap(tf)
    def both():
        with tf.GradientTape() as tape:
            h = tf.zeros([HIDDEN, 1])
            for t in range(TURNS):
                h = tf.tanh(h_weights @ h + x_weights @ sequence[t])
            loss = tf.reduce_sum(h * h)
        return loss, tape.gradient(loss, [h_weights, x_weights])

    def step():
        loss, gradients = both()
        return loss.numpy().item(), gradients[0]

    return step


def tensorflow_eager():
    return tensorflow_step(lambda tf: lambda function: function)


def tensorflow_function():
    return tensorflow_step(lambda tf: tf.function)


def tensorflow_xla():
    return tensorflow_step(lambda tf: tf.function(jit_compile=True))


def jax_step(wrap):
    import jax
    import jax.numpy as jnp

    given = jnp.asarray(W_h), jnp.asarray(W_x), jnp.asarray(SEQUENCE)

    def loss(h_weights, x_weights, sequence):
        h = jnp.zeros((HIDDEN, 1))
        for t in range(TURNS):
            h = jnp.tanh(h_weights @ h + x_weights @ sequence[t])
        return (h * h).sum()

    both = wrap(jax)(jax.value_and_grad(loss, argnums=(0, 1)))

    def step():
        value, gradients = both(*given)
        return value.item(), gradients[0].block_until_ready()

    return step


def jax_eager():
    return jax_step(lambda jax: lambda function: function)


def jax_jit():
    return jax_step(lambda jax: jax.jit)


WAYS = [
    ("graphscope", "eager", graphscope_eager),
    ("graphscope", "jit.value_and_grad", graphscope_compiled),
    ("graphscope", "static, Session.run", graphscope_static),
    ("torch", "eager", torch_eager),
    ("torch", "jit.trace", torch_traced),
    ("torch", "jit.script", torch_scripted),
    ("tensorflow", "eager", tensorflow_eager),
    ("tensorflow", "tf.function", tensorflow_function),
    ("tensorflow", "tf.function, XLA", tensorflow_xla),
    ("jax", "eager", jax_eager),
    ("jax", "jit", jax_jit),
]


def seconds(step):
    """What a call takes, over as many as take a tenth of a second."""
    calls, begin = 0, time.perf_counter()
    while (taken := time.perf_counter() - begin) < 0.1 or not calls:
        step()
        calls += 1
    return taken / calls


if __name__ == "__main__":
    frameworks = dict.fromkeys(framework for framework, _, _ in WAYS)
    missing = [name for name in frameworks if importlib.util.find_spec(name) is None]
    steps = [(framework, way, make()) for framework, way, make in WAYS if framework not in missing]
    (_, _, known), *_ = steps
    loss, gradient = known()
    for framework, way, step in steps:
        for _ in range(5):  # compilers are at work in the first calls
            value, found = step()
        assert np.allclose(value, loss, rtol=1e-4), (framework, way)
        assert np.allclose(found, gradient, rtol=1e-3, atol=1e-4), (framework, way)
    taken = [float("inf")] * len(steps)
    for _ in range(9):
        taken = [min(least, seconds(step)) for least, (_, _, step) in zip(taken, steps, strict=True)]
    print(f"a network of {HIDDEN} units over {TURNS} turns, loss and gradients: all {len(steps)} ways give the same")
    eager = {framework: least for least, (framework, way, _) in zip(taken, steps, strict=True) if way == "eager"}
    for least, (framework, way, _) in zip(taken, steps, strict=True):
        gain = eager[framework] / least
        print(f"{framework:11} {way:20} {least * 1e6:9,.0f} us  {gain:6.1f} x as fast as its eager way")
    for framework in missing:
        print(f"{framework} is not installed: it has no rows")
    print("Question: whose eager way gains most by being compiled, and why?")
