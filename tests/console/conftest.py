"""Programs run under the debugger with scripted commands; what a person would have read comes back."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from graphscope.console.prompt_entry import debug_program

PRODUCT = """\
import graphscope as torch

a = torch.tensor(15.0, requires_grad=True)
b = torch.tensor(20.0, requires_grad=True)
c = a * b
c.backward()
print("a.grad", a.grad.item(), "b.grad", b.grad.item())
"""

CHAIN = """\
import graphscope as torch


def layer(x, weight):
    scaled = x * weight
    return scaled.tanh()


x = torch.tensor([1.0, 2.0, 3.0])
w = torch.tensor([0.1, 0.2, 0.3], requires_grad=True)
for step in range(3):
    h = layer(x, w)
    y = h * h
    loss = y.sum()
    w.grad = None
    loss.backward()
print("done", round(loss.item(), 4))
"""


@pytest.fixture
def debug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run source text under the debugger, and return all that was printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))

    def run(source: str, *commands: str, breakpoints: tuple[str, ...] = (), log: Path | None = None) -> str:
        script = tmp_path / "prog.py"
        script.write_text(textwrap.dedent(source))
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in commands)))

        def program(arguments: tuple[str, ...] | None, failed: Callable[[BaseException], None]) -> int:
            try:
                exec(
                    compile(script.read_text(), str(script), "exec"),
                    {"__name__": "__main__", "arguments": arguments},
                )
            except SystemExit as leaving:
                return int(leaving.code or 0)
            except Exception as error:
                failed(error)
                return 1
            return 0

        status = debug_program(program, breakpoints=breakpoints, log=log)
        return f"{capsys.readouterr().out}status {status}\n"

    return run


@pytest.fixture
def product() -> str:
    return PRODUCT


@pytest.fixture
def chain() -> str:
    return CHAIN
