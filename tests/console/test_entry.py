"""Ways to the prompt, each in a process of its own as a person would take it."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import graphscope as gs
from graphscope.console.prompt_entry import open_console

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def python(tmp_path: Path):
    """Run a program in a fresh Python with lines on its standard input."""

    def run(
        source: str, *lines: str, options: tuple[str, ...] = (), **environment: str
    ) -> subprocess.CompletedProcess[str]:
        script = tmp_path / "prog.py"
        script.write_text(textwrap.dedent(source))
        return subprocess.run(
            [sys.executable, str(script)],
            input="".join(f"{line}\n" for line in lines),
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=120,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "HOME": str(tmp_path),
                "PYTHONIOENCODING": "utf-8",
                **environment,
            },
        )

    return run


BREAKPOINT = """\
import graphscope as gs

def cell(x):
    breakpoint()
    y = x * 2.0
    return y + 1.0

x = gs.tensor([1.0, 2.0], requires_grad=True)
cell(x).sum().backward()
print("grad", x.grad.tolist())
"""


@pytest.mark.slow
def test_breakpoint_stops_at_the_next_node(python) -> None:
    done = python(BREAKPOINT, "n", "p value", "w", "c", PYTHONBREAKPOINT="graphscope.set_trace")

    assert done.returncode == 0, done.stderr
    assert "> #0 leaf (2 float32) forward prog.py:5 x" in done.stdout
    assert "> #1 mul (2 float32) forward prog.py:5 y" in done.stdout
    assert "prog.py(5)cell" in done.stdout
    assert "grad [2.0, 2.0]" in done.stdout


@pytest.mark.slow
def test_a_cotangent_is_changed_in_the_live_program(python) -> None:
    done = python(
        BREAKPOINT, "tbreak op:mul backward", "c", "set grad = grad * 10", "c", PYTHONBREAKPOINT="graphscope.set_trace"
    )

    assert "grad [20.0, 20.0]" in done.stdout


@pytest.mark.slow
def test_leaving_ends_the_program(python) -> None:
    done = python(BREAKPOINT, "q", PYTHONBREAKPOINT="graphscope.set_trace")

    assert "grad" not in done.stdout
    assert done.stderr == ""
    assert done.returncode == 0


@pytest.mark.slow
def test_a_recording_that_is_active_is_used(python) -> None:
    program = """\
    import graphscope as gs
    with gs.record("run.gscope"):
        x = gs.tensor([1.0])
        gs.set_trace()
        y = x * 2.0
        gs.set_trace()
        z = y * 3.0
    print("rows", len(gs.load("run.gscope")))
    """
    done = python(program, "info log", "c", "c")

    assert "> #1 mul" in done.stdout
    assert "> #2 mul" in done.stdout
    assert "run.gscope" in done.stdout
    assert "rows 3" in done.stdout


@pytest.mark.slow
def test_post_mortem(python) -> None:
    program = """\
    import graphscope as gs

    def product(left, right):
        secret = 42
        return left @ right

    try:
        with gs.record() as log:
            a = gs.ones(2, 3)
            product(a, a * 2.0)
    except RuntimeError:
        gs.post_mortem(log)
    print("after")
    """
    done = python(program, "w", "p secret", "u", "rn", "!secret", "q")

    assert "(RuntimeError: " in done.stdout
    assert "> #2 matmul" in done.stdout
    assert "-> return left @ right" in done.stdout
    assert "prog.py(5)product" in done.stdout
    assert done.stdout.count("\n42\n") == 2
    assert done.stdout.endswith("after\n")


@pytest.mark.slow
def test_post_mortem_without_a_log(python) -> None:
    done = python("import graphscope as gs\ngs.post_mortem()\n")

    assert "No log is being recorded" in done.stderr


def test_an_exception_under_debug_is_looked_at_where_it_happened(debug) -> None:
    program = """\
    import graphscope as torch
    a = torch.tensor([1.0, 2.0])
    b = a * 2.0
    limit = 3
    raise ValueError("too far")
    """
    text = debug(program, "c", "p limit", "w", "rn", "q")

    assert "(ValueError: too far)" in text
    assert "\n3\n" in text
    assert "prog.py(5)<module>" in text
    assert text.endswith("status 1\n")


def test_a_program_without_nodes(debug) -> None:
    assert "it made no node" in debug("print('hello')\n")


def test_a_recorded_log(tmp_path: Path, monkeypatch, capsys) -> None:
    with gs.record(tmp_path / "run.gscope"):
        a = gs.tensor(15.0, requires_grad=True)
        b = gs.tensor(20.0, requires_grad=True)
        c = a * b
        c.backward()
    monkeypatch.setenv("HOME", str(tmp_path))
    lines = [
        "c",
        "rn",
        "p a.grad",
        "goto c",
        "p value",
        "p grad",
        "s 3",
        "w",
        "set value = 1",
        "!x = 1",
        "b nan",
        "rc",
        "rs",
    ]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines)))

    assert open_console(tmp_path / "run.gscope") == 0

    text = capsys.readouterr().out
    assert "the beginning of " in text
    assert "(the end of the recording)" in text
    assert "array(20., dtype=float32)" in text
    assert "array(300., dtype=float32)" in text
    assert "(recorded)" in text
    assert "*** What is past can't be changed" in text
    assert "hint: run it under `graphscope debug`" in text


@pytest.mark.slow
def test_other_threads_wait_at_the_gate(python) -> None:
    program = """\
    import threading
    import graphscope as gs

    def work(start):
        x = gs.tensor(start)
        for _ in range(3):
            x = x + 1.0
        results.append(x.item())

    results = []
    gs.set_trace()
    threads = [threading.Thread(target=work, args=(start,)) for start in (1.0, 10.0)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    print("results", sorted(results))
    """
    done = python(program, *["n"] * 5, "when", "c")

    assert "results [4.0, 13.0]" in done.stdout, done.stderr
    assert done.stderr == ""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs signals as POSIX has them")
def test_ctrl_c_stops_at_the_next_node(python) -> None:
    program = """\
    import os, signal
    import graphscope as gs
    gs.set_trace()
    x = gs.tensor(1.0)
    os.kill(os.getpid(), signal.SIGINT)
    y = x + 1.0
    z = y + 1.0
    print("on", z.item())
    """
    done = python(program, "c", "c")

    assert "The program stops at its next node" in done.stdout
    assert "> #1 add (scalar float32) forward prog.py:6 y" in done.stdout
    assert "(interrupted)" in done.stdout
    assert "on 3.0" in done.stdout


@pytest.mark.slow
def test_post_mortem_names_the_exception_that_is_handled(python) -> None:
    done = python(
        """
        import graphscope as gs
        with gs.record():
            x = gs.ones(3)
            try:
                x.nothing
            except AttributeError:
                gs.post_mortem()
        print("went on")
        """,
        "q",
    )

    assert "(AttributeError: 'Tensor' object has no attribute 'nothing')" in done.stdout
    assert "went on" in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_forked_child_has_no_prompt(tmp_path: Path) -> None:
    source = """
        import os, sys
        import graphscope as gs
        x = gs.ones(3)
        child = os.fork()
        y = x * 2
        if not child:
            sys.exit(0)
        os.waitpid(child, 0)
        print("parent")
    """
    script = tmp_path / "prog.py"
    script.write_text(textwrap.dedent(source))
    done = subprocess.run(
        [sys.executable, "-m", "graphscope", "debug", str(script)],
        input="c\nq\n",
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)},
    )

    assert done.stdout.count("the program has ended") == 1
    assert done.stdout.index("parent") < done.stdout.index("the program has ended")
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    script = tmp_path / "prog.py"
    script.write_text("import graphscope as gs\ngs.set_trace()\nx = gs.ones(3)\ny = x * 2\n")
    with subprocess.Popen(
        [sys.executable, str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)},
    ) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        assert program.stderr is not None
        assert program.stdout.readline().startswith("> #0")
        program.stdout.close()
        program.stdin.write("help\n")
        program.stdin.close()

        assert program.stderr.read() == ""
        assert program.wait(120) == 0


CALLS = """\
{framework}


def f(x, k):
    y = x.tanh()
    return y


x = torch.ones(3, requires_grad=True)
for epoch in range(6):
    z = f(x, epoch)
    loss = z.sum()
"""


@pytest.mark.parametrize(
    "framework",
    [
        "import graphscope as torch",
        pytest.param("import torch", marks=[pytest.mark.torch, pytest.mark.slow]),
    ],
)
def test_names_in_conditions_are_those_of_the_frame_that_made_the_node(debug, framework: str) -> None:
    program = CALLS.replace("{framework}", framework)
    text = debug(program, "n", "n", "b op:tanh forward, k == 4", "c", "p k", "b op:sum forward, epoch == 5", "c", "q")

    assert "raised" not in text
    assert "(breakpoint 1: op:tanh forward, k == 4)\n(gs) p k\n4\n" in text
    assert text.count("> #") == 5


def test_a_function_is_looked_at_with_its_own_variables_in_the_past(debug) -> None:
    program = CALLS.replace("{framework}", "import graphscope as torch")
    text = debug(program, "b op:sum", "c", "c", "rs", "p y.sum()", "p x.sum()", "p epoch", "!epoch", "epoch", "q")

    assert ") p x.sum()\nnp.float32(3.0)\n" in text
    assert ") p epoch\n*** NameError" in text
    assert ") !epoch\n1\n" in text
    assert ") epoch\n*** NameError" in text
