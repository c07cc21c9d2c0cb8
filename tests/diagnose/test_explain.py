"""Small programs with something wrong at the line that says `# here`: `explain` has to find out what and where."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import graphscope as gs
from graphscope.debugger.json_data import to_json
from graphscope.diagnose import Explanation
from graphscope.errors import GraphscopeError

HEADER = "import graphscope as torch\nimport graphscope.nn.functional as F\nfrom graphscope import nn\n"


class Case(NamedTuple):
    program: str
    tensor: str
    symptom: str
    cause: str


W = "w = torch.tensor([1.0, 2.0], requires_grad=True)\n"
V = "v = torch.tensor([3.0, 4.0], requires_grad=True)\n"

MISSING = {
    "plain leaf": Case("x = torch.tensor([1.0])  # here\n" + W + "(w * x).sum().backward()", "x", "none",
                       "does not require grad"),
    "made of integers": Case("x = torch.tensor([1, 2])  # here\n" + W + "(w * x).sum().backward()", "x", "none",
                             "dtype"),
    "truth values": Case(W + "x = w > 1  # here\n(w * x).sum().backward()", "x", "none", "dtype"),
    "no_grad": Case(W + V + "with torch.no_grad():\n    h = w * 2  # here\n(h * v).sum().backward()", "w", "none",
                    "no_grad"),
    "no_grad, asked of what it made": Case(
        W + "with torch.no_grad():\n    h = w * 2  # here\nloss = (h * 3).sum()", "loss", "none", "no_grad"),
    "no_grad as decorator": Case(
        W + V + "@torch.no_grad()\ndef half(x):\n    return x / 2  # here\n(half(w) * v).sum().backward()", "w", "none",
        "no_grad"),
    "same line in and out of no_grad": Case(
        W + V + "def twice(x):\n    return x * 2  # here\ntwice(v).sum().backward()\nv.grad = None\n"
        "with torch.no_grad():\n    h = twice(w)\n(h * v).sum().backward()", "w", "none", "no_grad"),
    "set_grad_enabled": Case(
        W + V + "torch.set_grad_enabled(False)\nh = w * 2  # here\n"
        "torch.set_grad_enabled(True)\n(h * v).sum().backward()", "w", "none", "no_grad"),
    "detach": Case(W + V + "h = w.tanh()\nd = h.detach()  # here\n(d * v).sum().backward()", "w", "none", "detach"),
    "detach within an expression": Case(
        W + V + "loss = (w.detach() * v).sum()  # here\nloss.backward()", "w", "none", "detach"),
    "detach, asked of the loss": Case(W + "loss = (w.detach() * 2).sum()  # here\n", "loss", "none", "detach"),
    "argmax": Case(W + V + "i = w.argmax().float()  # here\n(i * v).sum().backward()", "w", "none", "no rule"),
    "comparison": Case(W + V + "m = (w > 1.5).float()  # here\n(m * v).sum().backward()", "w", "none", "no rule"),
    "condition": Case(
        W + V + "big = w > 1.5  # here\ntorch.where(big, v, -v).sum().backward()", "w", "none", "no rule"),
    "nothing requires grad": Case(
        "x = torch.ones(2)\nloss = (x * 2).sum()  # here\n", "loss", "none", "does not require grad"),
    "not a leaf": Case(W + "h = w * 2  # here\nh.sum().backward()", "h", "none", "not a leaf"),
    "no backward yet": Case(W + "loss = (w * 2).sum()", "w", "none", "no backward yet"),
    "unused": Case(W + V + "v.sum().backward()", "w", "none", "not on a path to the loss"),
    "used, but not in the loss": Case(
        W + V + "h = w * 2\nk = h.exp()  # here\nv.sum().backward()", "w", "none", "not on a path to the loss"),
    "through item": Case(
        W + V + "scale = w.sum().item()  # here\n(v * scale).sum().backward()", "w", "none",
        "not on a path to the loss"),
    "cleared": Case(W + "(w * 2).sum().backward()\nw.grad = None", "w", "none", "cleared"),
    "cleared by zero_grad": Case(
        W + "optimizer = torch.optim.SGD([w], lr=0.1)\n(w * 2).sum().backward()\noptimizer.zero_grad()", "w", "none",
        "cleared"),
    "autograd.grad": Case(W + "(g,) = torch.autograd.grad((w * 2).sum(), w)", "w", "none", "not accumulated"),
    "a module's weight behind detach": Case(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.Linear(2, 3)
                self.second = nn.Linear(3, 1)
            def forward(self, x):
                h = self.first(x)
                return self.second(h.detach())  # here
        net = Net()
        net(torch.ones(4, 2)).mean().backward()
        weight = net.first.weight
        """, "weight", "none", "detach"),
}  # fmt: skip

