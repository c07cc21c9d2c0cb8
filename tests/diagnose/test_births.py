"""What is said of births of NaN and Inf is true: of each op that can make them, against the same op in float64."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import graphscope as gs
from graphscope.diagnose import Finding, every
from graphscope.eventlog.schema import Flag, Kind
from tests.graph.conftest import Tape

pytestmark = pytest.mark.torch

ODD = [0.0, -1.0, 1.0, -2.5, 1e30, -1e30, 1e-42, 1e-30, 200.0]
SIDE = 40
"""Matrices of that side are kept by their statistics alone where the policy is `summary`."""

OPS = """
    x.log() x.log2() x.log10() x.log1p() x.sqrt() x.rsqrt() x.reciprocal() x.exp() x.exp2() x.expm1() x.sinh()
    x.cosh() x.acos() x.asin() x.atanh() x.acosh() x.erfinv() x.logit() x.square() x.lgamma() x.digamma()
    x/y y/x 1/x x*y x+y x-y x@y x**-2 x**0.5 x**y.abs() y.abs()**x 2.0**x torch.xlogy(y,x)
    torch.special.xlog1py(y,x) torch.special.entr(x) torch.hypot(x,y) torch.fmod(y,x) x.sum() x.mean(0) x.prod(0)
    x.cumsum(0) x.cumprod(0) x.var(0) x.std(0) x.norm(dim=1) torch.linalg.norm(x,dim=1) torch.cdist(x,y)
    x.softmax(0) x.log_softmax(0) x.logsumexp(0) torch.nn.functional.mse_loss(x,y) torch.nn.functional.linear(x,y)
    torch.nn.functional.normalize(x) torch.nn.functional.layer_norm(x,(40,)) torch.nn.functional.softplus(x)
    torch.addcdiv(y,y,x) torch.lerp(x,y,0.5) torch.nn.functional.smooth_l1_loss(x,y) torch.einsum('ij,jk->ik',x,y)
    torch.nn.functional.cosine_similarity(x,y)
