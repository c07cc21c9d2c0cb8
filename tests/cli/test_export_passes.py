"""`graphscope record --passes` and `graphscope export --passes`, as a person runs them."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Run, run_in

PROGRAM = """
import numpy as np
import graphscope as gs
import graphscope.static as tf
from graphscope import jit

step = jit.value_and_grad(lambda w: (w * 1.0).exp().sum(), gs.ones(3))
print(step(gs.ones(3))[0].item())

@jit.script
def turns(x):
    h = gs.zeros(3)
    for row in x:
        h = h + row * 1.0
    return h.sum()

print(turns(gs.ones(4, 3)).item())
x = tf.placeholder(tf.float32, [None, 3], name="x")
doubled = tf.reduce_sum(x * 2.0, name="doubled")
with tf.Session() as session:
    for turn in range(2):
        print(session.run(doubled, {x: np.ones((2, 3))}))
    print(session.run(doubled, {x: np.ones((5, 3))}))
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of PROGRAM with its passes."""
    folder = tmp_path_factory.mktemp("passes")
    (folder / "train.py").write_text(PROGRAM)
    result = run_in(folder, "-m", "graphscope", "record", "--passes", "train.py")
    assert result.returncode == 0, result.stderr
    return folder / "train.gscope"


@pytest.mark.slow
def test_what_was_compiled_scripted_and_run_by_a_session_is_drawn(read: Run, recorded: Path, tmp_path: Path) -> None:
    result = read("export", "--passes", "out", "--format", "dot", str(recorded))
    assert result.stdout == "out/index.html: 39 pictures beside it\n"
    names = {each.name for each in (tmp_path / "out").iterdir()}
    assert {"turns-12-prune.dot", "fetches_doubled-00-before.dot", "lambda-01-prune.dot", "index.html"} <= names
    loop = (tmp_path / "out/turns-00-before.dot").read_text()
    assert "cluster_" in loop  # the body of the loop has a frame


def test_something_is_to_be_written(read: Run, recorded: Path) -> None:
    result = read("export", str(recorded))
    assert result.returncode == 2
    assert result.stderr.startswith("graphscope: say what to write: -o FILE or --passes DIR\n")


def test_mistakes_are_told_in_a_sentence(read: Run, recorded: Path, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full/kept.txt").touch()
    for words, told in (
        (("--passes", "full"), "graphscope: full holds files already (kept.txt)\nhint: name a new folder"),
        (("--passes", "out", "--format", "gif"), "graphscope: there is no exporter 'gif'\nhint: "),
        (("--passes", "full/kept.txt"), "graphscope: full/kept.txt is a file, and the passes need a folder\n"),
        (("--passes", "out", "-o", "a.svg"), "graphscope: --passes DIR draws every pass whole, and takes no -o\n"),
        (
            ("--passes", "out", "--select", "op:mm", "--pass", "forward", "--overlay"),
            "graphscope: --passes DIR draws every pass whole, and takes no --select or --pass or --overlay\n",
        ),
    ):
        result = read("export", str(recorded), *words)
        assert result.returncode == 2
        assert result.stderr.startswith(told)
