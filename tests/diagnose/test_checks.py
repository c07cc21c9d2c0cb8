"""The table of checks: each finds what is wrong in its sample, nothing in the healthy twin, and reads what it says."""

from __future__ import annotations

import contextlib
import sys
import textwrap
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import graphscope as gs
from graphscope.diagnose import Check, every
from graphscope.diagnose.check_table import CHECKS, PARTS
from graphscope.eventlog.reader import Log
from graphscope.eventlog.schema import NODES


def leaf(*values: float) -> gs.Tensor:
    return gs.tensor(list(map(float, values)), requires_grad=True)


def rows(program: Callable[[], None], name: str) -> dict[int, str]:
    """The rows where a check finds something, with what is said; those that may have it are among the listed ones."""
    with gs.record() as log:
        program()
    log.refresh()
    check = every()[name]
    judged = {row: list(check.judge(log.graph, row)) for row in _nodes(log)}
    found = {row: "; ".join(each.verdict for each in findings) for row, findings in judged.items() if findings}
    assert found.keys() <= set(check.rows(log))
    return found


def _nodes(log: Log) -> list[int]:
    return [row for row in range(log.first, log.end) if log.event(row).kind in NODES]


def log_of(program: str, module: str, folder: Path, **options: Any) -> Log:
    """What running a program of the table records."""
    if options.get("capture") == "compiled" and module != "torch":
        pytest.skip("it compiles nothing")
    script = folder / "sample.py"
    script.write_text(textwrap.dedent(program).strip().replace("import torch", f"import {module} as torch") + "\n")
    with gs.record(folder / "run.gscope", **options):
        exec(compile(script.read_text(), str(script), "exec"), {"__name__": "__main__"})
    return gs.load(folder / "run.gscope")


pytestmark = pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")  # torch asks for it as it compiles
MODULES = ["graphscope", pytest.param("torch", marks=pytest.mark.torch)]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("check", every().values(), ids=lambda check: check.name)
class TestTable:
    @pytest.mark.slow
    def test_its_sample_has_it(self, check: Check, module: str, tmp_path: Path) -> None:
        pytest.importorskip(module)
        log = log_of(check.sample, module, tmp_path, capture=check.capture)
        first, *_ = check.findings(log.graph)
        assert (first.kind, first.place.partition(":")[0]) == (check.name, "sample.py")
        assert first.verdict
        assert first.cure
        assert all(isinstance(number, int | float) for number in first.evidence.values())

    def test_the_healthy_twin_has_nothing(self, check: Check, module: str, tmp_path: Path) -> None:
        pytest.importorskip(module)
        log = log_of(check.healthy, module, tmp_path, capture=check.capture)
        assert [found for each in every().values() for found in each.findings(log.graph)] == []

    @pytest.mark.slow
    def test_it_reads_what_it_says(self, check: Check, module: str, tmp_path: Path) -> None:
        """Without the values of a log, a check that reads none finds the same."""
        pytest.importorskip(module)
        log = log_of(check.sample, module, tmp_path, capture=check.capture)
        before = list(check.findings(log.graph))
        is_kept = "values" in check.reads or ("series" in check.reads and module != "torch")
        for values in () if is_kept else (tmp_path / "run.gscope").rglob("values.npy"):
            values.unlink()
        assert list(check.findings(gs.load(tmp_path / "run.gscope").graph)) == before


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize(
    "check", [each for each in every().values() if "values" not in each.reads], ids=lambda check: check.name
)
@pytest.mark.parametrize("values", ["summary", "none"])
def test_what_reads_no_values_finds_the_same_whatever_is_kept(check: Check, values: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    places = []
    for kept in ("full", values):
        (folder := tmp_path / kept).mkdir()
        log = log_of(check.sample, "torch", folder, values=kept, capture=check.capture)
        places.append([(found.kind, found.line, found.names) for found in check.findings(log.graph)])
    assert places[0] == places[1] != []


@pytest.mark.parametrize("check", every().values(), ids=lambda check: check.name)
def test_an_entry_is_whole(check: Check) -> None:
    assert check.doc
    assert check.title
    assert set(check.reads) <= set(PARTS)
    assert check.sample != check.healthy
    assert import_module(f"graphscope.diagnose.checks.{check.name}").__doc__


def test_a_finding_is_the_same_wherever_one_stands() -> None:
    with gs.record() as log:
        training()
        leaf(0, 1).sqrt().sum().backward()
    log.refresh()
    (found,) = every()["nan"].findings(log.graph)
    assert list(every()["nan"].findings(log.graph.at(found.row))) == [found]
    assert list(every()["nan"].findings(log.graph.at(found.row - 1))) == []


def test_another_package_may_bring_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "foreign_checks.py").write_text(
        "from graphscope.diagnose.check_table import check\n"
        "@check('nothing', reads=('rows',), rows=lambda log: [], sample='', healthy='')\n"
        "def foreign(graph, row):\n    'Nothing at all.'\n    return ()\n"
    )
    info = tmp_path / "foreign_checks-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: foreign_checks\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[graphscope.checks]\nforeign = foreign_checks\nbroken = no_such_module\n")
    monkeypatch.syspath_prepend(tmp_path)
    every.cache_clear()
    try:
        with pytest.warns(UserWarning, match="check broken"):
            assert every()["foreign"].doc == "Nothing at all"
    finally:
        CHECKS.pop("foreign", None)
        every.cache_clear()


