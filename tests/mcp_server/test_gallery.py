"""The exam: a client that knows nothing but the tools finds what is wrong with programs of the gallery."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

pytest.importorskip("mcp")
from tests.mcp_server.talking import Caller, talk

pytestmark = [pytest.mark.torch, pytest.mark.slow]

GALLERY: Final = Path(__file__).parents[1] / "gallery"
SICK: Final = ("01_char_lstm", "03_face_pairs", "14_shop_towers", "15_sprite_codes", "19_flower_finetune")
HEALTHY: Final = ("02_mixed_precision", "12_zero_init_resnet", "40_ctc_reader")
OWN: Final = Path(__file__).parent / "healthy"
"""Trainings of many kinds that learn, each written ahead of what the doctor says of it."""
LEARNING: Final = sorted(each.parent.name for each in OWN.glob("*/main.py"))
MOST_CALLS: Final = 4


async def culprit(call: Caller) -> dict[str, Any] | None:
    """Where the program in the server's folder goes wrong, with the text of that line; None where it does not."""
    log = (await call("record", program="main.py"))["log"]
    found = (await call("doctor", log=log, limit=1))["items"]
    if not found:
        return None
    line = found[0]["line"]
    shown = await call("source", log=log, file=found[0]["file"], first=line, limit=1)
    return {"file": Path(found[0]["file"]).name, "line": line, "text": shown["lines"][str(line)]}


async def examined(call: Caller) -> tuple[dict[str, Any] | None, int]:
    """The culprit, and how many calls that took."""
    return await culprit(call), call.calls


def examine(program: str, folder: Path) -> tuple[dict[str, Any] | None, int]:
    """Examine a copy of a program."""
    place = shutil.copytree(GALLERY / program, folder / program)
    return talk(place, examined, "--run")


@pytest.mark.parametrize("program", SICK)
def test_the_culprit_of_a_sick_program_is_found(tmp_path: Path, program: str) -> None:
    """The line that the gallery's key tells, which was written ahead of the doctor, in four calls at most."""
    key = {each["program"]: each for each in json.loads((GALLERY / "expected.json").read_text())["programs"]}
    expected = key[f"sick/{program}"]
    found, calls = examine(f"sick/{program}", tmp_path)
    assert found is not None
    assert found["file"] == Path(expected["file"]).name
    assert found["line"] in expected["lines"]
    assert calls <= MOST_CALLS


@pytest.mark.parametrize("program", HEALTHY)
def test_a_healthy_program_has_none(tmp_path: Path, program: str) -> None:
    """Nothing is found where nothing is wrong."""
    found, calls = examine(f"healthy/{program}", tmp_path)
    assert found is None
    assert calls <= MOST_CALLS


async def learnt(call: Caller) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What became of the program in the server's folder, and all that is found in it."""
    told = await call("record", program="main.py")
    return told, (await call("doctor", log=told["log"]))["items"]


@pytest.mark.parametrize("program", LEARNING)
def test_a_training_that_learns_is_accused_of_nothing(tmp_path: Path, program: str) -> None:
    """It learns, as it says itself, and nothing is found in it."""
    told, found = talk(shutil.copytree(OWN / program, tmp_path / program), learnt, "--run")
    assert told["exit_status"] == 0
    first, last = re.search(r"loss from (\S+) to (\S+)", told["printed"]).groups()  # type: ignore[union-attr]
    assert float(last) < float(first) / 2
    assert found == []


def test_the_trainings_are_there() -> None:
    """None of them is lost on the way."""
    assert len(LEARNING) >= 11