ZERO = {
    "closed relu": Case(
        "x = torch.tensor([-1.0, -2.0], requires_grad=True)\nF.relu(x).sum().backward()  # here", "x", "zero",
        "relu closed"),
    "relu deeper down": Case(
        W + "h = w * -3\na = h.relu()  # here\nb = a * 2 + 1\nb.sum().backward()", "w", "zero", "relu closed"),
    "clamp": Case(W + "h = w.clamp(5.0, 6.0)  # here\nh.sum().backward()", "w", "zero", "clamped"),
    "saturated sigmoid": Case(
        "x = torch.tensor([50.0, 80.0], requires_grad=True)\nx.sigmoid().sum().backward()  # here", "x", "zero",
        "saturated"),
    "saturated tanh": Case(W + "h = (w * 1000).tanh()  # here\nh.sum().backward()", "w", "zero", "saturated"),
    "mask of zeros": Case(
        W + "mask = torch.zeros(2)\n(w.exp() * mask).sum().backward()  # here", "w", "zero", "masked"),
    "factor 0": Case(W + "h = w * 0.0  # here\nh.sum().backward()", "w", "zero", "weighted with 0"),
    "weights of zero": Case(
        W + "wide = torch.zeros(2, 3, requires_grad=True)\n"
        "torch.mm(w.reshape(1, 2), wide).sum().backward()  # here", "w", "zero", "multiplied by zeros"),
    "underflow": Case(
        W + "small = torch.tensor([1e-30, 1e-30])\nh = w * small  # here\n(h * small).sum().backward()", "w", "zero",
        "underflow"),
    "not picked": Case(
        W + "torch.where(w > 5, w, torch.zeros(2)).sum().backward()  # here", "w", "zero", "not picked"),
    "cancelled": Case(W + "(w.sum() - w.sum()).backward()", "w", "zero", "cancelled"),
    "began with zero": Case(W + "h = w * 2  # here\nh.backward(torch.zeros(2))", "w", "zero", "began with zero"),
    "a hook on a result": Case(
        W + "h = w * 3\nh.register_hook(lambda g: torch.zeros(2))\n(h * 2).sum().backward()  # here", "w", "zero",
        "replaced"),
    "a hook behind an open relu": Case(
        W + "k = w + 0  # here\n"
        "k.register_hook(lambda g: g * 0)\n(k.relu() + k.relu()).sum().backward()", "k", "zero", "replaced"),
    "relu closed where a gradient arrives": Case(
        "x = torch.tensor([-1.0, 2.0], requires_grad=True)\n"
        "(x.relu() * torch.tensor([1.0, 0.0])).sum().backward()  # here", "x", "zero", "relu closed"),
    "a hook": Case(
        W + "w.register_hook(lambda g: g * 0)\n(w * 2).sum().backward()", "w", "zero", "replaced"),
}  # fmt: skip

