"""Linear algebra beyond the samples of the table: symmetric matrices, what is free in a decomposition, and errors."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs
from graphscope.engine.core.gradcheck import gradcheck, gradgradcheck

NUMBERS = np.random.default_rng(5)


def leaf(*shape):
    return gs.from_numpy(NUMBERS.uniform(-1, 1, shape)).requires_grad_()


def symmetric(x):
    return x + x.mT


def positive(x):
    return x @ x.mT + gs.eye(x.shape[-1], dtype=gs.float64)


PROGRAMS = {
    "eigenvalues": lambda x: gs.linalg.eigh(symmetric(x)).eigenvalues,
    "eigvalsh": lambda x: gs.linalg.eigvalsh(symmetric(x), "U"),
    "projectors": lambda x: gs.linalg.eigh(symmetric(x)).eigenvectors[..., :1] ** 2,
    "cholesky": lambda x: gs.linalg.cholesky(positive(x)),
    "cholesky, upper": lambda x: gs.linalg.cholesky(positive(x), upper=True),
    "nuclear norm": lambda x: gs.linalg.norm(x, "nuc"),
    "spectral norm": lambda x: gs.linalg.norm(x, 2),
    "norm of rows": lambda x: gs.linalg.matrix_norm(x, float("inf"), keepdim=True),
    "low rank": lambda x: (lambda u, s, vh: u[..., :2] * s[..., None, :2] @ vh[..., :2, :])(*gs.linalg.svd(x)),
    "log-determinant": lambda x: gs.logdet(positive(x)),
    "determinant of a product": lambda x: gs.linalg.det(x @ x),
    "from the right": lambda x: gs.linalg.solve(positive(x), x, left=False),
    "complete QR of a wide matrix": lambda x: gs.linalg.qr(x[..., :2, :], "complete").R ** 2,
}


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3)], ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_of_first_and_second_order_agree_with_differences(name, shape):
    if (name, len(shape)) == ("nuclear norm", 3) or (name, len(shape)) == ("spectral norm", 3):
        shape = (3, 4)
    gradcheck(PROGRAMS[name], [leaf(*shape)])
    gradgradcheck(PROGRAMS[name], [leaf(*shape)])


def test_a_decomposition_multiplies_to_what_it_was_made_of():
    x = leaf(2, 4, 3)
    u, s, vh = gs.linalg.svd(x, full_matrices=False)
    q, r = gs.linalg.qr(x)
    for made in (u * s[:, None] @ vh, q @ r):
        np.testing.assert_allclose(made.array, x.array, atol=1e-12)
    values, vectors = gs.linalg.eigh(symmetric(x[:, :3]))
    np.testing.assert_allclose((vectors * values[:, None] @ vectors.mT).array, symmetric(x[:, :3]).array, atol=1e-12)


def test_the_determinant_of_a_singular_matrix_has_a_gradient():
    x = gs.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=gs.float64, requires_grad=True)
    gs.linalg.det(x).backward()
    np.testing.assert_allclose(x.grad.array, [[4, -2], [-2, 1]], atol=1e-12)


def test_a_norm_is_flat_at_zero():
    for p in (1, 1.5, 2, 3, float("inf")):
        x = gs.zeros(3, requires_grad=True)
        gs.linalg.vector_norm(x, p).backward()
        assert x.grad.tolist() == [0, 0, 0]


def test_einsum_takes_a_list_and_many_operands():
    x, y, z = leaf(2, 3), leaf(3, 4), leaf(4, 2)
    expected = x.array @ y.array @ z.array
    np.testing.assert_allclose(gs.einsum("ij,jk,kl->il", [x, y, z]).array, expected)
    np.testing.assert_allclose(gs.einsum("ij,jk,ki", x, y, z).array, np.trace(expected))
    np.testing.assert_allclose(gs.einsum(" i j -> j i ", x).array, x.array.T)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: gs.einsum("ij,jk->ik", gs.ones(2, 3), gs.ones(4, 5)), "'j' is 3 in one operand and 4 in operand 1"),
        (lambda: gs.einsum("ij->ik", gs.ones(2, 3)), "must name letters of the operands"),
        (lambda: gs.einsum("ij,jk->ik", gs.ones(2, 3)), "it names 2 operands, and 1 were given"),
        (lambda: gs.einsum("ijk->i", gs.ones(2, 3)), "does not name as many dims"),
        (lambda: gs.bmm(gs.ones(2, 3, 4), gs.ones(3, 4, 5)), "2 matrices in the first batch and 3 in the second"),
        (lambda: gs.mv(gs.ones(2, 3), gs.ones(2, 3)), "mv takes a matrix and a vector"),
        (lambda: gs.linalg.inv(gs.ones(2, 3)), "must be square, but its last dims are 2 and 3"),
        (lambda: gs.linalg.inv(gs.zeros(2, 2)), "Singular matrix"),
        (lambda: gs.linalg.cholesky(-gs.eye(2)), "not positive definite"),
        (lambda: gs.linalg.det(gs.ones(2, 2, dtype=gs.int64)), "int64; it must be floating"),
        (lambda: gs.linalg.qr(gs.ones(2, 2), "all"), "one of 'reduced', 'complete' and 'r'"),
        (lambda: gs.linalg.norm(gs.ones(2, 2), "max"), "no norm of order 'max'"),
        (
            lambda: gs.tensordot(gs.ones(2, 3), gs.ones(4, 2), dims=1),
            "dim 1 of the first is 3 and dim 0 of the second is 4",
        ),
        (lambda: gs.cdist(gs.ones(2, 3), gs.ones(2, 4)), "3 elements in the first and 4 in the second"),
    ],
)
def test_what_does_not_fit_is_told(call, told):
    with pytest.raises(RuntimeError, match=told):
        call()


NODES = [
    (lambda t, x: x @ x, "MmBackward0"),
    (lambda t, x: t.mm(x, x), "MmBackward0"),
    (lambda t, x: t.mv(x, x[0]), "MvBackward0"),
    (lambda t, x: t.dot(x[0], x[1]), "DotBackward0"),
    (lambda t, x: t.addmm(x, x, x), "AddmmBackward0"),
    (lambda t, x: t.bmm(x[None], x[None]), "BmmBackward0"),
    (lambda t, x: t.linalg.inv(x), "LinalgInvExBackward0"),
    (lambda t, x: t.linalg.det(x), "LinalgDetBackward0"),
    (lambda t, x: t.linalg.solve(x, x), "LinalgSolveExBackward0"),
    (lambda t, x: t.linalg.svd(x)[1], "LinalgSvdBackward0"),
    (lambda t, x: t.linalg.vector_norm(x), "LinalgVectorNormBackward0"),
    (lambda t, x: t.nn.functional.gelu(x), "GeluBackward0"),
    (lambda t, x: t.nn.functional.relu6(x), "HardtanhBackward0"),
    (lambda t, x: t.nn.functional.selu(x), "EluBackward0"),
    (lambda t, x: t.nn.functional.logsigmoid(x), "LogSigmoidBackward0"),
    (lambda t, x: t.nn.functional.layer_norm(x, (3,)), "NativeLayerNormBackward0"),
    (lambda t, x: t.nn.functional.batch_norm(x, None, None, training=True), "NativeBatchNormBackward0"),
    (lambda t, x: t.nn.functional.conv2d(x[None, None], x[None, None]), "ConvolutionBackward0"),
    (lambda t, x: t.nn.functional.cross_entropy(x, t.tensor([0, 1, 2])), "NllLossBackward0"),
    (lambda t, x: t.nn.functional.max_pool2d(x[None], 2), "MaxPool2DWithIndicesBackward0"),
    (lambda t, x: t.nn.functional.avg_pool2d(x[None], 2), "AvgPool2DBackward0"),
    (lambda t, x: t.nn.functional.interpolate(x[None, None], 5, mode="bilinear"), "UpsampleBilinear2DBackward0"),
    (lambda t, x: t.nn.functional.smooth_l1_loss(x, x * 2), "SmoothL1LossBackward0"),
    (
        lambda t, x: t.nn.functional.binary_cross_entropy_with_logits(x, x.detach()),
        "BinaryCrossEntropyWithLogitsBackward0",
    ),
]  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize(("program", "name"), NODES, ids=[name for _, name in NODES])
def test_a_node_has_the_name_that_torch_prints(program, name):
    torch = pytest.importorskip("torch")
    values = NUMBERS.uniform(-1, 1, (3, 3)) + 2 * np.eye(3)
    for module in (torch, gs):
        x = module.from_numpy(values.copy()).requires_grad_()
        assert program(module, x).grad_fn.name() == name


@pytest.mark.torch
def test_the_module_agrees_with_torch():
    torch = pytest.importorskip("torch")
    matrix, tall, wide = NUMBERS.uniform(-1, 1, (3, 3)), NUMBERS.uniform(-1, 1, (5, 3)), NUMBERS.uniform(-1, 1, (3, 5))
    calls = [
        lambda t, m, a, b: t.linalg.pinv(a @ b, rtol=1e-6),
        lambda t, m, a, b: t.linalg.cross(m, m.mT, dim=0),
        lambda t, m, a, b: t.linalg.vector_norm(m, 0, dim=1),
        lambda t, m, a, b: t.linalg.diagonal(m, offset=1),
        lambda t, m, a, b: t.norm(a, 3, dim=0),
        lambda t, m, a, b: t.cross(m, m.mT, dim=1),
    ]
    for call in calls:
        mine, other = (call(t, *(t.from_numpy(x.copy()) for x in (matrix, tall, wide))) for t in (gs, torch))
        np.testing.assert_allclose(mine.array, other.numpy(), rtol=1e-9, atol=1e-11)
