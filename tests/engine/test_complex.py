"""Complex numbers: every op on them against PyTorch's, and gradients by the convention dL/d(re) + i · dL/d(im)."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs
from tests.engine.sampling import SAMPLES, arguments, flat, over_samples, results, run, tensors
from tests.engine.test_ops_against_torch import agree, outcome, run_theirs, theirs_of, torch_tensors

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

REFUSED = {
    "addcdiv", "addcmul", "lerp", "linalg_cholesky",
    "linalg_cross", "linalg_eigvalsh", "linalg_pinv", "linalg_qr", "linalg_slogdet", "linalg_svdvals",
    "logaddexp", "logsumexp", "softsign", "std", "triplet_margin_loss", "var",
}  # fmt: skip
"""Ops that PyTorch has for complex numbers, and this engine for real ones alone."""


def is_floating(value):
    return isinstance(value, np.ndarray | np.generic) and value.dtype.kind == "f"


TAKEN = [
    (op, sample)
    for op, sample in SAMPLES
    if theirs_of(op) is not None
    and not op.in_place
    and op.name not in ("to", "bincount")
    and any(map(is_floating, flat(arguments(op, sample)[0])))
    and all(np.isfinite(part).all() for part in sample if isinstance(part, np.ndarray))
]


def complex_of(value):
    """Complex numbers beside real ones."""
    if isinstance(value, list):
        return [complex_of(part) for part in value]
    if is_floating(value):
        return np.asarray(value * (1 + 0.4j) + 0.3j * np.cos(3 * value))
    return value


@over_samples(TAKEN)
def test_what_torch_computes_of_complex_numbers_is_computed_alike_or_refused(op, sample):
    made, attrs = arguments(op, sample)
    made = [complex_of(value) for value in made]
    ours, theirs = tensors(made), torch_tensors(made)
    expected = outcome(lambda: run_theirs(op, theirs, attrs))
    if isinstance(expected, Exception):
        return
    found = outcome(lambda: run(op, ours, attrs))
    if isinstance(found, Exception):
        assert op.name in REFUSED
        return
    for out, other in zip(results(found), results(expected), strict=True):
        assert out.dtype.name == str(other.dtype).removeprefix("torch.")
    agree(op, found, expected, ours, theirs, "float64")


PROGRAMS = {
    "a number times a real tensor": "y = (r * (1 + 2j) * z).real",
    "a real tensor among complex ones": "y = ((z + r) / (z * r + 3j)).abs()",
    "rotary embedding": (
        "turns = torch.polar(torch.ones_like(r), r)\n"
        "pairs = torch.view_as_complex(torch.stack([r, r * r], -1))\n"
        "y = torch.view_as_real(pairs * turns).flatten(1) * torch.view_as_real(z).flatten(1)"
    ),
    "a matrix product": "y = (z @ z.mH).real + (z.conj() @ z.T).imag + r @ r.T",
    "made of two parts": "y = torch.complex(r, r * 2).angle() * z.abs() ** 2",
    "a hook": "w = z * r; w.register_hook(lambda g: g * 1j); y = w.real",
    "indices": "w = z[1:] * 2; y = w[:, [0, 0]].imag * r[1:, :2]",
    "a custom function": (
        "class Twice(torch.autograd.Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x):\n"
        "        return x * 2j\n"
        "    @staticmethod\n"
        "    def backward(ctx, g):\n"
        "        return g * -2j\n"
        "y = Twice.apply(z).real * r"
    ),
    "several outputs": "a, b = (z * r).unbind(); y = a.real + b.abs()",
}


def run_program(library, text, *, recorded_in=None, twice=False):
    numbers = np.random.default_rng(4)
    z, r = numbers.standard_normal((2, 3, 2)).view(np.complex128)[..., 0], numbers.standard_normal((2, 3))
    names = {"torch": library, "z": library.tensor(z, requires_grad=True), "r": library.tensor(r, requires_grad=True)}
    exec(text, names)
    given = (names["z"], names["r"])
    found = library.autograd.grad(names["y"].sin().sum(), given, create_graph=twice)
    if twice:
        found = library.autograd.grad(sum((part.abs() ** 2).sum() for part in found), given)
    return [np.asarray(part.detach().resolve_conj()) for part in (names["y"], *found)]


@pytest.mark.slow
@pytest.mark.parametrize("twice", [False, True], ids=["once", "twice"])
@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_programs_have_torchs_values_and_gradients(text, twice, tmp_path):
    expected = run_program(torch, text, twice=twice)
    with gs.record(tmp_path / "run.gscope"):
        recorded = run_program(gs, text, twice=twice)
    for found in (run_program(gs, text, twice=twice), recorded):
        for mine, theirs in zip(found, expected, strict=True):
            assert mine.dtype == theirs.dtype
            np.testing.assert_allclose(mine, theirs, rtol=1e-11, atol=1e-12)


def test_parts_lie_in_the_memory_of_the_whole():
    found = []
    for library in (gs, torch):
        z = library.tensor([1 + 2j, 3 - 1j])
        z.real.mul_(3)
        z.imag[0] = 7
        library.view_as_real(z)[1] += 1
        pairs = library.tensor([[1.0, 2.0], [3.0, 4.0]])
        library.view_as_complex(pairs).mul_(1j)
        found.append([*z.tolist(), *pairs.tolist()])
    assert found[0] == found[1]
    z = gs.tensor([1 + 2j], requires_grad=True) * 1
    with pytest.raises(RuntimeError, match="no way back"):
        z.real.mul_(2)


def test_a_complex_number_is_no_loss():
    z = gs.tensor([1 + 2j], requires_grad=True)
    with pytest.raises(RuntimeError, match=r"real scalar outputs.*\.real|real scalar outputs.*abs"):
        z.sum().backward()
    z.sum().backward(gs.tensor(1j))
    np.testing.assert_array_equal(z.grad.numpy(), [1j])


def test_dtypes_of_new_complex_tensors_are_those_of_torch():
    for make in (
        lambda library: library.tensor([1 + 2j]),
        lambda library: library.tensor(np.array([1 + 2j])),
        lambda library: library.tensor(1j),
        lambda library: library.ones(2) * 1j,
        lambda library: library.ones(2, dtype=library.float64) + 1j,
        lambda library: library.arange(3) * 1j,
        lambda library: library.ones(2, dtype=library.complex64).real,
    ):
        assert repr(make(gs).dtype) == repr(make(torch).dtype)


ROTARY = """
nn = torch.nn
def turns(size, length):
    steps = 1.0 / (100.0 ** (torch.arange(0, size, 2).double() / size))
    angles = torch.outer(torch.arange(length).double(), steps)
    return torch.polar(torch.ones_like(angles), angles)
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k = nn.Linear(8, 8), nn.Linear(8, 8)
        self.register_buffer("turns", turns(4, 10))
    def turned(self, x):
        pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * self.turns[: x.shape[1], None]).flatten(3)
    def forward(self, x):
        q, k = (self.turned(part(x).view(*x.shape[:2], 2, 4)) for part in (self.q, self.k))
        return torch.einsum("bthd,bshd->bhts", q, k).softmax(-1)