def training() -> None:
    """Steps of an optimizer, which writes its parameters in place, and of a program that does so itself."""
    weight, bias = leaf(1, 2), leaf(0)
    sgd = gs.optim.SGD([weight, bias], lr=0.1)
    for _ in range(2):
        sgd.zero_grad()
        hidden = weight * 3
        hidden += 1
        ((hidden + bias) ** 2).sum().backward()
        sgd.step()
    with gs.no_grad():
        weight -= 1.0


def of_somebody_else() -> None:
    x, y = leaf(1), leaf(2)
    gs.autograd.grad((x * y).sum(), [x])


@pytest.mark.parametrize("name", ["overwritten", "missing", "nan"])
@pytest.mark.parametrize("program", [training, of_somebody_else])
def test_a_program_without_fault_has_none(program: Callable[[], None], name: str) -> None:
    assert rows(program, name) == {}


@pytest.mark.slow
def test_of_a_long_healthy_run_no_row_is_looked_at_singly() -> None:
    gs.manual_seed(0)
    net = gs.nn.Sequential(gs.nn.Linear(4, 4), gs.nn.Tanh(), gs.nn.Linear(4, 1))
    adam = gs.optim.Adam(net.parameters())
    with gs.record() as log:
        for _ in range(20):
            adam.zero_grad()
            (net(gs.randn(8, 4)) ** 2).mean().backward()
            adam.step()
    log.refresh()
    assert {name: rows for name, check in every().items() if (rows := list(check.rows(log)))} == {}


def test_a_write_over_what_a_rule_needs() -> None:
    def program() -> None:
        x = leaf(1, 2)
        grown = x.exp()
        grown.mul_(2)
        part = (x * 3)[0]
        scaled = part * x
        part.add_(1)
        scaled.sum()

    first, second = rows(program, "overwritten").values()
    assert first.startswith("exp at ")
    assert "had saved its output, and mul_ at " in first
    assert "mul at " in second
    assert "had saved its input x, and add_ at " in second


def test_a_value_that_nobody_needs_may_be_written() -> None:
    def program() -> None:
        x = leaf(1, 2)
        total = x + 1
        total.mul_(2)  # addition needs none of its operands
        off = gs.tensor([1.0, 2.0])
        (off * 2).exp_()  # nothing of it requires grad
        with gs.no_grad():
            free = x.exp()
            free.mul_(2)

    assert rows(program, "overwritten") == {}


def test_leaves_that_a_pass_leaves_out() -> None:
    def program() -> None:
        used, cut, idle = leaf(1), leaf(2), leaf(3)
        (idle * 2).sum()
        (used * cut.detach()).sum().backward()
        (used * cut).sum().backward()

    (said,) = rows(program, "missing").values()
    detached, unused = said.split("; ")
    assert "detach at " in detached
    assert "was not computed from" in unused


@pytest.mark.slow
def test_a_mask_of_infinities_is_no_symptom_until_nan_comes_of_it() -> None:
    def masked(*hidden: bool) -> Callable[[], None]:
        def program() -> None:
            scores = leaf(1, 2, 3) + 0.5
            given = scores.masked_fill(gs.tensor(list(hidden)), float("-inf"))
            (given + gs.tensor([0.0, float("-inf"), 0.0])).softmax(-1).sum().backward()

        return program

    assert rows(masked(True, False, False), "nan") == {}
    with gs.record() as log:
        masked(True, True, True)()
    log.refresh()
    (softmax,) = (node.row for node in log.graph.select("op:softmax forward"))
    assert min(rows(masked(True, True, True), "nan")) == softmax


def test_leaves_without_a_gradient_for_one_reason_are_told_in_one_sentence() -> None:
    def program() -> None:
        w = gs.tensor(1.0, requires_grad=True)
        v = gs.tensor(2.0, requires_grad=True)
        ((w * v).detach() * leaf(3)).backward()

    (said,) = rows(program, "missing").values()
    assert said.count("cuts the way") == 1
    assert " w and v: " in said


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("check", every().values(), ids=lambda check: check.name)
def test_of_what_a_library_does_the_line_that_calls_it_is_named(
    check: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody changes an installed package: the program's own line is the one to look at."""
    pytest.importorskip("torch")
    installed = tmp_path / "site-packages"
    installed.mkdir()
    sample = textwrap.indent(textwrap.dedent(check.sample).strip(), "    ")
    (installed / "sampled_library.py").write_text(f"def train():\n{sample}\n")
    script = tmp_path / "script.py"
    script.write_text("from sampled_library import train\n\ntrain()\n")
    monkeypatch.syspath_prepend(str(installed))
    monkeypatch.delitem(sys.modules, "sampled_library", raising=False)
    with gs.record(tmp_path / "run.gscope", capture=check.capture), contextlib.suppress(RuntimeError):
        exec(compile(script.read_text(), str(script), "exec"), {"__name__": "__main__"})
    log = gs.load(tmp_path / "run.gscope")
    found = [each for check in every().values() for each in check.findings(log.graph)]
    assert {each.place for each in found} <= {"script.py:3"}
    assert (check.name in {each.kind for each in found}) is (check.name != "never_used")  # it is the library's own
