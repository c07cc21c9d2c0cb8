"""Two recordings of a program that part by chance: the line that the chance comes from, followed through its source."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import graphscope as gs
from graphscope.diagnose import Finding

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.slow]

TRAIN = """
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(3):
    loss = (model(x) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

SICK = {
    "vocabulary": """
        words = "a tall ship and a star to steer her by".split()
        vocabulary = {word: number for number, word in enumerate(set(words))}  # here
        x = torch.tensor([[float(vocabulary[word])] * 3 for word in words])
        """,
    "helper": """
        def labels(rows):
            return {row[0] for row in rows}  # here

        def encoded(rows, names):
            order = list(names)
            return [[float(order.index(row[0])), 1.0, 2.0] for row in rows]

        rows = [(name, 1) for name in "alpha beta gamma delta epsilon zeta eta theta".split()]
        x = torch.tensor(encoded(rows, labels(rows)))
        """,
    "loader": """
        class Words(torch.utils.data.Dataset):
            def __init__(self, words):
                self.words = list(frozenset(words))  # here

            def __len__(self):
                return len(self.words)

            def __getitem__(self, index):
                return torch.tensor([float(len(self.words[index])), 0.0, float(ord(self.words[index][0]))])

        x = next(iter(torch.utils.data.DataLoader(Words("one two three four five six seven".split()), batch_size=7)))
        """,
    "random": """
        import random
        x = torch.tensor([[random.random() for _ in range(3)] for _ in range(8)])  # here
        """,
    "augmented": """
        import numpy as np
        def noisy(values):
            noise = np.random.randn(*values.shape)  # here
            return values + 0.1 * noise
        x = torch.from_numpy(noisy(np.ones((8, 3)))).float()
        """,
    "generator": """
        import numpy as np
        generator = np.random.default_rng()  # here
        order = generator.permutation(8)
        x = torch.tensor(np.arange(24).reshape(8, 3)[order].copy()).float()
        """,
    "time": """
        import time
        started = time.time()  # here
        x = torch.ones(8, 3) * (started % 7)
        """,
    "seed": """
        import os
        seed = os.getpid()  # here
        torch.manual_seed(seed)
        x = torch.randn(8, 3)
        """,
    "hash": """
        x = torch.tensor([[float(hash(word) % 11)] * 3 for word in ("red", "green", "blue", "black")])  # here
        """,
    "attribute": """
        import numpy as np
        class Noisy:
            def __init__(self, scale):
                self.scale = scale
                self.noise = np.random.standard_normal  # here

            def __call__(self, shape):
                return torch.from_numpy(self.noise(shape) * self.scale).float()

        x = torch.ones(8, 3) + Noisy(0.1)((8, 3))
        """,
    "default": """
        import random
        def jitter(
            count,
            draw=random.random,  # here
        ):
            return [[draw() for _ in range(3)] for _ in range(count)]

        x = torch.tensor(jitter(8))
        """,
    "partial": """
        import functools, random
        draw = functools.partial(random.gauss, 0.0, 1.0)  # here
        x = torch.tensor([[draw(), draw(), draw()] for _ in range(8)])
        """,
    "branch": """
        x = torch.ones(8, 3)
        for name in {"relu", "tanh", "sigmoid", "sin", "cos", "exp", "abs"}:  # here
            x = getattr(torch, name)(x)
        """,
}

ELSEWHERE = {
    "two kinds": """
        import random, time
        scale = time.time() % 7
        x = torch.tensor([[random.random() * scale] * 3 for _ in range(8)])  # here
        """,
    "sorted": """
        import numpy
        class Source:
            def __array__(self, dtype=None, copy=None):
                return numpy.frombuffer(__import__("os").urandom(24), dtype=numpy.uint8).reshape(8, 3)
        names = sorted(set("a tall ship".split()))
        x = torch.from_numpy(numpy.asarray(Source())) * float(len(names))  # here
        """,
}

HEALTHY = {
    "sorted set": """
        words = "a tall ship and a star to steer her by".split()
        x = torch.tensor([[float(words.index(word))] * 3 for word in sorted(set(words))])
        """,
    "seeded": """
        import random
        random.seed(3)
        x = torch.tensor([[random.random() for _ in range(3)] for _ in range(8)])
        """,
    "seeded and kept": """
        import functools, random
        random.seed(3)
        draw = functools.partial(random.gauss, 0.0, 1.0)
        x = torch.tensor([[draw(), draw(), draw()] for _ in range(8)])
        """,
}


def program(text: str) -> str:
    return f"import torch\ntorch.manual_seed(0)\n{textwrap.dedent(text)}{TRAIN}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each program, recorded by two processes that order sets in two ways."""
    made = tmp_path_factory.mktemp("chance")
    for name, text in (SICK | ELSEWHERE | HEALTHY).items():
        (made / f"of_{name}.py").write_text(program(text))
    (made / "record.py").write_text("""\
import sys, torch, graphscope as gs
run, *names = sys.argv[1:]
for name in names:
    with gs.record(f"{name}-{run}.gscope"):
        exec(compile(open(f"of_{name}.py").read(), f"of_{name}.py", "exec"), {"__name__": "__main__"})
""")
    for run in "12":
        command = [sys.executable, "record.py", run, *SICK, *ELSEWHERE, *HEALTHY]
        environment = {**os.environ, "PYTHONHASHSEED": run, "PYTHONPATH": str(Path(gs.__file__).parents[1])}
        subprocess.run(command, cwd=made, env=environment, check=True)
    return made


def found(folder: Path, name: str) -> list[Finding]:
    return list(gs.doctor(folder / f"{name}-1.gscope", folder / f"{name}-2.gscope"))


@pytest.mark.parametrize("name", SICK)
def test_where_the_chance_comes_from(folder: Path, name: str) -> None:
    (finding,) = found(folder, name)
    assert finding.source.endswith("# here")
    assert "what differs comes from" in finding.verdict
    assert finding.cure


@pytest.mark.parametrize("name", ELSEWHERE)
def test_the_line_of_the_row_where_the_source_does_not_decide(folder: Path, name: str) -> None:
    (finding,) = found(folder, name)
    assert finding.source.endswith("# here")
    assert "what differs comes from" not in finding.verdict


@pytest.mark.parametrize("name", HEALTHY)
def test_runs_that_are_the_same(folder: Path, name: str) -> None:
    assert found(folder, name) == []
