"""Nothing is read past the end of a storage that a program has made smaller; each program has a process of its own."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import graphscope as gs

pytestmark = [pytest.mark.torch, pytest.mark.slow]

BEGINNING = """
    import sys

    import torch
    import graphscope as gs

    SIZE = 1 << 24  # so large that its memory is given back to the system at once, and can't be read

    def shrink(tensor, size=4096):
        tensor.untyped_storage().resize_(size)

    def grow(tensor):
        tensor.untyped_storage().resize_(4 * SIZE)

    def views(tensor, far):  # those that torch itself makes without a look at the size
        return tensor.view(-1), far.view(-1), tensor.view(2, -1), far.view(2, -1), tensor.detach(), far.detach()
"""

LEAF = """
    whole, parameter = torch.ones(SIZE), torch.nn.Parameter(torch.ones(SIZE))
    with gs.record(sys.argv[1], values=sys.argv[2]):
        far, far_parameter = whole[SIZE // 2 :], parameter.detach()[SIZE // 2 :]
        turned = whole.reshape(2, -1).t()
        shrink(whole), shrink(parameter.data)
        views(whole, far), views(parameter.detach(), far_parameter), turned.detach()
        grow(whole)
        whole.fill_(3)
        whole[-1:].mul(2)
"""

BEFORE = """
    whole = torch.ones(SIZE)
    far = whole[SIZE // 2 :]
    shrink(whole)
    with gs.record(sys.argv[1], values=sys.argv[2]):
        views(whole, far)
        grow(whole)
        whole.fill_(3)
        whole[-1:].mul(2)
"""

TRAINING = """
    class Idle(torch.optim.Optimizer):
        def step(self):
            pass

    with gs.record(sys.argv[1], values=sys.argv[2], every=2):
        for turn in range(4):
            w = torch.nn.Parameter(torch.ones(SIZE))
            optimizer = Idle([w], {"lr": 0.1})
            product = w * 3
            loss = product[-1]
            size = 4096 if turn < 2 else 0
            shrink(product, size)
            loss.backward()
            shrink(w.data, size), shrink(w.grad, size)
            optimizer.step()
        torch.tensor([3.0]).mul(2)
"""


@pytest.mark.parametrize("values", ["full", "summary", "none"])
@pytest.mark.parametrize("program", [LEAF, BEFORE, TRAINING])
def test_what_lies_past_the_end_of_a_storage_is_not_read(program: str, values: str, tmp_path: Path) -> None:
    path = tmp_path / "run.gscope"
    text = textwrap.dedent(BEGINNING) + textwrap.dedent(program)
    ended = subprocess.run([sys.executable, "-c", text, path, values], capture_output=True, text=True, timeout=600)
    assert (ended.returncode, ended.stderr) == (0, "")
    log = gs.load(path)
    nodes = [node for node in log.graph.nodes if node.graph_pass == "forward"]
    assert nodes[-1].op == "mul"
    if values != "none":
        np.testing.assert_array_equal(nodes[-1].value, [6.0])
    looks = [node for node in nodes if node.op == "view"]
    assert len(looks) == (0 if program is TRAINING else 8 if program is LEAF else 4)
    assert all(node.value is None and node.summary is None for node in looks)
