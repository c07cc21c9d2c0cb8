"""`graphscope debug` and `open`: what the command line adds to the console."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from .conftest import Run

PROGRAM = """
import sys
import graphscope as gs
a = gs.tensor(float(sys.argv[1]), requires_grad=True)
c = a * 4.0
c.backward()
print("gradient", a.grad.item())
sys.exit(int(sys.argv[2]))
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A program that takes a number and the status that it exits with."""
    path = tmp_path / "it.py"
    path.write_text(PROGRAM)
    return path


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No `.graphscoperc` of whoever runs the tests."""
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.mark.usefixtures("script")
class TestDebug:
    """One program, debugged in several ways."""

    @pytest.mark.slow
    def test_stops_at_the_first_node(self, graphscope: Run) -> None:
        result = graphscope("debug", "--console", "it.py", "3", "0", stdin="q\n")
        assert result.stdout.startswith("> #0 tensor (scalar float32) forward it.py:4 a\n")
        assert result.returncode == 0
        assert "gradient" not in result.stdout

    @pytest.mark.slow
    @pytest.mark.parametrize("status", ["0", "7"])
    def test_passes_on_the_exit_status_of_the_program(self, graphscope: Run, status: str) -> None:
        result = graphscope("debug", "it.py", "3", status, stdin="c\nq\n")
        assert result.returncode == int(status)
        assert "gradient 4.0" in result.stdout

    @pytest.mark.slow
    def test_breakpoints_and_commands_of_the_command_line(self, graphscope: Run) -> None:
        words = ["-b", "op:mul backward", "-c", "c", "-c", "set grad = 10.0", "-c", "c", "-c", "q"]
        result = graphscope("debug", *words, "it.py", "3", "0")
        assert "> #3 mul (scalar float32) backward it.py:5 c" in result.stdout.replace("#4", "#3")
        assert "gradient 40.0" in result.stdout

    @pytest.mark.slow
    def test_a_module(self, graphscope: Run) -> None:
        result = graphscope("debug", "-c", "c", "-c", "q", "-m", "it", "3", "0")
        assert "gradient 4.0" in result.stdout

    @pytest.mark.slow
    def test_keeps_the_log_where_it_is_told_to(self, graphscope: Run, tmp_path: Path) -> None:
        graphscope("debug", "--log", "kept.gscope", "it.py", "3", "0", stdin="c\nq\n")
        assert (tmp_path / "kept.gscope" / "log.json").is_file()
        result = graphscope("open", "kept.gscope", stdin="p value\nq\n")
        assert result.returncode == 0
        assert "array(3., dtype=float32)" in result.stdout

    @pytest.mark.slow
    def test_leaves_no_log_when_it_is_told_nothing(self, graphscope: Run, tmp_path: Path) -> None:
        before = set(tmp_path.iterdir())
        graphscope("debug", "it.py", "3", "0", stdin="c\nq\n")
        assert {path.suffix for path in set(tmp_path.iterdir()) - before} <= {""}

    @pytest.mark.slow
    def test_restart_with_other_arguments(self, graphscope: Run) -> None:
        result = graphscope("debug", "it.py", "3", "0", stdin="restart 5 0\np value\nq\n")
        assert "array(5., dtype=float32)" in result.stdout
        assert "Traceback" not in result.stderr

    @pytest.mark.slow
    def test_a_breakpoint_that_is_not_understood_runs_nothing(self, graphscope: Run) -> None:
        result = graphscope("debug", "-b", "op:mul and and", "it.py", "3", "0")
        assert result.returncode == 2
        assert result.stdout == ""
        assert result.stderr.startswith("graphscope: ")
        assert "Traceback" not in result.stderr

    @pytest.mark.slow
    def test_end_of_input_leaves(self, graphscope: Run) -> None:
        assert graphscope("debug", "it.py", "3", "0").returncode == 0


@pytest.mark.slow
def test_the_programs_own_failure(graphscope: Run, tmp_path: Path) -> None:
    (tmp_path / "fails.py").write_text("import graphscope as gs\na = gs.ones(2, 3)\nb = gs.mm(a, a)\n")
    result = graphscope("debug", "fails.py", stdin="c\nw\nq\n")
    assert result.returncode == 1
    assert "graphscope/cli" not in result.stderr
    assert "b = gs.mm(a, a)" in result.stderr
    assert "fails.py" in result.stdout


