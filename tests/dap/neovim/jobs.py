"""What a person does in an editor: the program, the keys, and what must be seen, by PyTorch or by arithmetic."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from tests.dap.neovim.seen import Seen, numbers
from tests.dap.talking import ROOT

Action = tuple[str | int, ...]
"""What `person.lua` does, and what it takes for it."""

FILE: Final = "a program.py"

GO: Final = ("press", "<F5>")
BACK: Final = ("press", "<F9>")
FAR_BACK: Final = ("press", "<F6>")
LAUNCH: Final = (*GO, "graphscope: this file")
OPEN: Final = (*GO, "graphscope: a recording")


@dataclass(frozen=True)
class Job:
    """Something that a debugger is used for."""

    name: str
    program: str
    actions: tuple[Action, ...]
    check: Callable[[Seen], None]
    is_recorded: bool = False
    """Whether the program has run, and there is a recording of it."""

    def prepare(self, folder: Path) -> Path:
        """Put into a folder what there is before one begins; the program."""
        path = folder / FILE
        path.write_text(self.program)
        if self.is_recorded:
            words = ["-m", "graphscope", "record", "-o", "train.gscope", FILE]
            environment = {"PYTHONPATH": str(ROOT)}
            subprocess.run([sys.executable, *words], cwd=folder, check=True, capture_output=True, env=environment)
        return path


LAYERS: Final = """\
import torch


class Layer(torch.nn.Module):
    def __init__(self, value):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([value]))

    def forward(self, x):
        scaled = x * self.weight
        return scaled.tanh()


