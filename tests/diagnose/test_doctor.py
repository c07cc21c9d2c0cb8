"""The doctor: all findings of a log, one for one cause, the most important first, and what could not be judged."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

import graphscope as gs
from graphscope.debugger.json_data import from_json, to_json
from graphscope.diagnose import Finding, Report, every
from graphscope.diagnose.check_table import CHECKS, check
from graphscope.diagnose.consequences import RULES
from graphscope.diagnose.report_lines import lines_of
from graphscope.eventlog.reader import Log
from graphscope.graph import Graph

SCHEMA = json.loads((files("graphscope.diagnose") / "assets" / "doctor.schema.json").read_text())


def report_of(program: str, folder: Path, **options: str | int) -> Report:
    """What the doctor says of a program that is recorded."""
    script = folder / "train.py"
    script.write_text(f"import graphscope as gs{program}")
    with gs.record(folder / "run.gscope", **options):  # type: ignore[arg-type]
        exec(compile(script.read_text(), str(script), "exec"), {"__name__": "__main__"})
    found = gs.doctor(folder / "run.gscope")
    jsonschema.validate(json.loads(json.dumps(found.data())), SCHEMA)
    return found


CUT = """
a = gs.tensor([1.0, 2.0], requires_grad=True)
b = gs.tensor([1.0, 2.0], requires_grad=True)
sgd = gs.optim.SGD([a, b], lr=0.1)
for step in range(4):
    sgd.zero_grad()
    loss = (a.detach() * b).sum()
    loss.backward()
    sgd.step()
"""

LOGARITHM = """
w = gs.tensor([2.0, 1.0], requires_grad=True)
sgd = gs.optim.SGD([w], lr=0.1)
data = gs.tensor([1.0, 2.0])
for step in range(5):
    sgd.zero_grad()
    if step == 2:
        data = data * 0
    loss = (w * data).log().sum()
    loss.backward()
    sgd.step()
"""


def test_what_every_step_repeats_is_one_finding(tmp_path: Path) -> None:
    (found,) = report_of(CUT, tmp_path)
    assert (found.kind, found.count, found.first_step) == ("missing", 1, 1)
    assert (found.place, found.names) == ("train.py:7", ("a",))
    assert found.source == "    loss = (a.detach() * b).sum()"
    assert found.source[slice(*found.columns)] == "a.detach()"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_comes_of_a_nan_stands_beneath_it(tmp_path: Path) -> None:
    fails = "def fails():\n    gs.ones(2, 3) @ gs.ones(2, 3)\ntry:\n    fails()\nexcept Exception:\n    pass\n"
    found, *others = report_of(LOGARITHM + fails, tmp_path)
    assert (found.kind, found.place, found.first_step) == ("nan", "train.py:9", 3)
    assert "raised" in [each.kind for each in found.consequences]
    assert "nan" not in [each.kind for each in others]


def test_two_causes_are_two_findings_with_errors_first(tmp_path: Path) -> None:
    late = "x = gs.tensor([0.0], requires_grad=True)\nx.log().sum().backward()\n"
    with pytest.warns(RuntimeWarning):
        first, second = report_of(CUT + late, tmp_path)
    assert (first.kind, second.kind) == ("nan", "missing")


def test_what_one_line_does_to_two_tensors_is_one_finding(tmp_path: Path) -> None:
    """The one is zero because the ReLU is closed, the other because it is multiplied by zeros."""
    program = """
w = gs.tensor([-1.0, -2.0], requires_grad=True)
v = gs.tensor([1.0, 2.0], requires_grad=True)
loss = (w.relu() * v).sum()
loss.backward()
"""
    found, *others = report_of(program, tmp_path)
    assert others == []
    assert found.place == "train.py:4"


def test_a_healthy_run_has_none(tmp_path: Path) -> None:
    found = report_of(CUT.replace(".detach()", ""), tmp_path)
    assert not found
    assert list(found) == []
    assert found.unjudged == ()
    assert "nothing found" in repr(found)


@pytest.fixture
def broken() -> Iterator[None]:
    """A check that can't do what it is to do."""

    @check("what never works", reads=("rows",), rows=lambda log: [0], sample="", healthy="")
    def never(graph: Graph, row: int) -> Iterator[Finding]:
        """Nothing."""
        raise ZeroDivisionError("oh")

    yield
    CHECKS.pop("never")


@pytest.mark.usefixtures("broken")
def test_a_check_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    found = report_of(CUT, tmp_path)
    assert [each.kind for each in found] == ["missing"]
    (gap,) = found.unjudged
    assert (gap.what, gap.why) == ("what never works", "the check `never` failed (ZeroDivisionError: oh)")
    assert "`never` failed" in repr(found)


def test_of_an_empty_log_nothing_can_be_judged(tmp_path: Path) -> None:
    found = report_of("\n", tmp_path)
    assert (len(found), found.events) == (0, 0)
    assert [gap.what for gap in found.unjudged] == ["everything"]
    assert "nothing to judge" in repr(found)