NONFINITE = {
    "log of 0": Case("x = torch.tensor([0.0, 1.0], requires_grad=True)\ny = x.log()  # here\ny.sum().backward()", "x",
                     "nonfinite", "log of zero"),
    "log of 0 farther on": Case(
        W + "p = (w - 1.0) * 3\nq = torch.log(p)  # here\nloss = (q * 2).sum()\nloss.backward()", "w", "nonfinite",
        "log of zero"),
    "the loss itself": Case(W + "p = (w - 1.0).log()  # here\nloss = p.sum() * 2", "loss", "nonfinite",
                            "log of zero"),
    "0/0": Case("x = torch.tensor([0.0, 1.0], requires_grad=True)\ny = x / x  # here\ny.sum().backward()", "x",
                "nonfinite", "0/0"),
    "overflow of exp": Case(W + "h = w * 100\ny = h.exp()  # here\ny.sum().backward()", "w", "nonfinite",
                            "overflow"),
    "inf - inf": Case(
        W + "a = (w * 1000).exp()  # here\nb = a - a\nb.sum().backward()", "w", "nonfinite", "overflow"),
    "sqrt at 0": Case(
        "x = torch.tensor([0.0, 4.0], requires_grad=True)\ny = x.sqrt()  # here\ny.sum().backward()", "x", "nonfinite",
        "root at zero"),
    "norm by hand at 0": Case(
        "x = torch.zeros(3, requires_grad=True)\nsize = (x * x).sum().sqrt()  # here\nsize.backward()", "x",
        "nonfinite", "root at zero"),
    "nan in the data": Case(
        W + "x = torch.tensor([1.0, float('nan')])  # here\n(w * x).sum().backward()", "w", "nonfinite", "data"),
    "a mask that hides all": Case(
        W + "hidden = torch.tensor([[True, False], [True, True]])\n"
        "scores = (w * torch.ones(2, 2)).masked_fill(hidden, float('-inf'))\n"
        "weights = scores.softmax(-1)  # here\nweights.sum().backward()", "weights", "nonfinite", "all -inf row"),
    "a mask that is multiplied": Case(
        W + "mask = torch.tensor([0.0, 1.0]) * float('-inf')  # here\n"
        "(w + mask).softmax(-1).sum().backward()", "w", "nonfinite", "infinity times 0"),
    "a mask itself": Case(
        W + "mask = torch.triu(torch.full((2, 2), float('-inf')), diagonal=1)\n"
        "scores = w.unsqueeze(0) + mask  # here\nscores.softmax(-1).sum().backward()", "scores", "nonfinite",
        "deliberate"),
    "began with nan": Case(
        W + "h = w * 2  # here\nh.backward(torch.tensor([1.0, float('nan')]))", "w", "nonfinite", "began so"),
}  # fmt: skip

FINE = {
    "a gradient": Case(W + "(w * w).sum().backward()", "w", "fine", "fine"),
    "after zero_grad and another pass": Case(
        W + "(w * 0.0).sum().backward()\nw.grad = None\n(w * 2.0).sum().backward()", "w", "fine", "fine"),
}  # fmt: skip

IN_THE_TENSOR = ("cleared", "replaced", "not a leaf")
"""What a log does not know: it is the tensor that holds a gradient or does not."""

CASES = {**MISSING, **ZERO, **NONFINITE, **FINE}


def text_of(case: Case) -> str:
    return HEADER + textwrap.dedent(case.program).lstrip("\n") + "\n"


def run(case: Case, folder: Path) -> dict[str, Any]:
    script = folder / "prog.py"
    script.write_text(text_of(case))
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(script.read_text(), str(script), "exec"), names)
    return names


def line_to_blame(case: Case) -> int | None:
    lines = text_of(case).splitlines()
    return next((number for number, line in enumerate(lines, 1) if line.endswith("# here")), None)


@pytest.fixture(autouse=True)
def gradients_are_on() -> Any:
    yield
    gs.set_grad_enabled(True)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", CASES)
