"""`graphscope diff`: of logs and of programs that do the same, part, fail, die and are interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from .conftest import ROOT, Run

SCHEMA = json.loads((files("graphscope.compare") / "assets" / "diff.schema.json").read_text())

A = """
import sys
import graphscope as gs
print("begins", *sys.argv[1:])
x = gs.tensor([[1.0, 2.0, 4.0]], requires_grad=True)
y = gs.nn.functional.softmax(x * 2, dim=1)
(y ** 2).sum().backward()
"""
B = A.replace("dim=1", "dim=0")


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text(A)
    (tmp_path / "b.py").write_text(B)
    return tmp_path


@pytest.mark.slow
def test_of_two_programs_it_records_both(pair: Path, graphscope: Run) -> None:
    result = graphscope("diff", "--a-args", "--epochs '3 4'", "a.py", "b.py", "--b-args", "x")
    assert result.returncode == 1
    first, *rest = result.stdout.splitlines()
    assert first == "They part in the forward pass: softmax at a.py:6 and b.py:6."
    assert rest[1:3] == [
        "   a  a.py:6 | y = gs.nn.functional.softmax(x * 2, dim=1)",
        "   b  b.py:6 | y = gs.nn.functional.softmax(x * 2, dim=0)",
    ]
    assert "begins --epochs 3 4\n" in result.stderr
    assert "begins x\n" in result.stderr
    assert (pair / "a.gscope").is_dir()
    assert (pair / "b.gscope").is_dir()


@pytest.mark.slow
@pytest.mark.usefixtures("pair")
def test_json_is_all_that_is_printed(graphscope: Run, read: Run) -> None:
    result = graphscope("diff", "a.py", "b.py", "--json")
    found = json.loads(result.stdout)
    jsonschema.validate(found, SCHEMA)
    assert (found["same"], found["parting"]["a"]["line"], found["parting"]["a"]["op"]) == (False, 6, "softmax")
    again = read("diff", "a.gscope", "b", "--json")
    assert again.returncode == 1
    assert json.loads(again.stdout) == {**found, "a": "a.gscope", "b": "b.gscope"}


@pytest.mark.slow
@pytest.mark.usefixtures("pair")
def test_one_program_twice_is_the_same(graphscope: Run, read: Run) -> None:
    result = graphscope("diff", "a.py", "a.py")
    assert (result.returncode, len(result.stdout.splitlines())) == (0, 1)
    assert result.stdout.startswith("The same: ")
    found = read("diff", "--json", "a-a.gscope", "a-b.gscope")
    assert found.returncode == 0
    jsonschema.validate(json.loads(found.stdout), SCHEMA)


@pytest.mark.slow
def test_a_log_is_not_overwritten_by_the_program_that_it_is_compared_with(pair: Path, graphscope: Run) -> None:
    graphscope("record", "a.py")
    (pair / "a.py").write_text(B)
    result = graphscope("diff", "a.gscope", "a.py")
    assert result.returncode == 1
    assert (pair / "a-b.gscope").is_dir()


@pytest.mark.slow
def test_programs_that_fail_and_die_are_compared_as_far_as_they_ran(pair: Path, graphscope: Run) -> None:
    (pair / "a.py").write_text(A + "gs.ones(2) @ gs.ones(3)\n")
    (pair / "b.py").write_text(A + "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n")
    result = graphscope("diff", "a.py", "b.py")
    said = " ".join(result.stdout.split())
    assert "a (a.gscope) failed with " in said
    assert "b (b.gscope) is not finished, and is compared as far as it goes" in said


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_program_that_is_interrupted_is_compared_too(pair: Path) -> None:
    (pair / "a.py").write_text(A + "import signal\nprint('waits', flush=True)\nsignal.pause()\n")
    with subprocess.Popen(
        [sys.executable, "-m", "graphscope", "diff", "--json", "a.py", "b.py"],
        cwd=pair,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
    ) as child:
        assert child.stderr is not None
        while "waits" not in child.stderr.readline():
            assert child.poll() is None
        os.killpg(child.pid, signal.SIGINT)  # as a terminal does it: to both processes
        printed, _ = child.communicate(timeout=60)
    assert child.returncode == 1
    found = json.loads(printed)
    assert found["parting"]["a"]["op"] == "softmax"
    assert any("a (a.gscope) was interrupted" in each for each in found["remarks"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "two runs are compared, and there is none"),
        (["a.py"], "two runs are compared, and there is one"),
        (["nothing.py", "a.py"], "there is no script 'nothing.py'"),
        (["absent.gscope", "a.py"], "there is no log 'absent.gscope'"),
        (["a.py", "b.py", "-o", "diff.xyz"], "no exporter makes files that end in '.xyz'"),
        (["a.py", "b.py", "-o", "nowhere/diff.svg"], "there is no folder nowhere"),
        (["a.py", "b.py", "--map", "layer1=b.x"], "--map can't read 'layer1=b.x'"),
        (["a.py", "b.py", "--screen"], "there is no terminal to draw a screen on"),
        (["a.py", "b.py", "a.py"], "unrecognized arguments: a.py"),
        (["a.py", "b.py", "--a-args", "'"], "--a-args \"'\" can't be read: No closing quotation"),
    ],
)
def test_what_it_refuses_before_anything_runs(pair: Path, graphscope: Run, words: list[str], message: str) -> None:
    result = graphscope("diff", *words)
    assert (result.returncode, result.stdout) == (2, "")
    assert f"graphscope: {message}" in result.stderr
    assert "begins" not in result.stderr
    assert "Traceback" not in result.stderr
    assert not [*pair.glob("*.gscope")]


@pytest.mark.slow
@pytest.mark.usefixtures("pair")
def test_what_it_refuses_of_logs(graphscope: Run, read: Run) -> None:
    graphscope("record", "a.py")
    same = read("diff", "a.gscope", "a")
    assert (same.returncode, same.stdout) == (2, "")
    assert "are the same log" in same.stderr
    told = read("diff", "a.gscope", "a", "--b-args", "x")
    assert "--b-args is for a script" in told.stderr


@pytest.mark.slow
def test_nothing_to_compare(pair: Path, graphscope: Run) -> None:
    (pair / "a.py").write_text("print('idle')\n")
    (pair / "b.py").write_text("this is no Python\n")
    result = graphscope("diff", "a.py", "b.py")
    assert result.returncode == 2
    assert "There is nothing to compare." in result.stdout
    assert "a (a.gscope) holds no events" in result.stdout
    assert "b (b.gscope) failed with SyntaxError: " in result.stdout


@pytest.mark.slow
def test_a_person_may_say_how_far_apart_is_the_same(pair: Path, graphscope: Run, read: Run) -> None:
    (pair / "b.py").write_text(A.replace("x * 2", "x * 2.001"))
    assert graphscope("diff", "a.py", "b.py").returncode == 1
    assert read("diff", "a.gscope", "b.gscope", "--rtol", "0.1").returncode == 0
    assert read("diff", "a.gscope", "b.gscope", "--atol", "0.1").returncode == 0
    assert read("diff", "a.gscope", "b.gscope", "--rtol", "1e-6").returncode == 1


@pytest.mark.slow
def test_a_person_may_say_what_belongs_together(pair: Path, graphscope: Run, read: Run) -> None:
    program = """