first, second = Layer(2.0), Layer(3.0)
x = torch.tensor([0.5])
loss = second(first(x)).sum()
loss.backward()
print("gradients", first.weight.grad.item(), second.weight.grad.item())
"""

FIRST_OF_ALL, SCALE, TANH, MADE, LOSS = 7, 10, 11, 15, 16
"""Lines of it: the first tensor, the product and the tanh of a layer, what goes in, and what comes out."""

FIRST: Final = 0.5 * 2.0
SECOND: Final = math.tanh(FIRST) * 3.0
"""`scaled` in the two layers."""
OF_SECOND: Final = 1.0 - math.tanh(SECOND) ** 2
OF_FIRST: Final = OF_SECOND * 3.0 * (1.0 - math.tanh(FIRST) ** 2)
"""The gradients of both, by hand."""

AT_TANH: Final = ("break_at", TANH)
AT_BACKWARD: Final = ("break_at", TANH, "backward")


def near(*expected: float) -> Any:
    """About these numbers: the texts have four digits or more."""
    return pytest.approx(list(expected), abs=1e-4, nan_ok=True)


def printed_gradients(seen: Seen) -> list[float]:
    """What the program printed of both layers."""
    return [float(word) for word in re.findall(r"gradients (\S+) (\S+)", seen.printed)[0]]


def check_continue(seen: Seen) -> None:
    """It stops at the first line, and runs to the end."""
    assert seen.lines == [1]
    assert printed_gradients(seen) == near(OF_FIRST * 0.5, OF_SECOND * math.tanh(FIRST))


def check_backward(seen: Seen) -> None:
    """The line of the tanh runs twice and is not stopped at; its backward is, of the second layer first."""
    assert seen.lines == [1, TANH, TANH]
    assert seen.stops[1].gradient == near(1.0)
    assert seen.stops[2].gradient == near(3.0 * OF_SECOND)
    assert "gradients" in seen.printed


def check_back(seen: Seen) -> None:
    """From the first gradient back by a line of backward and one of forward, to the beginning, and to the present."""
    assert seen.lines == [1, TANH, LOSS, LOSS, FIRST_OF_ALL, TANH, TANH]
    in_backward, in_forward = seen.stops[2:4]
    assert in_backward.gradient == near(1.0)
    assert numbers(in_forward.values["Value"]["value"]) == near(math.tanh(SECOND))
    assert in_forward.values["Gradient"]["grad"] == "none so far"
    assert "gradients" in seen.printed


def check_hover(seen: Seen) -> None:
    """In both passes and both layers `scaled` and `x` are those of the layer, and not the `x` of the program."""
    assert seen.lines == [1, TANH, TANH, TANH, TANH]
    told = [numbers(text) for text in seen.told]
    of_first, of_second = [near(FIRST), near(0.5)], [near(SECOND), near(math.tanh(FIRST))]
    assert told == [*of_first, *of_second, *of_second, *of_first]


def check_inline(seen: Seen) -> None:
    """Behind the names of the lines stands what they were where one stands: whatever group has the name, it is that."""
    assert seen.lines == [1, TANH, TANH, TANH, TANH]
    first, second, second_again, first_again = seen.stops[1:]
    for stop, scaled, x in (
        (first, FIRST, 0.5),
        (second, SECOND, math.tanh(FIRST)),
        (second_again, SECOND, math.tanh(FIRST)),
        (first_again, FIRST, 0.5),
    ):
        assert stop.local("scaled") == near(scaled)
        assert stop.local("x") == near(x)
        others = {name for group in stop.values.keys() - {"Locals", "Globals"} for name in stop.values[group]}
        assert {name for name in others if name.isidentifier()} <= {"value", "grad"}


def check_gradient(seen: Seen) -> None:
    """The gradient of the first layer's tanh becomes 10: its weight gets `10 * tanh'(scaled) * x`."""
    assert seen.lines == [1, TANH, TANH]
    assert numbers(seen.told[0]) == near(10.0)
    changed = 10.0 * (1.0 - math.tanh(FIRST) ** 2) * 0.5
    assert printed_gradients(seen) == near(changed, OF_SECOND * math.tanh(FIRST))


ROOT_OF_ZERO: Final = """\
import torch

x = torch.tensor([1.0, 4.0], requires_grad=True)
root = (x - 1).sqrt()
y = root * torch.tensor([0.0, 1.0])
y.sum().backward()
print("gradient", x.grad.tolist())
"""


def check_birth(seen: Seen) -> None:
    """All is finite in forward; backward multiplies the infinite slope of the root of 0 by 0."""
    assert seen.lines == [1, 4]
    assert "nan" in seen.stops[1].diagnostics[0]
    assert "sqrt" in seen.stops[1].diagnostics[0]
    assert numbers(seen.printed) == near(math.nan, 0.5 / math.sqrt(3.0))


RAISES: Final = """\
import torch

table = {"a": torch.ones(2)}
y = table["a"] * 2
print(table["b"])
"""


def check_exception(seen: Seen) -> None:
    """At the line that raised, with its variables, and the exception beside."""
    assert seen.lines == [1, 5]
    assert "KeyError: 'b'" in seen.stops[1].diagnostics[0]
    assert seen.stops[1].local("y") == near(2.0, 2.0)


FAMILY: Final = """\
import multiprocessing

import torch


def work(number):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * number
    y.sum().backward()
    print("child", x.grad.tolist(), flush=True)


if __name__ == "__main__":
    child = multiprocessing.get_context("spawn").Process(target=work, args=(3,))
    child.start()
    child.join()
    print("joined", child.exitcode)
"""


def check_child(seen: Seen) -> None:
    """The breakpoint holds in the child, whose variables are shown; then both go on to their ends."""
    assert seen.lines == [1, 9]
    assert seen.stops[1].local("y") == near(3.0, 6.0)
    assert seen.told == ["3"]
    assert "child [3.0, 3.0]" in seen.printed
    assert "joined 0" in seen.printed


def check_recording(seen: Seen) -> None:
    """From the first line to both passes of a line, and a step back in a program that is gone."""
    assert seen.lines == [MADE, TANH, TANH, TANH, LOSS]
    assert seen.stops[3].gradient == near(1.0)
    assert numbers(seen.told[0]) == near(SECOND)
    assert seen.printed == ""


HOVERS: Final = (("hover", "scaled", TANH), ("hover", "x", SCALE))

JOBS: Final = (
    Job("continue", LAYERS, (LAUNCH, GO), check_continue),
    Job("backward", LAYERS, (AT_BACKWARD, LAUNCH, GO, GO, GO), check_backward),
    Job("back", LAYERS, (AT_BACKWARD, LAUNCH, GO, BACK, BACK, FAR_BACK, GO, GO, GO), check_back),
    Job("hover", LAYERS, (AT_TANH, LAUNCH, GO, *HOVERS, GO, *HOVERS, GO, *HOVERS, GO, *HOVERS, GO), check_hover),
    Job("inline", LAYERS, (AT_TANH, LAUNCH, GO, GO, GO, GO, GO), check_inline),
    Job(
        "gradient",
        LAYERS,
        (AT_BACKWARD, LAUNCH, GO, GO, ("type", "set grad = torch.tensor([10.0])"), GO),
        check_gradient,
    ),
    Job("birth", ROOT_OF_ZERO, (LAUNCH, ("tick", "uncaught", "nan"), GO, GO), check_birth),
    Job("exception", RAISES, (LAUNCH, GO, GO), check_exception),
    Job("child", FAMILY, (("break_at", 9, "forward"), LAUNCH, GO, ("hover", "number", 8), GO), check_child),
    Job("recording", LAYERS, (AT_TANH, OPEN, GO, GO, GO, HOVERS[0], BACK, ("leave",)), check_recording, True),
)