def test_cause_and_line_are_found(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    with gs.record() as log:
        names = run(case, tmp_path)
        while_recording = gs.explain(names[case.tensor])
    found = gs.explain(names[case.tensor])
    assert (found.symptom, found.cause) == (case.symptom, case.cause), str(found)
    assert (while_recording.symptom, while_recording.cause) == (found.symptom, found.cause)
    line = line_to_blame(case)
    if line is not None:
        assert found.step is not None, str(found)
        assert found.step.line == line, str(found)
        assert f"prog.py:{line}" in str(found)
    if case.symptom != "fine":
        assert case.tensor in found.verdict or "weight" in found.verdict
        assert found.cure or case.cause in ("began with zero", "began so")
    assert log.closed


@pytest.mark.parametrize("name", [name for name in CASES if CASES[name].cause not in IN_THE_TENSOR])
def test_a_log_alone_tells_the_same(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    with gs.record(tmp_path / "run.gscope"):
        names = run(case, tmp_path)
    tensor = names[case.tensor]
    log = gs.load(tmp_path / "run.gscope")
    row = gs.explain(tensor).path[0].row if case.tensor != "loss" else gs.explain(log, "loss").path[-1].row
    found = gs.explain(log, f"#{row}")
    assert found.cause == gs.explain(tensor).cause
    assert found.symptom == case.symptom


def test_the_path_leads_from_the_tensor_to_the_loss(tmp_path: Path) -> None:
    with gs.record():
        names = run(MISSING["detach"], tmp_path)
        found = gs.explain(names["w"])
    assert [step.label for step in found.path] == ["w", "tanh", "detach", "mul", "sum"]
    assert [bool(step.note) for step in found.path] == [False, False, True, False, False]


def test_other_cuts_are_told_too(tmp_path: Path) -> None:
    program = W + V + "a = w.detach()\nb = (w > 0).float()\n((a + b) * v).sum().backward()"
    with gs.record():
        names = run(Case(program, "w", "none", "detach"), tmp_path)
        found = gs.explain(names["w"])
    assert found.cause == "detach"
    assert any("gt" in other for other in found.others)


def test_a_long_path_is_shown_by_its_ends(tmp_path: Path) -> None:
    program = W + V + "h = w\nfor _ in range(60):\n    h = h * 1.01\nh = h.detach()\n(h * v).sum().backward()"
    with gs.record():
        names = run(Case(program, "w", "none", "detach"), tmp_path)
        found = gs.explain(names["w"])
    assert len(found.path) == 64
    assert len(found.lines()) < 16
    assert "more" in str(found)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("factor", "infinity", "words"),
    [("[0.0, 1.0]", "float('-inf')", "infinity times 0"), ("[1e30, 1e30]", "1e30", "overflow of a product")],
)
def test_infinity_times_0_is_no_overflow(factor: str, infinity: str, words: str, tmp_path: Path) -> None:
    with gs.record():
        names = run(Case(f"y = (torch.tensor({factor}) * {infinity}).sum()", "y", "", ""), tmp_path)
        assert words in gs.explain(names["y"]).verdict


def test_share_of_zeros_is_told(tmp_path: Path) -> None:
    program = "x = torch.tensor([-1.0, -2.0, -3.0, 4.0], requires_grad=True)\nx.relu().sum().backward()"
    with gs.record():
        names = run(Case(program, "x", "fine", "fine"), tmp_path)
        found = gs.explain(names["x"])
    assert found.symptom == "fine"
    assert any("75%" in other and "relu" in other for other in found.others), str(found)


def test_a_way_that_is_cut_beside_an_open_one_is_told(tmp_path: Path) -> None:
    program = W + "with torch.no_grad():\n    penalty = (w * w).sum()\n((w * 2).sum() + penalty).backward()"
    with gs.record():
        names = run(Case(program, "w", "fine", "fine"), tmp_path)
        found = gs.explain(names["w"])
    assert found.symptom == "fine"
    assert "Another way is cut: mul at prog.py:6 ran with gradients off" in str(found)


def test_a_finite_gradient_of_a_loss_that_is_not_is_told(tmp_path: Path) -> None:
    program = W + "p = w.detach() - 1.0\nloss = (w * 2 + p.log()).sum()\nloss.backward()"
    with gs.record():
        names = run(Case(program, "w", "fine", "fine"), tmp_path)
        found = gs.explain(names["w"])
    assert found.symptom == "fine"
    assert any("log at prog.py:6: log of 0 (1 of 2 elements)" in other for other in found.others), str(found)


def test_earlier_in_time_the_gradient_is_on_its_way(tmp_path: Path) -> None:
    with gs.record() as log:
        run(Case(W + "(w.tanh() * 2).sum().backward()", "w", "fine", "fine"), tmp_path)
    log.refresh()
    begin = next(row for row in range(log.end) if log.event(row).kind.name == "BACKWARD_BEGIN")
    assert gs.explain(log.graph.at(begin + 1), "w").cause == "on its way"
    assert gs.explain(log.graph.at(begin - 1), "w").cause == "no backward yet"
    assert gs.explain(log, "w").cause == "fine"


def test_a_step_that_took_over_nan_is_found(tmp_path: Path) -> None:
    program = (
        "w = torch.tensor([0.0, 1.0], requires_grad=True)\n"
        "optimizer = torch.optim.SGD([w], lr=0.1)\n"
        "for step in range(3):\n"
        "    optimizer.zero_grad()\n"
        "    loss = (w.abs().sqrt() * 2).sum()  # here\n"
        "    loss.backward()\n"
        "    optimizer.step()\n"
    )
    with gs.record():
        names = run(Case(program, "w", "nonfinite", ""), tmp_path)
        found = gs.explain(names["loss"])
    assert found.symptom == "nonfinite"
    assert "w" in found.verdict


def test_an_explanation_is_data_and_text(tmp_path: Path) -> None:
    with gs.record():
        names = run(ZERO["closed relu"], tmp_path)
        found = gs.explain(names["x"])
    assert isinstance(found, Explanation)
    assert to_json(found)["type_name"] == "Explanation"
    assert repr(found).splitlines()[0] == found.verdict


def test_without_a_recording_the_graph_is_asked(tmp_path: Path) -> None:
    x = gs.ones(3)
    w = gs.ones(3, requires_grad=True)
    unused = gs.ones(3, requires_grad=True)
    loss = (w * x).sum()
    assert gs.explain(x).cause == "does not require grad"
    assert gs.explain(gs.tensor([1])).cause == "dtype"
    assert gs.explain(w).cause == "no backward yet"
    assert gs.explain(unused, loss=loss).cause == "not on a path to the loss"
    assert [step.label for step in gs.explain(w, loss=loss).path[1:]] == ["MulBackward0", "SumBackward0"]
    loss.backward()
    assert gs.explain(w).symptom == "fine"
    assert gs.explain(loss).cause == "not a leaf"
    w.grad = gs.zeros(3)
    assert gs.explain(w).symptom == "zero"


@pytest.mark.torch
def test_a_tensor_of_torch_is_asked_the_same_way() -> None:
    torch = pytest.importorskip("torch")
    w = torch.ones(3, requires_grad=True)
    h = w.detach() * 2
    assert gs.explain(h).cause == "does not require grad"
    assert gs.explain(w, loss=(w * 2).sum()).path[1:]
    (w * 2).sum().backward()
    assert gs.explain(w).symptom == "fine"


@pytest.mark.parametrize(("thing", "spec", "complaint"), [(3, "", "takes a tensor"), ("log", "", "needs a node"),
                                                         ("log", "fc1", "no node answers")])  # fmt: skip
def test_what_cannot_be_explained_is_refused(thing: Any, spec: str, complaint: str, tmp_path: Path) -> None:
    with gs.record() as log:
        run(FINE["a gradient"], tmp_path)
    with pytest.raises(GraphscopeError, match=complaint):
        gs.explain(log if thing == "log" else thing, spec)


def test_values_that_were_not_kept_are_said_to_be(tmp_path: Path) -> None:
    with gs.record(values="none") as log:
        names = run(FINE["a gradient"], tmp_path)
        assert gs.explain(names["w"]).cause == "fine"  # the tensor itself still holds it
    assert gs.explain(log, "w").cause == "values not kept"
