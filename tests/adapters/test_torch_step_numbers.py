"""Training steps of PyTorch programs are called by the numbers that these print, in the styles of tutorials."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import graphscope as gs
from graphscope.graph.step_numbers import step_numbers

pytest.importorskip("torch")
pytestmark = pytest.mark.torch

HEAD = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.randn(6, 4), torch.randint(0, 2, (6,))), batch_size=2)
loss_of = nn.CrossEntropyLoss()

"""

STYLES = {
    "the classifier of the tutorial": """
        for epoch in range(2):
            running_loss = 0.0
            for i, data in enumerate(loader, 0):
                inputs, labels = data
                optimizer.zero_grad()
                loss = loss_of(model(inputs), labels)
                loss.backward()
                optimizer.step()
                running_loss += loss.item()
                if i % 1 == 0:
                    print("epoch %d, batch %d" % (epoch + 1, i + 1))
                    running_loss = 0.0
        """,
    "the two functions of the example": """
        def train(args, model, loader, optimizer, epoch):
            model.train()
            for batch_idx, (data, target) in enumerate(loader):
                optimizer.zero_grad()
                loss = loss_of(model(data), target)
                loss.backward()
                optimizer.step()
                if batch_idx % 1 == 0:
                    print("epoch {}, batch {}".format(epoch, batch_idx))

        def main():
            for epoch in range(1, 3 + 1):
                train(None, model, loader, optimizer, epoch)
                with torch.no_grad():
                    for data, _ in loader:
                        model(data)

        main()
        """,
    "an endless loop that counts iterations": """
        iter_num, max_iters = 0, 4
        while True:
            for x, y in loader:
                break
            if iter_num % 1 == 0:
                print(f"iteration {iter_num}")
            for micro_step in range(2):
                loss = loss_of(model(x), y) / 2
                loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            iter_num += 1
            if iter_num > max_iters:
                break
        """,
    "gradients that are added up, with a count of updates": """
        def train():
            step = 0
            for epoch in range(2):
                for i, (x, y) in enumerate(loader):
                    loss_of(model(x), y).backward()
                    if (i + 1) % 3 == 0:
                        optimizer.step()
                        optimizer.zero_grad()
                        step += 1
                        print(f"epoch {epoch}, step {step}")

        train()
        """,
    "two optimizers": """
        other = torch.optim.Adam(model.parameters(), lr=1e-3)
        for step in range(3):
            for each in (optimizer, other):
                each.zero_grad()
            x, y = next(iter(loader))
            loss_of(model(x), y).backward()
            optimizer.step()
            loss_of(model(x), y).backward()
            other.step()
            print(f"step {step}")
        """,
    "optimizers in a loop": """
        others = [optimizer, torch.optim.Adam(model.parameters(), lr=1e-3)]
        for step in range(3):
            x, y = next(iter(loader))
            loss_of(model(x), y).backward()
            for each in others:
                each.step()
            print(f"step {step}")
        """,
    "a function that steps two optimizers": """
        def update(which):
            which.zero_grad()
            x, y = next(iter(loader))
            loss_of(model(x), y).backward()
            which.step()

        other = torch.optim.Adam(model.parameters(), lr=1e-3)
        for epoch in range(3):
            update(optimizer)
            update(other)
            print(f"epoch {epoch}")
        """,
    "several steps of a critic": """
        critic = torch.optim.Adam(model.parameters(), lr=1e-3)
        for iteration in range(3):
            for _ in range(2):
                loss_of(model(torch.randn(2, 4)), torch.tensor([0, 1])).backward()
                critic.step()
            for c in range(2):
                loss_of(model(torch.randn(2, 4)), torch.tensor([0, 1])).backward()
                critic.step()
            loss_of(model(torch.randn(2, 4)), torch.tensor([0, 1])).backward()
            optimizer.step()
            print(f"iteration {iteration}")
        """,
    "what was left over behind a loop": """
        for epoch in range(2):
            for batch, (x, y) in enumerate(loader):
                loss_of(model(x), y).backward()
                optimizer.step()
                print(f"epoch {epoch}, batch {batch}")
            optimizer.step()
            print(f"epoch {epoch}")
        """,
    "a scheduler and a closure": """
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
        for t in range(4):
            def closure():
                optimizer.zero_grad()
                loss = sum(loss_of(model(x), y) for x, y in loader)
                loss.backward()
                return loss
            loss = optimizer.step(closure)
            scheduler.step()
            print("step", t)
        """,
    "optimizers in a loop that counts them": """
        parts = [torch.optim.SGD(layer.parameters(), lr=0.1) for layer in model if len(list(layer.parameters()))]
        for epoch in range(2):
            for batch, (x, y) in enumerate(loader):
                loss_of(model(x), y).backward()
                for k, part in enumerate(parts):
                    part.step()
                print(f"epoch {epoch}, batch {batch}")
        """,
    "optimizers in a loop that alone counts": """
        parts = [torch.optim.SGD(layer.parameters(), lr=0.1) for layer in model if len(list(layer.parameters()))]
        steps = []
        for x, y in loader:
            loss_of(model(x), y).backward()
            for k in range(len(parts)):
                parts[k].step()
            steps.append(x)
            print("step", len(steps))
        """,
    "an optimizer of each fold, in a loop that counts them": """
        nets = [nn.Linear(4, 2) for _ in range(2)]
        parts = [torch.optim.SGD(net.parameters(), lr=0.1) for net in nets]
        for epoch in range(3):
            for fold, (net, part) in enumerate(zip(nets, parts)):
                loss_of(net(torch.randn(2, 4)), torch.tensor([0, 1])).backward()
                part.step()
                print(f"epoch {epoch}, fold {fold}")
        """,
    "an optimizer that begins later, where no loop counts": """
        other = torch.optim.Adam(model[2].parameters(), lr=1e-3)
        steps = []
        for x, y in [*loader] * 2:
            loss_of(model(x), y).backward()
            optimizer.step()
            if len(steps) > 2:
                other.step()
            steps.append(x)
            print("step", len(steps))
        """,
    "an optimizer that begins later and ahead of the other, where no loop counts": """
        other = torch.optim.Adam(model[2].parameters(), lr=1e-3)
        steps = []
        for x, y in [*loader] * 2:
            loss_of(model(x), y).backward()
            if len(steps) > 2:
                other.step()
            optimizer.step()
            steps.append(x)
            print("step", len(steps))
        """,
    "an optimizer made anew in each step": """
        for step in range(4):
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            loss_of(model(torch.randn(2, 4)), torch.tensor([0, 1])).backward()
            optimizer.step()
            print("step", step)
        """,
    "a loop in a function and one around it that count with the same name": """
        def epoch_of():
            for i, (x, y) in enumerate(loader):
                loss_of(model(x), y).backward()
                optimizer.step()
                print(f"i {_i()}, step {i + 1}")

        def _i():
            return outer[-1]

        outer = []
        for i in range(2):
            outer.append(i)
            epoch_of()
        """,
}