"""

GIVEN: dict[str, Callable[[np.ndarray], Any]] = {
    "zero": lambda x: (np.abs(x) <= 1e-6) | (np.abs(x) == 1),  # of 1 - x, too
    "negative": lambda x: x < 0,
    "domain": lambda x: (np.abs(x) >= 1) | (x <= 0),
    "slope at 1": lambda x: np.abs(x) == 1,
    "pole": lambda x: x <= 0,
    "0/0": lambda x: x == 0,
}
"""What a word of a cause claims of some number that the op was given."""


class Case(NamedTuple):
    call: str
    numbers: tuple[Any, Any]
    too_large: bool
    """Some of what is not finite is finite in float64."""
    singular: bool
    """Some of it is not."""


def operands(odd: float, dtype: Any) -> tuple[Any, Any]:
    import torch

    generator = torch.Generator().manual_seed(0)
    x, y = (torch.rand(SIDE, SIDE, generator=generator) + 0.3 for _ in range(2))
    x[::7, ::5] = odd
    return x.to(dtype).requires_grad_(), y.to(dtype).requires_grad_()


def results(call: str, odd: float, dtype: Any, *, backward: bool) -> list[Any]:
    """What a call makes, or the gradients of it; nothing where it is the call that is not finite."""
    import torch

    x, y = operands(odd, dtype)
    made = eval(call, {"torch": torch, "x": x, "y": y})
    if not backward:
        return [made.detach()]
    if not made.isfinite().all():
        return []
    return [each for each in torch.autograd.grad(made.sum(), [x, y], allow_unused=True) if each is not None]


def cases(*, backward: bool) -> Iterator[Case]:
    import torch

    for call in OPS.split():
        for odd in ODD:
            single = results(call, odd, torch.float32, backward=backward)
            double = results(call, odd, torch.float64, backward=backward)
            lost = [(~each.isfinite(), other.isfinite()) for each, other in zip(single, double, strict=False)]
            if any(bool(odd_ones.any()) for odd_ones, _ in lost):
                too_large = any(bool((each & fine).any()) for each, fine in lost)
                singular = any(bool((each & ~fine).any()) for each, fine in lost)
                yield Case(call, operands(odd, torch.float32), too_large, singular)


def told(found: list[Case], values: str, folder: Path, *, backward: bool) -> list[Finding | None]:
    """What is said of each, of one log."""
    import torch

    begins = []
    with gs.record(folder / "run.gscope", values=values) as log:
        for case in found:
            log.refresh()
            begins.append(log.end)
            x, y = (each.detach().requires_grad_(backward) for each in case.numbers)
            made = eval(case.call, {"torch": torch, "x": x, "y": y})
            if backward:
                made.sum().backward()
    opened, check = gs.load(folder / "run.gscope"), every()["nan"]
    births: dict[int, Finding] = {}
    for row in check.rows(opened):
        place = int(np.searchsorted(begins, row, side="right")) - 1
        if place not in births:
            births.update((place, each) for each in check.judge(opened.graph, row))
    return [births.get(place) for place in range(len(found))]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("values", ["full", "summary"])
def test_a_cause_is_true_of_the_numbers(values: str, backward: bool, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    found = list(cases(backward=backward))
    assert found
    for case, said in zip(found, told(found, values, tmp_path, backward=backward), strict=True):
        assert said is not None, case.call
        about = f"{case.call}: {said.cause}: {said.verdict}"
        given = [each.detach().numpy() for each in case.numbers]
        largest = max(np.abs(each).max() for each in given)
        if "overflow" in said.cause:
            assert largest >= 200, about
            assert case.too_large or largest > 1e10, about  # exp of that is too large in float64 as well
        if case.too_large and not case.singular:
            assert any(word in said.cause for word in ("overflow", "near", "no finite", "undefined")), about
        claims = [claim for word, claim in GIVEN.items() if word in said.cause and "overflow" not in said.cause]
        assert all(any(claim(each).any() for each in given) for claim in claims), about


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("values", ["full", "summary"])
def test_a_log_of_zero_is_no_overflow(values: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    with gs.record(tmp_path / "run.gscope", values=values):
        p = torch.ones(SIDE, SIDE, requires_grad=True)
        torch.log(1 - p).mean().backward()
    (said,) = gs.doctor(tmp_path / "run.gscope").findings
    assert (said.cause, said.evidence["least of its inputs"]) == ("log of zero", 0)
    assert "1600 of 1600" in said.verdict


def test_a_complex_infinity_has_no_sign(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    with gs.record(tmp_path / "run.gscope"):
        z = torch.zeros(2, dtype=torch.complex64, requires_grad=True)
        z.log().abs().sum().backward()
    report = gs.doctor(tmp_path / "run.gscope")
    assert [(said.kind, "inf" in said.verdict) for said in report] == [("nan", True)]
    assert not report.unjudged


@pytest.mark.parametrize("values", ["full", "summary"])
def test_a_sigmoid_of_exactly_one_is_named_where_its_rest_is_0(values: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    with gs.record(tmp_path / "run.gscope", values=values):
        w = torch.full((2,), 20.0, requires_grad=True)
        prob = torch.sigmoid(w)
        torch.log(1 - prob).mean().backward()
    (said,) = gs.doctor(tmp_path / "run.gscope").findings
    assert torch.sigmoid(w).tolist() == [1.0, 1.0]
    assert torch.nn.functional.logsigmoid(-w).isfinite().all()
    assert "log is -inf" in said.verdict
    assert "sigmoid at test_births.py" in said.verdict
    assert "logsigmoid(-x)" in said.cure


PROGRAMS = {
    "a rule of one's own": (
        """
        class Twice(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return 2 * x
            @staticmethod
            def backward(ctx, g):
                (x,) = ctx.saved_tensors
                return 2 * g * x / x  # here
        Twice.apply(torch.tensor([0.0, 1.0], requires_grad=True)).sum().backward()
        """, "0/0"),
    "a hook": (
        """
        x = torch.tensor([0.0, 1.0], requires_grad=True)
        h = x * 2
        h.register_hook(lambda g: g / g.norm() / 0.0)  # here
        h.sum().backward()
        """, "division by zero"),
    "the weight of a layer": (
        """
        weight = torch.full((3, 3), 1e-3, requires_grad=True)
        x = torch.full((2, 3), 3e38)
        hidden = torch.nn.functional.linear(x, weight)  # here
        (hidden * 10.0).sum().backward()
        """, "overflow"),
    "hidden farther on": (
        """
        x = torch.tensor([0.0, 200.0], requires_grad=True)
        grown = x.exp()  # here
        torch.where(x > 20, x, (grown + 1).log()).sum().backward()
        """, "masked overflow"),
    "left out by an index": (
        """
        x = torch.tensor([0.0, 1.0], requires_grad=True)
        logs = (x * 2).log()  # here
        logs[x > 0].sum().backward()
        """, "masked log of zero"),
    "picked, not left out": (
        """
        roots = torch.tensor([0.0, 1.0], requires_grad=True).sqrt()  # here
        roots[0].backward()
        """, "root at zero"),
    "printed, not left out": (
        """
        shares = torch.tensor([0.0, 200.0], requires_grad=True).exp()  # here
        print(shares / shares.sum())
        (shares / shares.sum())[0].backward()
        """, "overflow"),
    "half precision": (
        """
        x = torch.tensor([300.0, 1.0], requires_grad=True).half()
        (x * x).sum().backward()  # here
        """, "overflow"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
def test_without_values_all_that_may_be_is_told(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    with gs.record(tmp_path / "run.gscope", values="none"):
        x = torch.zeros(SIDE, SIDE, requires_grad=True)
        x.log().mean().backward()
        (x + 1).exp().mul(1e4).pow(2).half().mean().backward()
    (said,) = gs.doctor(tmp_path / "run.gscope").findings
    assert said.cause == "log of zero or log of a negative"
    assert "can't tell which" in said.verdict


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("values", ["full", "summary"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_line_of_a_birth_is_found(name: str, values: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text, cause = PROGRAMS[name]
    script = tmp_path / "prog.py"
    script.write_text("import torch\n" + textwrap.dedent(text))
    with gs.record(tmp_path / "run.gscope", values=values):
        exec(compile(script.read_text(), str(script), "exec"), {"__name__": "__main__"})
    (said,) = gs.doctor(tmp_path / "run.gscope").findings
    line = next(number for number, each in enumerate(script.read_text().splitlines(), 1) if each.endswith("# here"))
    assert (said.kind, said.line, said.cause) == ("nan", line, cause), said


BEHIND_THE_LAST_PASS = {
    "of a parameter": ("(w - 5.0).sqrt().sum()", True),
    "of data": ("engine.tensor([-1.0]).sqrt().sum()", False),
    "without gradients": ("off(lambda: (w - 5.0).sqrt().sum())", False),
    "of a detached one": ("(w.detach() - 5.0).sqrt().sum()", False),
    "printed": ("print((w - 5.0).sqrt().detach())", True),
}
"""What a program computes when its last backward pass is over, and whether a gradient could flow to it."""


@pytest.mark.parametrize("name", BEHIND_THE_LAST_PASS)
@pytest.mark.parametrize("engine", ["torch", "graphscope"])
def test_behind_the_last_pass_a_birth_is_told_where_a_gradient_could_flow(engine, name, tmp_path: Path) -> None:
    computed, is_told = BEHIND_THE_LAST_PASS[name]
    module = __import__(engine)

    def off(compute: Callable[[], Any]) -> Any:
        with module.no_grad():
            return compute()

    with gs.record(tmp_path / "run.gscope"):
        w = module.tensor([1.0, 2.0], requires_grad=True)
        for _ in range(2):
            (w * w).sum().backward()
        loss = eval(computed, {"engine": module, "w": w, "off": off})
        assert loss is None or not loss.isfinite().all()
    found = list(every()["nan"].findings(gs.load(tmp_path / "run.gscope").graph))
    assert [each.kind for each in found] == ["nan"] * is_told


@pytest.mark.parametrize(("odd", "cause"), [(np.nan, "replaced"), (np.inf, "overflow of a sum")])
def test_finite_contributions_add_up_to_an_infinity_and_never_to_nan(odd: float, cause: str, tmp_path: Path) -> None:
    """What a gradient holds that its contributions can't add up to was put there by something else."""
    tape = Tape(tmp_path / "run.gscope")
    weight = tape.leaf([1.0, 2.0], "weight", flags=Flag.REQUIRES_GRAD | Flag.PARAMETER)
    tape.backward(tape.op("sum", weight, line=4))
    added = max(tape.values)
    tape._row(Kind.ACCUMULATE, np.array([odd, 1.0]), inputs=[(added, 0)], forward=weight)
    tape.writer.close()
    (found,) = gs.doctor(tape.log())
    assert (found.kind, found.cause) == ("nan", cause)
