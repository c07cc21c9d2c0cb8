"""Where the engine answers PyTorch's own samples otherwise than PyTorch, and why: the table of `test_opinfo`."""

from __future__ import annotations

from typing import Final, NamedTuple

REAL: Final = "float32 float64"
DIFFERENTIABLE: Final = "float32 float64 complex64"
FLOATING: Final = "float16 float32 float64"
NUMBER: Final = r": -?([\d.]+(e-\d+)?|inf|nan), not "
SLOPE: Final = r": gradient \(?-?([\d.]+(e-\d+)?|inf|nan)\S*, not "


class Difference(NamedTuple):
    """What is said of some ops otherwise, and why that is left so."""

    why: str
    says: str
    """A regular expression that is found in what the comparison says."""
    dtypes: str
    """Those of the samples; each of them shows it."""
    ops: str
    """Names in PyTorch's database; each of them shows it."""
    everywhere: bool = True
    """Whether it shows on every processor."""


DIFFERENCES: Final = (
    # Refused in a sentence -------------------------------------------------------------------------------------------
    Difference(
        "decompositions of complex matrices are not offered",
        "complex matrices are not offered here",
        "complex64",
        "linalg.eigh linalg.eigvalsh linalg.matrix_norm linalg.norm linalg.norm.subgradients_at_zero linalg.pinv "
        "linalg.pinv.hermitian linalg.pinv.singular linalg.qr linalg.slogdet linalg.svd linalg.svdvals logdet norm.nuc "
        "qr svd",
    ),
    Difference(
        "statistics, losses and activations are of real numbers",
        "floating numbers, not |it takes real numbers|complex numbers are not offered",
        "complex64",
        "cross lerp linalg.cross logaddexp logsumexp "
        "nn.functional.silu.complex nn.functional.softsign std std.unbiased "
        "var var.unbiased",
    ),
    Difference("complex numbers of halves are none", "float32 or float64", "float16", "complex view_as_complex"),
    Difference(
        "no gradient is known",
        "the derivative of this op is not implemented",
        DIFFERENTIABLE,
        "linalg.eigvals",
    ),
    Difference("no gradient is known", "the derivative of this op is not implemented", "complex64", "linalg.eig"),
    Difference("only some ways to sample", "bilinear and nearest are known", FLOATING, "nn.functional.grid_sample"),
    Difference("a batch has channels", "must have at least 2 dims", FLOATING, "nn.functional.batch_norm"),
    Difference(
        "bfloat16 is kept, not computed with", "gradients flow to 0", "float16 float32 float64 complex64", "bfloat16"
    ),
    # Both are right --------------------------------------------------------------------------------------------------
    Difference(
        "vectors of a decomposition are known up to a factor",
        "not",
        REAL,
        "linalg.eig linalg.eigh linalg.svd svd",
    ),
    Difference("which of equal elements is told is open", NUMBER, "int64 uint8", "mode topk"),
    Difference("which of equal elements is told is open", NUMBER, "uint8", "median"),
    Difference("which of equal elements is told is open", NUMBER, "uint8 bool float16", "argsort sort"),
    Difference("which of equal elements is told is open", NUMBER, "bool float16", "mode"),
    Difference(
        "behind log_softmax both are the same: PyTorch's takes for granted that it stands there",
        SLOPE,
        REAL,
        "nn.functional.ctc_loss",
    ),
    Difference(
        "a sample is a part of a larger memory, of which we get the part",
        r"not|reaches beyond",
        "float16 float32 float64 complex64 int64 uint8 bool",
        "as_strided.partial_views",
    ),
    Difference("of `hermitian` matrices PyTorch reads one triangle, we both", "not", REAL, "linalg.pinv.hermitian"),
    # PyTorch is wrong ------------------------------------------------------------------------------------------------
    # Rounding --------------------------------------------------------------------------------------------------------
    Difference("rounding: in double precision both agree", SLOPE, "float32", "nn.functional.layer_norm"),
    Difference(
        "PyTorch rounds in between, we only at the end",
        NUMBER,
        "float16",
        "nn.functional.conv_transpose2d nn.functional.conv_transpose3d nn.functional.embedding_bag",
    ),
    Difference(
        "PyTorch rounds in between, we only at the end",
        SLOPE,
        "float16",
        "addcdiv addcmul atanh cross div.no_rounding_mode einsum fmod linalg.cross "
        "linalg.vector_norm nn.functional.batch_norm nn.functional.bilinear "
        "nn.functional.binary_cross_entropy_with_logits nn.functional.cosine_similarity nn.functional.grid_sample "
        "nn.functional.layer_norm nn.functional.normalize pow sinc "
        "true_divide xlogy",
    ),
    Difference(
        "PyTorch rounds in between, on processors with kernels of their own for halves",
        f"{NUMBER}|{SLOPE}",
        "float16",
        "nn.functional.conv1d nn.functional.conv2d nn.functional.conv3d nn.functional.bilinear",
        everywhere=False,
    ),
    # Corners that nobody meets ---------------------------------------------------------------------------------------
)
