"""Factors of matrices and what is solved with them, against PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:.*deprecated")]

NUMBERS = np.random.default_rng(0)
MATRICES = [NUMBERS.standard_normal(shape) for shape in ((3, 3), (2, 4, 4), (4, 2), (2, 4), (2, 0, 3, 3))]
SQUARE, RIGHT = NUMBERS.standard_normal((2, 3, 3)), NUMBERS.standard_normal((2, 3, 2))
SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])


def flat(found):
    return [part.detach().numpy() for part in (found if isinstance(found, tuple) else (found,))]


def agree(call):
    mine, other = (flat(call(t)) for t in (gs, torch))
    for ours, theirs in zip(mine, other, strict=True):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("matrix", MATRICES, ids=lambda matrix: str(matrix.shape))
def test_lu(matrix):
    agree(lambda t: t.linalg.lu_factor(t.tensor(matrix)))
    agree(lambda t: t.linalg.lu(t.tensor(matrix)))
    p, lower, upper = gs.linalg.lu(gs.tensor(matrix))
    np.testing.assert_allclose((p @ lower @ upper).numpy(), matrix, atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"adjoint": True}, {"left": False}, {"left": False, "adjoint": True}], ids=str)
def test_systems_are_solved_with_lu_and_differentiated(options):
    def call(t):
        matrix, right = t.tensor(SQUARE, requires_grad=True), t.tensor(RIGHT, requires_grad=True)
        given = right if options.get("left", True) else right.mT
        out = t.linalg.lu_solve(*t.linalg.lu_factor(matrix), given, **options)
        (out * out).sum().backward()
        return out, matrix.grad, right.grad

    agree(call)


@pytest.mark.parametrize("upper", [False, True])
def test_cholesky_factors(upper):
    def call(t):
        matrix = t.tensor(SQUARE)
        factor = t.linalg.cholesky(matrix @ matrix.mT + t.eye(3, dtype=t.float64), upper=upper)
        right = t.tensor(RIGHT, requires_grad=True)
        solved = t.cholesky_solve(right, factor, upper)
        solved.sum().backward()
        return solved, t.cholesky_inverse(factor, upper), right.grad

    agree(call)


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.triangular_solve(t.tensor(RIGHT), t.tensor(SQUARE)),
        lambda t: t.triangular_solve(t.tensor(RIGHT), t.tensor(SQUARE), upper=False, transpose=True),
        lambda t: t.lu_solve(t.tensor(RIGHT), *t.linalg.lu_factor(t.tensor(SQUARE))),
        lambda t: t.lu_unpack(*t.linalg.lu_factor(t.tensor(SQUARE)), unpack_data=False)[0],
        lambda t: t.linalg.cholesky_ex(t.tensor(SQUARE @ SQUARE.mT)),
        lambda t: t.linalg.cholesky_ex(t.tensor(-np.eye(2))).info,
        lambda t: t.linalg.inv_ex(t.tensor(SQUARE)),
        lambda t: t.linalg.solve_ex(t.tensor(SQUARE), t.tensor(RIGHT)),
        lambda t: t.linalg.lu_factor_ex(t.tensor(SINGULAR)),
    ],
)
def test_what_else_is_solved(call):
    agree(call)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_eigenvalues(dtype):
    found = []
    for t in (gs, torch):
        matrix = t.tensor(SQUARE, dtype=getattr(t, dtype))
        values, vectors = t.linalg.eig(matrix)
        close = 1e-4 if dtype == "float32" else 1e-10
        np.testing.assert_allclose(
            matrix.numpy() @ vectors.numpy(), vectors.numpy() * values.numpy()[..., None, :], atol=close
        )
        others = t.linalg.eigvals(matrix)
        assert (
            str(values.dtype) == str(others.dtype) == ("torch.complex64" if dtype == "float32" else "torch.complex128")
        )
        found.append([np.sort_complex(others.numpy()), np.sort(others.real.numpy()), np.sort(others.angle().numpy())])
    for mine, other in zip(*found, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-4 if dtype == "float32" else 1e-9, atol=1e-5)


@pytest.mark.parametrize("t", [gs, torch], ids=["graphscope", "torch"])
def test_what_is_wrong_is_raised_if_asked_for(t):
    with pytest.raises(Exception, match="positive"):
        t.linalg.cholesky_ex(t.tensor(-np.eye(2)), check_errors=True)
    with pytest.raises(RuntimeError):
        t.linalg.lu_factor_ex(t.tensor(SINGULAR), check_errors=True)
    with pytest.raises(RuntimeError):
        t.linalg.inv(t.tensor(SINGULAR))
