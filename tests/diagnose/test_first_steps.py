"""What findings say of time: the step in which each shows first, and the course of what they measure."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

import graphscope as gs
from graphscope.diagnose import Finding

pytestmark = pytest.mark.torch

_BEGIN = """
    import torch
    from torch import nn

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
"""


def only(program: str, folder: Path, kind: str, values: str = "summary") -> Finding:
    """The one finding of a kind in a program of PyTorch."""
    pytest.importorskip("torch")
    script = folder / "train.py"
    script.write_text(textwrap.dedent(_BEGIN).strip() + "\n" + textwrap.dedent(program).strip() + "\n")
    with gs.record(folder / "run.gscope", values=values):
        exec(compile(script.read_text(), str(script), "exec"), {"__name__": "__main__"})
    (found,) = [each for each in gs.doctor(folder / "run.gscope") if each.kind == kind]
    return found


def test_a_rate_is_told_by_its_course_and_what_to_do_in_numbers_of_batches(tmp_path: Path) -> None:
    program = """
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
        for epoch in range(3):
            for batch in range(20):
                optimizer.zero_grad()
                model(torch.ones(2, 3)).square().sum().backward()
                optimizer.step()
                scheduler.step()
        """
    found = only(program, tmp_path, "lr_vanished")
    small = [step for step in range(60) if 0.01 * 0.5**step <= 1e-5 * 0.01]
    assert found.step == f"epoch 0, batch {small[0]}"
    assert found.evidence["steps so small"] == len(small)
    assert found.evidence["last lr"] == pytest.approx(0.01 * 0.5**59)
    assert f"at most {0.01 * 0.5 ** small[0]:.3g} from epoch 0, batch {small[0]} on" in found.verdict
    assert f"{0.01 * 0.5**59:.3g} at the end" in found.verdict
    assert "once an epoch (20 batches), or make it with gamma ** (1 / 20)" in found.cure


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        pytest.param(
            "clip_order",
            """
            optimizer.zero_grad()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            model(torch.ones(2, 3)).square().sum().backward()
            optimizer.step()
            """,
            id="clipped-early",
        ),
        pytest.param(
            "clip_order",
            """
            optimizer.zero_grad()
            model(torch.ones(2, 3)).square().sum().backward()
            optimizer.step()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            """,
            id="clipped-late",
        ),
        pytest.param(
            "missing",
            """
            optimizer.zero_grad()
            loss = torch.tensor(model(torch.ones(2, 3)).square().sum().item(), requires_grad=True)
            loss.backward()
            optimizer.step()
            """,
            id="cut",
        ),
        pytest.param(
            "not_in_optimizer",
            """
            optimizer.zero_grad()
            head(model(torch.ones(2, 3))).square().sum().backward()
            optimizer.step()
            """,
            id="forgotten",
        ),
    ],
)
def test_what_is_wrong_from_the_start_shows_first_in_the_first_step(kind: str, body: str, tmp_path: Path) -> None:
    program = "head = nn.Linear(2, 2)\nfor step in range(6):\n" + textwrap.indent(textwrap.dedent(body), "    ")
    found = only(program, tmp_path, kind)
    assert (found.first_step, found.step) == (1, "step 0")


def test_clips_in_vain_are_an_error_once_the_loss_has_exploded(tmp_path: Path) -> None:
    program = """
        for step in range(7):
            for group in optimizer.param_groups:
                group["lr"] = {rate}
            optimizer.zero_grad()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            loss = model[2](torch.ones(2, 4)).sub(3).square().sum()
            loss.backward()
            optimizer.step()
        """
    wild, calm = (only(program.format(rate=rate), tmp_path, "clip_order") for rate in (2.0, 0.001))
    assert wild.severity == "error"
    assert wild.evidence["largest loss"] > 1000 * wild.evidence["first loss"]
    assert calm.severity == "warning"


def test_what_is_to_be_added_to_an_optimizer_is_named(tmp_path: Path) -> None:
    program = """
        class Weights(nn.Module):
            def __init__(self):
                super().__init__()
                self.log_vars = nn.Parameter(torch.zeros(2))

            def forward(self, losses):
                return (self.log_vars.neg().exp() * losses).sum() + self.log_vars.sum()

        weights = Weights()
        for step in range(5):
            optimizer.zero_grad()
            weights(model(torch.ones(2, 3)).square().mean(0)).backward()
            optimizer.step()
        """
    found = only(program, tmp_path, "not_in_optimizer")
    assert found.names == ("weights.log_vars",)
    assert (
        "weights.log_vars gets gradients in 5 backward passes and never changes: no optimizer holds it" in found.verdict
    )
    assert found.cure.startswith("add weights.parameters() to the optimizer at train.py:6")


def test_every_line_that_takes_a_number_of_the_loss_is_named(tmp_path: Path) -> None:
    program = """
        def distance(a):
            return (a - 1).square().mean().item()

        def penalty(a):
            return a.abs().mean().item()

        for step in range(4):
            optimizer.zero_grad()
            out = model(torch.ones(2, 3))
            print(out.sum().item())
            torch.tensor(distance(out) + 0.1 * penalty(out), requires_grad=True).backward()
            optimizer.step()
        """
    found = only(program, tmp_path, "missing")
    assert found.source[slice(*found.columns)] == ".item()"
    assert (found.line, "also cut at train.py:8" in found.verdict) == (11, True)
    assert "train.py:16" not in found.verdict
    assert "torch.tensor(...) at train.py:17" in found.verdict


_FORWARD = "model(torch.ones(2, 3)).square().sum().backward()"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "program", "first"),
    [
        pytest.param(
            "zero_grad",
            f"""
            for step in range(12):
                if step < 4:
                    optimizer.zero_grad()
                {_FORWARD}
                optimizer.step()
            """,
            4,
            id="never-cleared-again",
        ),
        pytest.param(
            "zero_grad",
            f"""
            for step in range(8):
                {_FORWARD}
                optimizer.zero_grad()
                optimizer.step()
            """,
            0,
            id="cleared-ahead-of-the-step",
        ),
        pytest.param(
            "zero_grad",
            f"""
            for step in range(24):
                optimizer.zero_grad()
                {_FORWARD}
                if step % 4 == 3:
                    optimizer.step()
            """,
            3,
            id="cleared-while-it-accumulates",
        ),
        pytest.param(
            "zero_grad",
            f"""
            for step in range(6):
                {_FORWARD}
                with torch.no_grad():
                    for parameter in model.parameters():
                        parameter -= 0.01 * parameter.grad
            """,
            1,
            id="by-hand-never-cleared",
        ),
        pytest.param(
            "step_order",
            f"""
            for step in range(8):
                optimizer.zero_grad()
                optimizer.step()
                {_FORWARD}
            """,
            0,
            id="step-ahead-of-backward",
        ),
        pytest.param(
            "step_order",
            f"""
            for step in range(8):
                optimizer.zero_grad()
                {_FORWARD}
            """,
            0,
            id="no-step-at-all",
        ),
        pytest.param(
            "frozen",
            f"""
            for step in range(12):
                optimizer.zero_grad()
                {_FORWARD}
                optimizer.step()
                if step == 4:
                    model[0].requires_grad_(False)
            """,
            5,
            id="frozen-on-the-way",
        ),
        pytest.param(
            "frozen",
            f"""
            model[0].requires_grad_(False)
            for step in range(12):
                if step == 5:
                    model[0].requires_grad = True
                optimizer.zero_grad()
                {_FORWARD}
                optimizer.step()
            """,
            5,
            id="set-on-a-module",
        ),
        pytest.param(
            "frozen",
            f"""
            for step in range(3):
                optimizer.zero_grad()
                {_FORWARD}
                optimizer.step()
            model = nn.Sequential(model[0], nn.Linear(4, 4), nn.Tanh(), model[2])
            for parameter in model[1:].parameters():
                parameter.requires_grad = False
            optimizer = torch.optim.SGD([each for each in model.parameters() if each.requires_grad], lr=0.01)
            for step in range(3, 12):
                optimizer.zero_grad()
                {_FORWARD}
                optimizer.step()
            """,
            3,
            id="frozen-as-it-was-made",
        ),
        pytest.param(
            "train_eval_mode",
            f"""
            model.insert(1, nn.Dropout(0.1))
            for step in range(9):
                optimizer.zero_grad()
                {_FORWARD}
                optimizer.step()
                if step == 3:
                    model.eval()
                    with torch.no_grad():
                        model(torch.ones(2, 3))
            """,
            4,
            id="left-in-evaluation",
        ),
        pytest.param(
            "train_eval_mode",
            f"""
            model.insert(1, nn.Dropout(0.1))
            for step in range(9):
                optimizer.zero_grad()
                {_FORWARD}
                optimizer.step()
                if step == 3:
                    model[1].eval()
                    with torch.no_grad():
                        model(torch.ones(2, 3))
            """,
            4,
            id="part-left-in-evaluation",
        ),
        pytest.param(
            "not_registered",
            """
            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.first = nn.Linear(3, 4)

                def forward(self, x):
                    return nn.Linear(4, 2)(self.first(x))

            net = Net()
            optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
            for step in range(8):
                optimizer.zero_grad()
                net(torch.ones(2, 3)).square().sum().backward()
                optimizer.step()
            """,
            0,
            id="made-in-forward",
        ),
        pytest.param(
            "zero_grad",
            """
            critic = nn.Linear(2, 1)
            critics = torch.optim.SGD(critic.parameters(), lr=0.01)
            for step in range(8):
                fake = model(torch.ones(2, 3))
                optimizer.zero_grad()
                critic(fake).mean().neg().backward()
                optimizer.step()
                (critic(fake.detach()).mean() - critic(torch.ones(2, 2)).mean()).backward()
                critics.step()
                critics.zero_grad()
            """,
            0,
            id="gradients-of-another-loss",
        ),
    ],
)
def test_what_takes_several_steps_to_be_sure_of_is_told_with_the_first_of_them(
    kind: str, program: str, first: int, tmp_path: Path
) -> None:
    found = only(program, tmp_path, kind)
    assert found.step == f"step {first}"
