"""A program under graphscope behaves as it does under Python: the two are run and compared."""

from __future__ import annotations

import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from .conftest import Run

PROGRAMS = {
    "arguments": "import sys; print(sys.argv, __name__, __file__, sys.path[0])",
    "main module": "import sys; m = sys.modules['__main__']; print(m.__file__, m.__spec__, m.__package__, m.__doc__)",
    "names at the top": "print(sorted(globals()))",
    "docstring": "'''What it is.'''\nprint(__doc__)",
    "exit status": "import sys; sys.exit(7)",
    "exit with a message": "import sys; sys.exit('it is over')",
    "exit with nothing": "import sys; sys.exit()",
    "exit in a function": "def leave():\n    raise SystemExit(3)\nleave()",
    "exception": "def fail(x):\n    return 1 / x\nfail(0)",
    "chained exception": "try:\n    {}['a']\nexcept KeyError:\n    raise ValueError('no a')",
    "exception with a cause": "def f():\n    raise ValueError('b') from KeyError('a')\nf()",
    "exception group": "raise ExceptionGroup('many', [ValueError(1), TypeError(2)])",
    "assertion": "assert 1 == 2, 'no'",
    "syntax error": "print('a'\n",
    "own excepthook": "import sys\nsys.excepthook = lambda t, e, tb: print('mine', t.__name__, tb.tb_lineno)\n1 / 0",
    "stdin": "import sys; print(sys.stdin.read()[::-1])",
    "input": "print(input('name? '))",
    "atexit": "import atexit; atexit.register(print, 'bye'); print('hello')",
    "thread": "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.2), print('late'))).start()",
    "pool that nobody closes": "import time\nfrom concurrent.futures import ThreadPoolExecutor\n"
    "pool = ThreadPoolExecutor(2)\npool.submit(lambda: (time.sleep(0.2), print('late')))\nprint('early')",
    "neighbour": "import neighbour; print(neighbour.__name__, neighbour.WORD)",
    "unbuffered stderr": "import sys; print('a', file=sys.stderr); print('b')",
    "pickle": "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))))",
    "dataclass": "import dataclasses\n@dataclasses.dataclass\nclass A:\n    x: 'int' = 3\nprint(A())",
    "annotations": "x: int = 3\nimport typing\nprint(typing.get_type_hints(__import__('__main__')))",
    "fork": "import os\npid = os.fork()\nif pid == 0:\n    print('child', flush=True)\n    os._exit(4)\n"
    "print('parent', os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))",
    "spawn": "import multiprocessing as m\ndef f(x):\n    return x * x\nif __name__ == '__main__':\n"
    "    with m.get_context('spawn').Pool(1) as pool:\n        print(pool.map(f, [1, 2, 3]))",
    "hard exit": "import os\nprint('a', flush=True)\nos._exit(9)",
}
OURS = "graphscope: "


def both(run: Run, *program: str, stdin: str = "") -> tuple[subprocess.CompletedProcess[str], ...]:
    """The program under Python and under graphscope; the latter without the line that we add."""
    bare = run(*program, stdin=stdin)
    ours = run("-m", "graphscope", "record", "--log", "it.gscope", *program, stdin=stdin)
    ours.stderr = "".join(line for line in ours.stderr.splitlines(True) if not line.startswith(OURS))
    return bare, ours


def assert_same(bare: subprocess.CompletedProcess[str], ours: subprocess.CompletedProcess[str]) -> None:
    assert (ours.returncode, ours.stdout, ours.stderr) == (bare.returncode, bare.stdout, bare.stderr)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_script_behaves_as_under_python(run: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / "neighbour.py").write_text("WORD = 'word'")
    (tmp_path / "program.py").write_text(PROGRAMS[name])
    assert_same(*both(run, "program.py", "--log", "-m", "x y", stdin="some text\n"))


@pytest.mark.slow
def test_script_in_another_folder(run: Run, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "neighbour.py").write_text("WORD = 'word'")
    (tmp_path / "deep" / "program.py").write_text(PROGRAMS["neighbour"] + "\n" + PROGRAMS["arguments"])
    assert_same(*both(run, "deep/program.py"))


