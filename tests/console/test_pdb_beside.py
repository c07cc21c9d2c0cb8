"""What pdb and our prompt answer when they are asked the same at the same line; the questions are those of its tests.

CPython's `test_pdb` asks them one by one (`whatis`, `pp`, `alias`, `where`, `list`, breakpoints with conditions and
counts, errors in expressions, statements of several kinds). Here pdb itself is the referee: both run the same program.
What differs on purpose is not asked: `args` and `source` speak of nodes, and tables are laid out otherwise.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """\
import graphscope as gs


def inner(x, scale=2.0):
    y = x * scale
    return y.sum()


class Model:
    def run(self, x):
        return inner(x)


def outer():
    data = {"one": 1, "long": list(range(40)), "words": ["alpha", "beta", "gamma"] * 6}
    text = "words"
    model = Model()
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    for turn in range(3):
        loss = model.run(x)
    return loss, text, data


print("begins")
outer()
"""

QUESTIONS = {
    "numbers": ["p scale", "scale * 2", "p x.tolist()", "p 1 + 1", "p 'text'", "p None", "p (1, 2)"],
    "errors": ["p undefined_name", "p 1 / 0", "p [][3]", "p int('x')", "whatis nothing_there"],
    "laid out": ["pp list(range(60))", "up", "pp [scale] if 'scale' in dir() else 3", "up", "pp data"],
    "types": ["whatis scale", "whatis inner", "whatis Model", "whatis None", "whatis x.tolist()", "whatis 1 + 1j"],
    "methods": ["up", "whatis self", "whatis self.run", "whatis Model.run", "p self.run(x).tolist()"],
    "frames": ["up", "p type(self).__name__", "up", "p text", "p turn", "p sorted(data)", "down", "down", "p scale"],
    "statements": [
        "!scale = 3.0", "p scale", "other = 5", "p other", "for i in range(2): print(i)", "import math", "p math.pi",
        "print('printed')", "p [each for each in range(3) if each != 1]", "del other", "p 'other' in dir()",
        "x2 = lambda value: value * 2", "p x2(4)", "if 1: print('yes')", "assert scale, 'no'", "raise KeyError('k')",
    ],
    "aliases": [
        "alias show for each in sorted(%1): print(each)", "show [3,1,2]", "alias twice p (%1) * 2", "twice 21",
        "alias both p [%1, %2]", "both 3 4", "alias all p [%*]", "all 'word'",
    ],
    "listing": ["ll", "l 1,3", "l 9,11"],
    "nothing": ["p ''", "p []", "p {}", "pp {}"],
}  # fmt: skip
"""What is asked, by what it is about; each line of one group after the other."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("beside") / "program.py"
    path.write_text(PROGRAM)
    return path


@pytest.mark.parametrize("about", QUESTIONS)
def test_both_say_the_same(program: Path, about: str) -> None:
    questions = QUESTIONS[about]
    ours = answers(["-m", "graphscope", "debug", "--console", "--log", f"{about}.gscope"], program, questions)
    assert ours == answers(["-m", "pdb"], program, questions)


@pytest.mark.parametrize(
    "breakpoints",
    [
        ["b {file}:5"],
        ["tbreak {file}:5"],
        ["b {file}:5", "ignore 1 1"],
        ["b {file}:5", "ignore 1 7"],
        ["b {file}:5", "condition 1 scale > 3"],
        ["b {file}:5", "condition 1 scale < 3"],
        ["b {file}:5", "disable 1"],
        ["b {file}:5", "disable 1", "enable 1"],
        ["b {file}:5", "cl 1"],
        ["b {file}:5", "b {file}:6"],
        ["b {file}:5", "b {file}:6", "disable 1"],
    ],
)
def test_both_stop_at_the_same_lines(program: Path, breakpoints: list[str]) -> None:
    lines = [each.format(file=program.name) for each in breakpoints]
    ours, theirs = (
        played(argv, program, [*lines, *["c"] * 8])
        for argv in (["-m", "graphscope", "debug", "--console"], ["-m", "pdb"])
    )
    assert stops(ours) == stops(theirs)


def stops(text: str) -> list[str]:
    """The lines at which a program stopped before it ended, of those at which both can: they compute."""
    end = r"^-> .*\n\(the program has ended|^The program finished"
    running = re.split(end, text, maxsplit=1, flags=re.MULTILINE)[0]
    return [line for line in re.findall(r"^-> (.*)$", running, re.MULTILINE) if line in SEEN]


SEEN = ("y = x * scale", "return y.sum()")


def answers(argv: list[str], program: Path, questions: list[str]) -> dict[str, str]:
    """What is answered to each question, in a call of `inner`; ours alone says that it has an alias now."""
    marked = [line for number, each in enumerate(questions) for line in (f"p 'ask{number}' + '.'", each)]
    text = played(argv, program, [f"b {program.name}:5", "c", *marked, "p 'end' + '.'"])
    parts = re.split(r"^'(?:ask\d+|end)\.'$\n", text, flags=re.MULTILINE)[1 : len(questions) + 1]
    return {each: _answer(part) for each, part in zip(questions, parts, strict=True) if not each.startswith("alias ")}


def played(argv: list[str], program: Path, lines: list[str]) -> str:
    """What a debugger prints of a program, and of what it is told, without prompts and without what was typed."""
    found = subprocess.run(
        [sys.executable, *argv, program.name],
        input="\n".join([*lines, "q", ""]),
        capture_output=True,
        text=True,
        cwd=program.parent,
        check=False,
    )
    typed = re.compile(r"^\((?:gs[^)]*|Pdb)\) ?(?:" + "|".join(map(re.escape, lines)) + r")$\n?", re.MULTILINE)
    return re.sub(r"^(?:\((?:gs[^)]*|Pdb)\) ?)+", "", typed.sub("", found.stdout), flags=re.MULTILINE)


def _answer(text: str) -> str:
    """An answer without what only one of them adds: frames, hints, margins, and what a value is like."""
    kept = [
        line.expandtabs(4).strip()
        for line in text.splitlines()
        if not re.match(r"shape |hint: |> .*\(\d+\)|-> |dtype", line)
    ]
    return "\n".join(kept).strip("\n")
