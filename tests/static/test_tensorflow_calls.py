"""TensorFlow's names against TensorFlow itself: the same value, dtype and shape, or refused with a hint; no third."""

from __future__ import annotations

import inspect
import io
import json
import os
import pickle
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import graphscope.static as tf
from graphscope.errors import StaticError
from graphscope.static.words.offering import OFFERED
from tests.static import tensorflow_outcomes

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

ROOT: Final = Path(__file__).parents[2]

ONES_OWN: Final = {"tf.sub(m, v)", "tf.mul(m, v)", "tf.neg(m)", "tf.nn.gelu(v)"}
"""Calls of the engine's own names, of which TensorFlow has none."""

NOT_THEIRS: Final = {"getitem"}
"""What stands behind `x[...]`."""

OTHER_NAMES: Final = {"tf.nn.top_k(m, 2)[1].name"}
"""Where a second node gives what TensorFlow has as the second output of one."""


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    file = tmp_path_factory.mktemp("outcomes") / "theirs.pickle"
    command = [sys.executable, "-m", "tests.static.tensorflow_outcomes", str(file)]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    subprocess.run(command, check=True, cwd=ROOT, env=environment, capture_output=True, timeout=300)
    return pickle.loads(file.read_bytes())  # type: ignore[no-any-return]


def same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        alike = one.dtype == other.dtype and one.shape == other.shape
        return alike and np.allclose(one, other, rtol=1e-5, atol=1e-6, equal_nan=True)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    return type(one) is type(other) and one == other


def test_each_call_gives_the_same_or_is_refused_with_a_hint(theirs: dict[str, Any]) -> None:
    with redirect_stderr(io.StringIO()), redirect_stdout(io.StringIO()):
        ours = tensorflow_outcomes.outcomes(tf)
    assert ours.keys() == theirs.keys()
    wrong = []
    for name, (kind, found) in ours.items():
        if name.partition(": ")[2] in ONES_OWN | OTHER_NAMES:
            continue
        if kind == "refused":
            if not (isinstance(found, StaticError) and found.hint):
                wrong.append(f"{name}: no hint: {found}")
        elif theirs[name][0] == "refused" or not same(theirs[name][1], found):
            wrong.append(f"{name}: {found}, and in TensorFlow {theirs[name]}")
    assert not wrong, "\n".join(wrong)
    assert sum(kind == "value" for kind, _ in ours.values()) >= 800


def test_arguments_are_tensorflows_in_order_and_by_default() -> None:
    code = (
        "import json, sys, tensorflow.compat.v1 as tf\n"
        "from tensorflow.python.util import tf_inspect\n"
        "found = {}\n"
        "for name in json.load(sys.stdin):\n"
        "    thing = tf\n"
        "    for part in name.split('.'): thing = getattr(thing, part, None)\n"
        "    if thing is None: found[name] = None; continue\n"
        "    parameters = tf_inspect.signature(thing).parameters.values()\n"
        "    found[name] = [[each.name, each.default is not each.empty] for each in parameters]\n"
        "print(json.dumps(found))\n"
    )
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(sorted(OFFERED)), env=environment,
        capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    wrong = []
    for name, wanted in json.loads(done.stdout.splitlines()[-1]).items():
        if name in NOT_THEIRS:
            assert wanted is None
            continue
        if wanted is None:
            wrong.append(f"{name} is no name of TensorFlow's")
            continue
        parameters = list(OFFERED[name].signature.parameters.values())
        if any(each.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD) for each in parameters):
            continue
        own = [[each.name, each.default is not each.empty] for each in parameters]
        if own != wanted[: len(own)]:  # what is missing behind is refused by name
            wrong.append(f"{name}: {own}, and in TensorFlow {wanted}")
    assert not wrong, "\n".join(wrong)