@pytest.mark.slow
def test_linked_script_finds_the_neighbours_of_its_target(run: Run, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "neighbour.py").write_text("WORD = 'word'")
    (tmp_path / "deep" / "program.py").write_text(PROGRAMS["neighbour"] + "\n" + PROGRAMS["arguments"])
    (tmp_path / "link.py").symlink_to("deep/program.py")
    assert_same(*both(run, "link.py"))


@pytest.mark.slow
@pytest.mark.parametrize("module", ["tool", "kit", "kit.part"])
def test_module_behaves_as_under_python(run: Run, tmp_path: Path, module: str) -> None:
    text = "import sys; print(sys.argv, __name__, __file__, __package__, __spec__.name, sys.path[0])\n1 / 0"
    (tmp_path / "kit").mkdir()
    (tmp_path / "kit" / "__init__.py").write_text("import sys; print('package', sys.argv)")
    for name in ("tool.py", "kit/__main__.py", "kit/part.py"):
        (tmp_path / name).write_text(text)
    bare, ours = both(run, "-m", module, "-m", "--", "--log")
    # `python -m` shows two frames of its own runpy.
    bare.stderr = "".join(part for part in bare.stderr.splitlines(True) if "runpy" not in part)
    assert (ours.returncode, ours.stdout) == (bare.returncode, bare.stdout)
    assert ours.stderr.splitlines()[-1] == "ZeroDivisionError: division by zero"
    assert "graphscope" not in ours.stderr
    assert "runpy" not in ours.stderr


@pytest.mark.slow
def test_folder_and_zip_with_a_main(run: Run, tmp_path: Path) -> None:
    text = "import sys, neighbour; print(sys.argv, __name__, sys.path[0], neighbour.WORD)"
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__main__.py").write_text(text)
    (tmp_path / "app" / "neighbour.py").write_text("WORD = 'word'")
    with zipfile.ZipFile(tmp_path / "app.zip", "w") as archive:
        archive.writestr("__main__.py", text)
        archive.writestr("neighbour.py", "WORD = 'zipped'")
    for program in ("app", "app.zip"):
        bare, ours = both(run, program, "x")
        assert_same(bare, ours)
        assert bare.returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere.py"], "there is no script 'nowhere.py'"),
        (["-m", "no_such_module"], "there is no module 'no_such_module'"),
        (["-m", "json.nothing"], "there is no module 'json.nothing'"),
        (["-m", "email"], "the package 'email' has no module __main__ to run"),
        (["-m"], "-m needs the name of a module"),
        (["--"], "no program to run"),
        ([], "no program to run"),
        (["empty"], "'empty' has no __main__.py to run"),
        (["runs/train.gscope"], "'runs/train.gscope' is a recording, not a program"),
    ],
)
def test_a_program_that_is_not_there(graphscope: Run, tmp_path: Path, words: list[str], message: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "runs" / "train.gscope").mkdir(parents=True)
    (tmp_path / "runs" / "train.gscope" / "log.json").write_text("{}")
    result = graphscope("record", *words)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.splitlines()[0] == f"graphscope: {message}"
    assert "Traceback" not in result.stderr
    assert not list(tmp_path.glob("*.gscope"))


def test_double_dash_ends_our_options(graphscope: Run, tmp_path: Path) -> None:
    (tmp_path / "-odd.py").write_text("import sys; print(sys.argv)")
    result = graphscope("record", "--", "-odd.py", "--values")
    assert result.stdout == "['-odd.py', '--values']\n"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, -signal.SIGINT), (signal.SIGTERM, -signal.SIGTERM)])
def test_signals_reach_the_program(tmp_path: Path, number: signal.Signals, status: int) -> None:
    # Short sleeps: a signal that comes just ahead of a long one would be noticed only at its end.
    text = "import time\nprint('ready', flush=True)\nfor _ in range(1200):\n    time.sleep(0.05)\n"
    (tmp_path / "waits.py").write_text(text)
    process = subprocess.Popen(
        [sys.executable, "-m", "graphscope", "record", "waits.py"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        _, errors = process.communicate(timeout=120)
    assert process.returncode == status
    assert "cli" not in errors
    assert ("KeyboardInterrupt" in errors) == (number is signal.SIGINT)
