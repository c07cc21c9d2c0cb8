"""Every op that the engine has under PyTorch's name, by PyTorch's own samples; what differs stands in one table.

Arithmetic of bfloat16 is none of it: the engine keeps such numbers, and leaves computing with them to float32.
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest", reason="PyTorch's database of samples needs it")
pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore"),  # PyTorch's samples are made by what it deprecates
]

DTYPES = ("float32", "float64", "complex64", "float16", "int64", "uint8", "bool")
FEW = 2
"""So many samples of each op do for every day."""


@pytest.fixture(scope="module", autouse=True)
def _at_ease():
    """The samples are small: threads would only cost."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def compare(name, count=None):
    """What nothing in the table explains, and which of its entries have no ground, of the samples of a dtype."""
    with ThreadPoolExecutor(1) as thread:  # PyTorch looks through the stack at each seed, and pytest's is deep
        return thread.submit(_compare, name, count).result()


@np.errstate(all="ignore")  # samples overflow, and divide by 0
def _compare(name, count):
    from tests.engine.opinfo import OURS, differences
    from tests.engine.opinfo_differences import DIFFERENCES

    dtype = getattr(torch, name)
    known = {(op, entry) for entry in DIFFERENCES if name in entry.dtypes.split() for op in entry.ops.split()}
    met, unexplained = set(), []
    for info, ours in OURS:
        if dtype in info.supported_dtypes("cpu"):
            for said in differences(info, ours, dtype, count):
                found = {(op, entry) for op, entry in known if op == info.full_name and re.search(entry.says, said)}
                met |= found
                if not found:
                    unexplained.append(said)
    return unexplained, {(op, entry) for op, entry in known - met if entry.everywhere}


@pytest.mark.slow
def test_first_samples_agree():
    unexplained, _ = compare("float32", FEW)
    assert unexplained == []


@pytest.mark.slow
@pytest.mark.parametrize("name", DTYPES)
def test_all_samples_agree_but_for_the_table(name):
    unexplained, stale = compare(name)
    assert unexplained == []
    assert stale == set(), "these entries of the table tell of differences that are no more"


def test_table_names_ops_that_are_here():
    from tests.engine.opinfo import OURS
    from tests.engine.opinfo_differences import DIFFERENCES

    here = {info.full_name for info, _ in OURS}
    named = {op for entry in DIFFERENCES for op in entry.ops.split()}
    assert named <= here
    assert {name for entry in DIFFERENCES for name in entry.dtypes.split()} <= set(DTYPES)
