"""The engine's random programs as sessions: each tensor's value, and a gradient, are those of the eager engine.

A program of the fuzzer is run eagerly and built as a graph, statement by statement; what writes in place, looks at
numbers while it is built, or sets hooks has no place in a graph and is left out of both.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import graphscope as gs
import graphscope.static as tf
from graphscope.errors import StaticError
from graphscope.static.graphs.symbols import Symbol, plain, twin

pytest.importorskip("torch")
pytestmark = pytest.mark.torch

LEFT_OUT = re.compile(
    r"_\(|no_grad|backward\(|grad\(|requires_grad_|hook|\.grad|\+= |\*= |-= |\] = |detach|None if|\*x\d+\.shape"
)
"""Statements that have no place in a graph."""


class InGraph:
    """A module of the engine, on symbols of a graph."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return twin(getattr(self._module, name))


class Words(InGraph):
    """`torch` as programs know it, on symbols of a graph: leaves become variables."""

    nn = type("nn", (), {"functional": InGraph(gs.nn.functional)})

    def tensor(self, data: Any, requires_grad: bool = False) -> Any:
        array = np.array(data, np.float64)
        array = array.astype(np.int64) if array.size and "." not in repr(data) else array
        return plain(tf.Variable(array) if requires_grad else tf.constant(array, array.dtype))

    int64 = np.dtype("int64")
    ones = staticmethod(lambda *sizes: plain(tf.constant(np.ones(sizes))))
    zeros_like = staticmethod(lambda x, dtype=None: plain(tf.constant(np.zeros(x.shape), dtype)))


def built(statements: list[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The names of a program run eagerly, and as a graph; those that both have."""
    eager: dict[str, Any] = {"torch": gs}
    static: dict[str, Any] = {"torch": Words(gs)}
    for statement in statements:
        if LEFT_OUT.search(statement):
            continue
        code = compile(statement, "<program>", "exec")
        try:
            exec(code, eager)
        except Exception:
            continue
        try:
            exec(code, static)
        except (StaticError, NameError, TypeError, AttributeError):
            for name in set(eager) - set(static):
                del eager[name]
    return eager, static


def compare(seed: int) -> int:
    """Compare the values of a program's tensors, and the gradients of the last of them; how many there were."""
    from tests.engine.fuzzing.__main__ import program  # needs torch
    from tests.engine.fuzzing.twin import in_float64

    statements, _ = program(seed, longest=25)
    with in_float64(), tf.Graph().as_default() as graph:
        eager, static = built(statements)
        names = [
            name for name, value in static.items()
            if isinstance(value, Symbol) and isinstance(eager.get(name), gs.Tensor)
        ]  # fmt: skip
        leaves = [name for name in names if static[name].output.node.op == "read" and eager[name].is_leaf]
        ends = [name for name in names if eager[name].requires_grad and eager[name].dtype == gs.float64][-3:]
        slopes = {name: tf.gradients(static[name], [static[leaf] for leaf in leaves]) for name in ends}
        with tf.Session(graph=graph) as session:
            found = session.run([static[name] for name in names])
            for name, value in zip(names, found, strict=True):
                expected = eager[name].detach().numpy()
                np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-9, err_msg=name)
            for name in ends:
                inputs = [eager[leaf] for leaf in leaves]
                expected = gs.autograd.grad(eager[name].sum(), inputs, allow_unused=True, retain_graph=True)
                for symbol, gradient in zip(slopes[name], expected, strict=True):
                    given = 0.0 if symbol is None else session.run(symbol)
                    wanted = 0.0 if gradient is None else gradient.numpy()
                    np.testing.assert_allclose(given, wanted, rtol=1e-8, atol=1e-8, err_msg=name)
    return len(names)


@pytest.mark.slow
@pytest.mark.parametrize("block", [0, *[pytest.param(block, marks=pytest.mark.slow) for block in range(1, 6)]])
def test_random_programs_give_the_same_as_sessions(block: int) -> None:
    compared = 0
    for seed in range(25 * block, 25 * (block + 1)):
        try:
            compared += compare(seed)
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
    assert compared > 100