@pytest.mark.slow
def test_a_program_without_nodes(graphscope: Run, tmp_path: Path) -> None:
    (tmp_path / "none.py").write_text("print('nothing here')\n")
    result = graphscope("debug", "none.py")
    assert result.returncode == 0
    assert result.stdout.startswith("nothing here\n")


@pytest.mark.slow
def test_the_program_reads_what_the_prompt_leaves(graphscope: Run, tmp_path: Path) -> None:
    (tmp_path / "asks.py").write_text("import graphscope as gs\na = gs.ones(2)\nprint('got', input())\n")
    result = graphscope("debug", "asks.py", stdin="c\nfor the program\nq\n")
    assert "got for the program" in result.stdout


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="its processes start as new programs")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_without_breakpoints_are_told_of(graphscope: Run, tmp_path: Path, method: str) -> None:
    (tmp_path / "workers.py").write_text(
        "import multiprocessing\nimport graphscope as gs\n"
        "def work():\n    gs.tanh(gs.ones(2))\n"
        "if __name__ == '__main__':\n"
        f"    multiprocessing.set_start_method({method!r})\n"
        "    gs.ones(2) * 2\n    worker = multiprocessing.Process(target=work)\n"
        "    worker.start()\n    worker.join()\n    raise SystemExit(worker.exitcode)\n"
    )
    result = graphscope("debug", "--console", "-b", "op:tanh", "workers.py", stdin="c\nq\n")
    assert result.returncode == 0
    told = "graphscope: breakpoints don't hold in the processes that the program started\n"
    assert result.stderr.count(told) == 1


@pytest.mark.slow
def test_processes_that_only_serve_are_not_told_of(graphscope: Run, tmp_path: Path) -> None:
    (tmp_path / "serves.py").write_text(
        "import multiprocessing\nimport graphscope as gs\n"
        "if __name__ == '__main__':\n"
        "    gs.ones(2) * 2\n    unused = multiprocessing.Process(target=gs.tanh)\n"
        "    with multiprocessing.Manager() as manager:\n        print(manager.list([1, 2]))\n"
    )
    result = graphscope("debug", "--console", "serves.py", stdin="c\nq\n")
    assert "[1, 2]" in result.stdout
    assert result.stderr == ""


@pytest.mark.slow
def test_a_process_that_can_not_start_is_not_told_of(graphscope: Run, tmp_path: Path) -> None:
    (tmp_path / "unsent.py").write_text(
        "import multiprocessing\nimport graphscope as gs\n"
        "if __name__ == '__main__':\n"
        "    gs.ones(2) * 2\n    context = multiprocessing.get_context('spawn')\n"
        "    context.Process(target=lambda: None).start()\n"
    )
    result = graphscope("debug", "--console", "unsent.py", stdin="c\nq\n")
    assert result.returncode == 1
    assert "lambda" in result.stderr
    assert "breakpoints don't hold" not in result.stderr


@pytest.mark.slow
def test_what_can_be_no_value_is_refused_and_changes_nothing(graphscope: Run, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import graphscope as gs\nx = gs.zeros(2, requires_grad=True)\n"
        "y = gs.tanh(x)\ny.sum().backward()\nprint(x.grad)\n"
    )
    words = ["c", "set value = None", "set value = 2j", "cl", "b op:tanh backward", "c", "set grad = None"]
    words += ["set grad = 1 + 1j", "cl", "c", "q"]
    result = graphscope("debug", "--console", "-b", "op:tanh forward", "program.py", stdin="\n".join(words))
    assert "tensor([1., 1.])" in result.stdout
    assert result.stdout.count("The program can't go on without a ") == 2
    assert result.stdout.count("a part would be lost") == 2


@pytest.mark.slow
def test_going_into_a_rule_renames_nothing(graphscope: Run, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import graphscope as gs\nw = gs.ones(2, 2, requires_grad=True)\nh = gs.ones(1, 2)\n"
        "loss = gs.mm(w, h.t()).sum()\nloss.backward()\n"
    )
    words = ["c", "s", "s", "s", "lt", "goto loss", "why loss", "path w loss", "q"]
    told = graphscope("debug", "--console", "-b", "op:mm backward", "program.py", stdin="\n".join(words)).stdout
    assert "in the rule of" in told
    table, rest = told.split(" tensors\n")[1].split("> #", 1)
    assert [line.split()[1] for line in table.splitlines() if " loss " in line] == ["sum", "SumBackward"]
    assert "loss.grad is neither None nor zero" in rest
    path = [line.split()[1] for line in rest.splitlines() if line.startswith("#")]
    assert path == ["w", "mm", "sum"]