import graphscope as gs
gs.manual_seed({seed})
{one} = gs.randn(3, 3, requires_grad=True)
{other} = gs.randn(3, 3, requires_grad=True)
(gs.ones(3, 3) @ {one} @ {other}).sum().backward()
"""
    (pair / "a.py").write_text(program.format(seed=0, one="up", other="down"))
    (pair / "b.py").write_text(program.format(seed=1, one="first", other="second"))
    graphscope("diff", "a.py", "b.py")
    for mine, its in (("up", "first"), ("up", "second")):
        found = read("diff", "a.gscope", "b.gscope", "--json", "--map", f"a.{mine}=b.{its}")
        parting = json.loads(found.stdout)["parting"]
        assert (parting["a"]["name"], parting["b"]["name"]) == (mine, its)


@pytest.mark.slow
def test_rank_is_compared_with_rank(pair: Path, graphscope: Run, read: Run) -> None:
    for name, rank, program in (("a", 0, "a"), ("a", 1, "a"), ("b", 0, "a"), ("b", 1, "b")):
        graphscope("record", "--log", f"{name}-rank{rank}.gscope", f"{program}.py")
    found = read("diff", "a.gscope", "b.gscope")
    assert found.returncode == 1
    assert "softmax at a.py:6 and b.py:6" in found.stdout
    assert "1 of 2 ranks part; this is rank 1." in found.stdout
    assert read("diff", "a-rank0.gscope", "b-rank0.gscope").returncode == 0
    assert not (pair / "a.gscope").exists()


@pytest.mark.slow
def test_a_picture(pair: Path, graphscope: Run) -> None:
    assert graphscope("diff", "a.py", "b.py", "-o", "diff.svg").returncode == 1
    assert "≠" in (pair / "diff.svg").read_text(encoding="utf-8")


@pytest.mark.slow
def test_logs_without_values(pair: Path, graphscope: Run) -> None:
    (pair / "b.py").write_text(A.replace("(y ** 2).sum()", "(y ** 2)[0].sum()"))
    result = graphscope("diff", "--values", "none", "a.py", "b.py")
    assert "keeps no values: ops and shapes alone are compared" in " ".join(result.stdout.split())


@pytest.mark.slow
def test_names_of_a_program_do_not_steer_the_terminal(pair: Path, graphscope: Run) -> None:
    (pair / "b.py").write_text(B.replace("softmax(x * 2", "softmax('\x1b[31m[red]' and x * 2"))
    result = graphscope("diff", "a.py", "b.py")
    assert "\x1b" not in result.stdout
    assert "\\x1b[31m[red]" in result.stdout