@pytest.mark.parametrize("style", STYLES)
def test_what_the_program_prints_is_what_a_step_is_called(
    style: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "program.py"
    program.write_text(HEAD + dedent(STYLES[style]))
    with gs.record(tmp_path / "run.gscope"):
        runpy.run_path(str(program))
    numbers = step_numbers(gs.load(tmp_path / "run.gscope"))
    printed = [line for line in capsys.readouterr().out.splitlines() if line]
    said = [str(numbers.number(place)) for place in range(len(numbers))]
    assert printed
    assert said == printed


FAILED = {
    "an inner loop": ("for step in range(4):", "for j in range(3):", "step 0"),
    "a batch": ("for epoch in range(4):", "for batch in range(3):", "epoch 0, batch 0"),
    "a loop that says nothing": ("for x in [1, 2]:", "for j in range(3):", ""),
    "a loop that makes the model": ("if True:", "for j in range(3):", ""),
}
"""The loops around what fails in their first turns, and by what of them a training step is called, if there is one."""


@pytest.mark.parametrize("every", [1, 100])
@pytest.mark.parametrize("name", FAILED)
def test_what_fails_ahead_of_the_first_step_is_in_no_step_of_an_inner_loop(
    name: str, every: int, tmp_path: Path
) -> None:
    outer, inner, said = FAILED[name]
    body = "loss_of(model(torch.randn(2, 4)), torch.tensor([0, 1])).backward()"
    fails = "raise RuntimeError"
    program = tmp_path / "program.py"
    program.write_text(f"{HEAD}{outer}\n    {body}\n    {inner}\n        {fails}\n    optimizer.step()\n")
    command = [sys.executable, "-m", "graphscope", "record", "--every", str(every), "--log", "run.gscope", program.name]
    subprocess.run(command, cwd=tmp_path, check=False, capture_output=True)
    (found,) = gs.doctor(tmp_path / "run.gscope").findings
    assert (found.kind, found.step) == ("raised", said)


def test_where_no_loop_of_the_steps_counts_a_failure_is_in_no_step_of_an_inner_loop(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    text = """
        seen = []
        for x, y in loader:
            loss_of(model(x), y).backward()
            for j in range(3):
                seen.append(j)
                if len(seen) == 8:
                    raise RuntimeError
            optimizer.step()
            optimizer.zero_grad()
        """
    program.write_text(HEAD + dedent(text))
    command = [sys.executable, "-m", "graphscope", "record", "--log", "run.gscope", program.name]
    subprocess.run(command, cwd=tmp_path, check=False, capture_output=True)
    steps = [found.step for found in gs.doctor(tmp_path / "run.gscope") if found.kind == "raised"]
    assert steps == ["step 3"]


SKIPPED = {
    "by a scaler": ("scaler.scale(loss).backward()", "scaler.step(optimizer)", "scaler.update()"),
    "by the program": ("loss.backward()", "if not loss.isfinite(): continue", "optimizer.step()"),
}
"""How a turn of the loop makes no step."""


@pytest.mark.parametrize("values", ["full", "summary"])
@pytest.mark.parametrize("lost", [0, 1, 5, 11])
@pytest.mark.parametrize("how", SKIPPED)
def test_a_loss_that_overflows_is_told_in_the_turn_that_is_skipped(
    how: str, lost: int, values: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And a scale that is too large is no error: with it the first turns are skipped, whose losses are finite."""
    body = f"""
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0 ** {18 if how == "by a scaler" else 0})
        for epoch in range(2):
            for batch in range(12):
                x = torch.randn(8, 4) * (1e4 if (epoch, batch) == (1, {lost}) else 1)
                with torch.autocast("cpu", dtype=torch.float16):
                    scores = model(x)
                loss = (scores - 1).square().sum()
                optimizer.zero_grad()
                print(f"epoch {{epoch}}, batch {{batch}}", bool(loss.isfinite()))
                {SKIPPED[how][0]}
                {SKIPPED[how][1]}
                {SKIPPED[how][2]}
        """
    program = tmp_path / "program.py"
    program.write_text(HEAD.replace("lr=0.1", "lr=1e-4") + dedent(body))
    with gs.record(tmp_path / "run.gscope", values=values):
        runpy.run_path(str(program))
    printed = capsys.readouterr().out.splitlines()
    (said,) = [each for each in gs.doctor(tmp_path / "run.gscope") if each.kind == "nan"]
    assert [f"{said.step} False"] == [line for line in printed if line.endswith("False")]
