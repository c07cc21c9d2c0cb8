"""Products of matrices, and what comes of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine import einsum as _einsum
from graphscope.engine import tensordot as _tensordot
from graphscope.engine.core.tensor import Tensor
from graphscope.errors import StaticError
from graphscope.static.words.offering import offer
from graphscope.static.words.operands import of_kinds, op, rank_of, tensor, whole


@offer("matmul", "linalg.matmul", type="MatMul")
def matmul(
    a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
    adjoint_b: bool = False, a_is_sparse: bool = False, b_is_sparse: bool = False, output_type: Any = None,
    grad_a: bool = False, grad_b: bool = False, name: Any = None,
) -> Any:  # fmt: skip
    """The product of matrices, or of batches of them."""
    if output_type is not None:
        raise StaticError("matmul takes no output_type here", hint="tf.cast(tf.matmul(a, b), dtype)")
    one = of_kinds(a, "fic")
    other = tensor(b, one.dtype)
    ranks = rank_of(one), rank_of(other)
    if any(each is not None and each < 2 for each in ranks):
        raise StaticError(
            f"matmul takes matrices, and was given {ranks[0]} and {ranks[1]} dims",
            hint="tf.linalg.matvec(m, v), or tf.expand_dims(v, 1)",
        )
    one, other = _turned(one, transpose_a, adjoint_a), _turned(other, transpose_b, adjoint_b)
    return op("matmul", one, other)


def _turned(x: Any, transpose: bool, adjoint: bool) -> Any:
    if adjoint and x.dtype.kind == "c":
        x = op("conj", x)
    return op("transpose", x, -1, -2) if transpose or adjoint else x


@offer("linalg.matvec", type="Squeeze", node="MatVec")
def matvec(
    a: Any, b: Any, transpose_a: bool = False, adjoint_a: bool = False, a_is_sparse: bool = False,
    b_is_sparse: bool = False, name: Any = None,
) -> Any:  # fmt: skip
    """The product of a matrix and a vector."""
    one = tensor(a)
    other = op("unsqueeze", tensor(b, one.dtype), -1)
    return op("squeeze", op("matmul", _turned(one, transpose_a, adjoint_a), other), -1)


@offer("tensordot", "linalg.tensordot", type="Reshape", node="Tensordot")
def tensordot(a: Any, b: Any, axes: Any, name: Any = None) -> Any:
    """The products summed over these dims of one and of the other."""
    one = tensor(a)
    other = tensor(b, one.dtype)
    dims = whole(axes)
    if isinstance(dims, list):
        dims = tuple([each] if isinstance(each, int) else each for each in dims)
    return _tensordot(one, other, dims)


@offer("einsum", "linalg.einsum", type="Einsum", node="einsum")
def einsum(equation: Any, *inputs: Any, **kwargs: Any) -> Any:
    """The products that letters for dims tell."""
    kwargs.pop("name", None)
    given = [tensor(each) for each in inputs]
    if "->" not in equation:
        letters = [each for each in equation if each.isalpha()]
        equation = f"{equation}->{''.join(sorted(each for each in set(letters) if letters.count(each) == 1))}"
    if kwargs:
        raise StaticError(f"einsum takes no {', '.join(kwargs)} here", hint="leave it out")
    for operand in equation.replace(" ", "").partition("->")[0].split(","):
        if len(set(operand)) < len(operand.replace("...", ".")):
            raise StaticError(f"einsum takes no letter twice in {operand!r}", hint="tf.linalg.diag_part(x) first")
    return _einsum(equation, *given)


# Square ones ----------------------------------------------------------------------------------------------------------


@offer("matrix_inverse", "linalg.inv", type="MatrixInverse")
def matrix_inverse(input: Any, adjoint: bool = False, name: Any = None) -> Any:
    """The inverse."""
    return op("linalg_inv", _turned(of_kinds(input, "f"), adjoint, False))


@offer("matrix_determinant", "linalg.det", type="MatrixDeterminant")
def matrix_determinant(input: Any, name: Any = None) -> Any:
    """The determinant."""
    return op("linalg_det", of_kinds(input, "f"))


@offer("cholesky", "linalg.cholesky", type="Cholesky")
def cholesky(input: Any, name: Any = None) -> Any:
    """The lower triangle whose product with its transpose is the matrix."""
    return op("linalg_cholesky", of_kinds(input, "f"))


@offer("matrix_solve", "linalg.solve", type="MatrixSolve")
def matrix_solve(matrix: Any, rhs: Any, adjoint: bool = False, name: Any = None) -> Any:
    """X with matrix·x = rhs."""
    a = of_kinds(matrix, "f")
    return op("linalg_solve", _turned(a, adjoint, False), tensor(rhs, a.dtype))


@offer("matrix_triangular_solve", "linalg.triangular_solve", type="MatrixTriangularSolve")
def matrix_triangular_solve(matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: Any = None) -> Any:
    """As `matrix_solve`, of a triangle: the rest of the matrix is not looked at."""
    a = of_kinds(matrix, "f")
    triangle = op("tril", a) if lower else op("triu", a)
    return op("linalg_solve", _turned(triangle, adjoint, False), tensor(rhs, a.dtype))


@offer("trace", "linalg.trace", type="Sum", node="Trace")
def trace(x: Any, name: Any = None) -> Any:
    """The sum of the diagonal."""
    return op("sum", matrix_diag_part(x), (-1,), False)


@offer("diag_part", "linalg.tensor_diag_part", type="DiagPart", arguments="input, name=None")
@offer("matrix_diag_part", "linalg.diag_part", type="MatrixDiagPartV3", node="MatrixDiagPart",
       arguments="input, name=None")  # fmt: skip
def matrix_diag_part(input: Any, name: Any = None) -> Any:
    """The diagonal."""
    x = tensor(input)
    return op("clone", op("diagonal", x, 0, -2, -1))


@offer("matrix_set_diag", "linalg.set_diag", type="MatrixSetDiagV3", node="MatrixSetDiag",
       arguments="input, diagonal, name=None")  # fmt: skip
def matrix_set_diag(input: Any, diagonal: Any, name: Any = None) -> Any:
    """The matrix with another diagonal."""
    x = tensor(input)
    values = tensor(diagonal, x.dtype)
    here = Tensor(np.eye(x.shape[-2], x.shape[-1], dtype=np.bool_))
    return op("where", here, op("unsqueeze", values, -1), x)


@offer("cross", "linalg.cross", type="Cross")
def cross(a: Any, b: Any, name: Any = None) -> Any:
    """The vector product."""
    one = tensor(a)
    return op("linalg_cross", one, tensor(b, one.dtype))