model = Attention().double()
x = torch.linspace(-1, 1, 2 * 6 * 8, dtype=torch.float64).reshape(2, 6, 8).sin()
"""
FOURIER_LAYER = """
nn = torch.nn
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.polar(torch.ones(36).double(), torch.arange(36).double()).reshape(3, 3, 4))
    def forward(self, x):
        spectrum = torch.fft.rfft(x)
        out = torch.zeros_like(spectrum)
        out[:, :, :4] = torch.einsum("bix,iox->box", spectrum[:, :, :4], self.weight)
        return torch.fft.irfft(out, n=x.size(-1))
model = Layer()
x = torch.linspace(-2, 2, 2 * 3 * 16, dtype=torch.float64).reshape(2, 3, 16).sin()
"""


@pytest.mark.parametrize("text", [ROTARY, FOURIER_LAYER], ids=["rotary embedding", "Fourier layer"])
def test_training_with_complex_numbers_goes_as_in_torch(text):
    runs = []
    for library in (torch, gs):
        names = {"torch": library}
        exec(text, names)
        model = names["model"]
        for number, parameter in enumerate(model.parameters()):
            if not library.is_complex(parameter):
                start = library.linspace(-0.5, 0.5, parameter.numel(), dtype=library.float64) * (number + 1)
                parameter.data.copy_(start.reshape(parameter.shape))
        optimizer = library.optim.Adam(model.parameters(), lr=0.05)
        found = []
        for _ in range(4):
            optimizer.zero_grad()
            loss = ((model(names["x"]) - 0.3) ** 2).mean()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        runs.append((found, [parameter.detach().numpy() for parameter in model.parameters()]))
    np.testing.assert_allclose(runs[1][0], runs[0][0], rtol=1e-9)
    for mine, theirs in zip(runs[1][1], runs[0][1], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-7, atol=1e-9)


def test_a_module_that_goes_to_double_leaves_complex_buffers_alone():
    for library in (torch, gs):
        module = library.nn.Linear(2, 2)
        module.register_buffer("turns", library.ones(2) * 1j)
        module.double()
        assert (str(module.turns.dtype), str(module.weight.dtype)) == ("torch.complex64", "torch.float64")


def test_complex_numbers_to_and_from_python():
    for library in (torch, gs):
        z = library.tensor([1 + 2j, -3j])
        assert (complex(z[0]), z[1].item(), z.tolist()) == (1 + 2j, -3j, [1 + 2j, -3j])
        assert (z == z.clone()).all()
        assert library.equal(z, library.from_numpy(z.numpy()))
        with pytest.raises((TypeError, RuntimeError)):
            float(z[0])
        drawn = library.randn(20_000, dtype=library.complex64)
        assert abs(float((drawn.abs() ** 2).mean()) - 1) < 0.05
        assert abs(float(drawn.real.var()) - 0.5) < 0.03
        uniform = library.rand(1000, dtype=library.complex128)
        assert uniform.imag.min() >= 0
        assert abs(float(uniform.imag.mean()) - 0.5) < 0.05
