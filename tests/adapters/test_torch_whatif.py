"""What if, on recordings of PyTorch: gradients checked against differences, calls and stretches run again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import graphscope as gs  # noqa: E402
from graphscope.static.replay import framework_checks  # noqa: E402
from tests.adapters.custom_functions import CASES  # noqa: E402

pytestmark = pytest.mark.torch


def _tensors(given: Any) -> list[Any]:
    if isinstance(given, torch.Tensor):
        return [given]
    return [each for part in given for each in _tensors(part)] if isinstance(given, (tuple, list)) else []


@pytest.mark.parametrize("wrong", [False, True], ids=["right", "wrong"])
@pytest.mark.parametrize("name", CASES)
def test_check_tells_which_gradient_of_a_custom_function_is_wrong(name: str, wrong: bool, tmp_path: Path) -> None:
    torch.manual_seed(0)
    case = CASES[name]
    function = case.written(wrong)
    given = case.given()
    with gs.record(tmp_path / "log", values="full") as log:
        case.loss(function.apply(*given)).backward()
    node = [each for each in log.graph.nodes if each.kind == "op" and not log.op(each.event.op).function][-1]
    found = framework_checks.judge(node)
    assert len(found) == len(_tensors(given))
    blamed = [place for place, each in enumerate(found) if each.agrees is False]
    assert blamed == ([case.mistaken] if wrong else []), found
    silent = [each for each in found if each.agrees is None]
    assert {each.remark for each in silent} <= {"needs no gradient", "int64 has no gradient"}