def test_without_values_it_says_what_it_could_not_see(tmp_path: Path) -> None:
    found = report_of(CUT, tmp_path, values="none")
    assert [each.kind for each in found] == ["missing"]
    assert every()["nan"].title in found.unjudged[0].what


DEAD = """
import torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(16, 128), torch.nn.ReLU(), torch.nn.Linear(128, 1))
with torch.no_grad():
    net[0].bias.fill_(-60.0)
sgd = torch.optim.SGD(net.parameters(), lr=1e-3)
for step in range(60):
    sgd.zero_grad()
    x = torch.randn(128, 16)
    (net(x) - x.sum(1, keepdim=True)).square().mean().backward()
    sgd.step()
"""


@pytest.mark.slow
@pytest.mark.torch
def test_what_the_budget_has_taken_is_no_evidence(tmp_path: Path) -> None:
    """The values of the first steps are gone: that a layer was alive there is not known."""
    pytest.importorskip("torch")
    whole = report_of(DEAD, tmp_path)
    part = report_of(DEAD, tmp_path, budget=1 << 22, cap=1 << 20)
    for found in (whole, part):
        (dead,) = (each for each in found if each.kind == "dead_relu")
        assert dead.cause != "died in a step"
    assert "the values before" not in repr(whole)
    assert "the values before #" in repr(part)


def test_of_a_log_that_is_cut_it_judges_the_rest(tmp_path: Path) -> None:
    report_of(CUT, tmp_path)
    log = tmp_path / "run.gscope"
    about = json.loads((log / "log.json").read_text())
    (log / "log.json").write_text(json.dumps({**about, "finished": None}))
    for name in ("values", "edges", "rare"):
        for file in log.rglob(f"{name}.npy"):
            file.write_bytes(file.read_bytes()[:200])
    for file in log.rglob("tables/sources*"):
        file.unlink()
    found = gs.doctor(log)
    assert "the end of the run" in [gap.what for gap in found.unjudged]
    shutil.rmtree(log / "tables")
    assert isinstance(gs.doctor(log), Report)


def test_a_log_in_memory_and_a_log_that_is_open() -> None:
    with gs.record() as log:
        gs.ones(2)
    assert isinstance(log, Log)
    assert not gs.doctor(log)


def test_it_travels_between_processes(tmp_path: Path) -> None:
    found = report_of(CUT, tmp_path)
    assert from_json(json.loads(json.dumps(to_json(found)))) == found


def test_a_notebook_shows_it_and_text_of_programs_is_escaped(tmp_path: Path) -> None:
    html = report_of(CUT.replace("loss =", "html = '<b>'; loss ="), tmp_path)._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b>" not in html


def test_no_line_is_wider_than_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a file is never folded: it is there to be opened
    assert max(map(len, repr(report_of(CUT, tmp_path)).splitlines()[1:])) <= 80


def test_the_rules_of_consequence_name_checks() -> None:
    """Once a check has landed, a rule that misspells it would explain nothing."""
    words = {word for rule in RULES for word in (*rule.causes, *rule.effects)}
    assert {"nan", "missing", "raised"} <= words & set(every())


def test_a_recording_of_this_process_is_judged_up_to_now(tmp_path: Path) -> None:
    with gs.record(tmp_path / "run.gscope") as log:
        x = gs.tensor([1.0, 2.0], requires_grad=True)
        (x * x).sum().backward()
        assert gs.doctor(log).unjudged == ()


def test_a_long_line_is_shown_whole(tmp_path: Path) -> None:
    line = f"loss = ({'0.0 + ' * 20}scale.detach() * weight).sum()"
    (tmp_path / "train.py").write_text(
        "import graphscope as torch\n"
        "scale, weight = (torch.ones(2, requires_grad=True) for _ in range(2))\n"
        f"{line}\nloss.backward()\n"
    )
    with gs.record(tmp_path / "run.gscope"):
        exec(compile((tmp_path / "train.py").read_text(), str(tmp_path / "train.py"), "exec"), {})
    lines = [each.text for each in lines_of(gs.doctor(tmp_path / "run.gscope"), 60)]
    assert all(len(each) <= 60 for each in lines if str(tmp_path) not in each)
    folds = [each.partition("| ")[2] for each in lines if "| " in each]
    assert "".join(folds) == line
    marked = next(number for number, each in enumerate(lines) if "^" in each)
    place = slice(lines[marked].index("^"), lines[marked].rindex("^") + 1)
    assert lines[marked - 1][place] == "scale.detach()"[: place.stop - place.start]


def test_a_single_number_that_is_compared_is_judged(tmp_path: Path) -> None:
    program = """
stamp = gs.tensor(1.7e9) * 1.0
(stamp == 1.7e9).any()
w = gs.tensor([1.0], requires_grad=True)
w.sum().backward()
"""
    assert [gap.why for gap in report_of(program, tmp_path).unjudged if "failed" in gap.why] == []
