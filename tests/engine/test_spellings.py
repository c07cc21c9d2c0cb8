"""Names and arguments that PyTorch has besides, one call a line, on both engines."""

from __future__ import annotations

import pytest

from tests.engine.calls import assert_agree

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::UserWarning")]

CALLS = """
out = t.detach(x)
out = t.fill(x, 2.5)
out = t.fill_(x * 1, 2.5)
out = t.zero_(x * 1)
out = x.as_strided((2, 2), (1, 2))
out = t.as_strided(x, (2, 2), (1, 2), 1)
out = x.as_strided((3, 3), (1, 1))
out = (x * 1).as_strided((2,), (4,)).mul_(3)
out = (x * 1).addmm_(x, c[0], beta=0.5)
out = x.as_strided((2, 2), (100, 1))
"""


@pytest.mark.parametrize("line", [line for line in CALLS.split("\n") if line])
def test_a_line_does_what_it_does_in_torch(line):
    assert_agree(line)
