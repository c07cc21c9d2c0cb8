"""`nn.functional` against PyTorch's, with arguments that the samples of the op table leave out."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs
from graphscope.engine.core.tensor import Tensor

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

WEIGHTS = np.array([0.5, 1.0, 2.0, 0.25])
CLASSES = np.array([1, 3, 0])
IMAGE, SMALL = (2, 4, 7, 6), (1, 2, 5, 4)

CALLS = [
    ("conv2d", IMAGE, (6, 2, 3, 2), (6,), {"stride": (2, 1), "padding": (1, 0), "dilation": (1, 2), "groups": 2}),
    ("conv2d", IMAGE, (8, 1, 3, 3), (8,), {"groups": 4, "padding": 1}),
    ("conv2d", IMAGE, (4, 1, 3, 3), (4,), {"groups": 4, "padding": 1, "stride": 2}),
    ("conv2d", IMAGE, (5, 4, 1, 1), (5,), {"stride": 2}),
    ("conv2d", IMAGE, (5, 4, 3, 5), {"padding": "same"}),
    ("conv2d", IMAGE, (5, 4, 3, 5), {"padding": "valid"}),
    ("conv2d", (9, 2, 4, 3), (4, 1, 2, 2), (4,), {"groups": 2, "padding": 1, "stride": (2, 1)}),
    ("conv_transpose2d", (9, 2, 3, 4), (2, 2, 2, 3), (2,), {"stride": (1, 2)}),
    ("conv1d", (3, 9), (2, 3, 3), {"dilation": 2, "padding": 2}),
    ("conv3d", (1, 2, 4, 5, 3), (3, 2, 2, 3, 1), (3,), {"stride": (1, 2, 1), "padding": (0, 1, 0)}),
    ("conv_transpose2d", SMALL, (2, 3, 3, 2), (6,), {"stride": 2, "padding": 1, "output_padding": 1, "groups": 2}),
    ("conv_transpose2d", SMALL, (2, 3, 3, 2), {"dilation": (2, 1), "stride": (1, 3)}),
    ("conv_transpose1d", (2, 3, 4), (3, 2, 5), (2,), {"stride": 3, "padding": 2, "output_padding": 2}),
    ("conv_transpose3d", (1, 2, 2, 3, 2), (2, 1, 2, 2, 3), {"stride": 2}),
    ("max_pool2d", IMAGE, (3, 2), {"stride": (2, 1), "padding": 1, "dilation": (1, 2), "ceil_mode": True}),
    ("max_pool2d", IMAGE, 2, {"return_indices": True}),
    ("max_pool2d", IMAGE, 3, {"stride": 2, "padding": 1, "return_indices": True}),
    ("max_pool1d", (3, 9), 3, 2, 1, {"ceil_mode": True}),
    ("max_pool3d", (1, 4, 5, 4), 2, {"stride": 1}),
    ("avg_pool2d", IMAGE, (3, 2), {"stride": 2, "padding": (1, 0), "ceil_mode": True}),
    ("avg_pool2d", IMAGE, 3, {"stride": 3, "padding": 1, "ceil_mode": True, "count_include_pad": False}),
    ("avg_pool2d", IMAGE, 3, {"divisor_override": 5}),
    ("avg_pool1d", (3, 9), 4, 3, 2, True),
    ("avg_pool3d", (1, 2, 4, 5, 4), 2),
    ("adaptive_avg_pool1d", (2, 3, 7), 3),
    ("adaptive_avg_pool2d", IMAGE, (3, None)),
    ("adaptive_avg_pool2d", IMAGE, 1),
    ("adaptive_avg_pool3d", (1, 2, 4, 5, 3), (2, 3, 3)),
    ("adaptive_max_pool1d", (2, 3, 7), 3, {"return_indices": True}),
    ("adaptive_max_pool2d", IMAGE, (3, 4), {"return_indices": True}),
    ("adaptive_max_pool3d", (2, 4, 5, 3), 2),
    *[
        ("interpolate", shape, {"mode": mode, **size, **corners})
        for mode, shape, sizes in (
            ("nearest", SMALL, [{"size": (3, 9)}, {"scale_factor": 2}, {"scale_factor": (0.6, 1.7)}]),
            ("nearest-exact", SMALL, [{"size": (3, 9)}, {"scale_factor": 1.5}]),
            ("area", SMALL, [{"size": (3, 2)}, {"scale_factor": 0.5}]),
            ("linear", (2, 3, 5), [{"size": 8}, {"scale_factor": 0.7}]),
            ("bilinear", SMALL, [{"size": (3, 9)}, {"scale_factor": 2.5}]),
            ("bilinear", SMALL, [{"scale_factor": 1.3, "recompute_scale_factor": True}]),
            ("bicubic", SMALL, [{"size": (3, 9)}, {"scale_factor": 2}]),
            ("trilinear", (1, 2, 3, 4, 2), [{"size": (4, 2, 5)}]),
        )
        for size in sizes
        for corners in ([{}, {"align_corners": True}] if "linear" in mode or "cubic" in mode else [{}])
    ],
    ("batch_norm", (4, 3, 5), np.full(3, 0.5), np.full(3, 2.0), (3,), (3,), {"training": True, "momentum": 0.3}),
    ("batch_norm", (4, 3, 2, 2), np.full(3, 0.5), np.full(3, 2.0), (3,), (3,)),
    ("batch_norm", (4, 3), np.full(3, 0.5), np.full(3, 2.0)),
    ("batch_norm", (4, 3), None, None, None, (3,), True),
    ("instance_norm", (2, 3, 5), np.full(3, 0.5), np.full(3, 2.0), (3,), (3,)),
    ("instance_norm", (2, 3, 5), np.full(3, 0.5), np.full(3, 2.0), (3,), (3,), {"use_input_stats": False}),
    ("group_norm", (2, 6, 4), 3, (6,), (6,), 0.1),
    ("layer_norm", (2, 3, 4), [3, 4], (3, 4)),
    ("layer_norm", (2, 3, 4), [4], None, (4,)),
    ("rms_norm", (2, 3, 4), [4], (4,)),
    ("cross_entropy", (3, 4), CLASSES, WEIGHTS),
    ("cross_entropy", (3, 4), CLASSES, WEIGHTS, {"label_smoothing": 0.2, "ignore_index": 3}),
    ("cross_entropy", (3, 4), CLASSES, WEIGHTS, {"label_smoothing": 0.2, "reduction": "none", "ignore_index": 1}),
    ("cross_entropy", (3, 4), CLASSES, WEIGHTS, {"label_smoothing": 0.2, "reduction": "sum"}),
    ("cross_entropy", (3, 4), (3, 4), WEIGHTS, {"label_smoothing": 0.2}),
    ("cross_entropy", (2, 4, 3), np.array([[0, 1, -100], [3, 2, 2]]), WEIGHTS),
    ("cross_entropy", (4,), np.array(2), WEIGHTS, {"label_smoothing": 0.1}),
    ("nll_loss", (3, 4), CLASSES, WEIGHTS, {"ignore_index": 3}),
    ("nll_loss", (2, 4, 3), np.array([[0, 1, -100], [3, 2, 2]]), WEIGHTS, {"reduction": "none"}),
    ("nll_loss", (3, 4), CLASSES, {"size_average": False}),
    ("binary_cross_entropy_with_logits", (3, 4), np.eye(3, 4), WEIGHTS, {"pos_weight": np.array([1.0, 2, 3, 4])}),
    ("mse_loss", (3, 4), (3, 4), {"reduce": False}),
    ("smooth_l1_loss", (3, 4), (3, 4), {"beta": 0}),
    ("gaussian_nll_loss", (3, 4), (3, 4), np.full((3, 4), 0.3), {"full": True, "reduction": "none"}),
    ("normalize", (3, 4), {"p": 3, "dim": (0, 1)}),
    ("cosine_similarity", (3, 1, 4), (2, 4), -1),
    ("softmin", (3, 4), 0),
    ("softmax", (3, 4), {"dim": 0, "dtype": "float32"}),
    ("unfold", IMAGE, (2, 3), {"dilation": (2, 1), "padding": 1, "stride": (2, 3)}),
    ("fold", (2, 12, 6), (5, 6), (2, 3), {"padding": (1, 0), "stride": 2}),
    ("pixel_shuffle", (2, 3, 8, 2, 3), 2),
    ("prelu", (2, 3, 2), (3,)),
    ("prelu", (2, 3, 2), (1,)),
    ("prelu", (3,), (1,)),
    ("glu", (2, 6, 3), 1),
    ("threshold", (3, 4), 0.1, -7.0),
    ("affine_grid", (2, 2, 3), [2, 1, 3, 4], {"align_corners": False}),
    ("grid_sample", (2, 3, 4, 5), (2, 3, 3, 2), {"align_corners": True, "padding_mode": "reflection"}),
    ("grid_sample", (2, 3, 4, 5), (2, 3, 3, 2), {"align_corners": False, "padding_mode": "zeros"}),
    ("scaled_dot_product_attention", (2, 4, 3, 5), (2, 4, 6, 5), (2, 4, 6, 2), np.tri(3, 6, 2) > 0),
    ("scaled_dot_product_attention", (2, 4, 3, 5), (2, 2, 6, 5), (2, 2, 6, 2), {"enable_gqa": True, "is_causal": True}),
    ("scaled_dot_product_attention", (2, 3, 5), (2, 6, 5), (2, 6, 2), (3, 6), {"scale": 2.0}),
]
"""A function's name and its arguments; a tuple is the shape of an input that takes gradients, or stands for sizes."""

SIZES = {
    "max_pool2d",
    "avg_pool2d",
    "adaptive_avg_pool2d",
    "adaptive_max_pool2d",
    "adaptive_avg_pool3d",
    "unfold",
    "fold",
}
"""Functions whose second and later tuples are sizes."""


def name_of(call):
    return repr(call).replace("\n", "")[:80]


def made(call, numbers):
    name, *parts = call
    named = parts.pop() if isinstance(parts[-1], dict) else {}
    given = [
        numbers.permutation(int(np.prod(part))).reshape(part) / np.prod(part) * 2 - 0.97
        if isinstance(part, tuple) and not (name in SIZES and place)
        else part
        for place, part in enumerate(parts)
    ]
    return name, given, named, [isinstance(part, tuple) for part in parts]


@pytest.mark.filterwarnings("ignore:size_average and reduce")
@pytest.mark.parametrize("call", CALLS, ids=name_of)
def test_values_gradients_and_what_is_written_are_those_of_torch(call):
    name, given, named, wanted = made(call, np.random.default_rng(3))
    ours = [ours_of(value, want) for value, want in zip(given, wanted, strict=True)]
    theirs = [theirs_of(value, want) for value, want in zip(given, wanted, strict=True)]
    out = getattr(gs.nn.functional, name)(*ours, **{key: ours_of(value, False) for key, value in named.items()})
    expected = getattr(torch.nn.functional, name)(
        *theirs, **{key: theirs_of(value, False) for key, value in named.items()}
    )
    if isinstance(expected, tuple):
        np.testing.assert_array_equal(out[1].array, expected[1].numpy())
        out, expected = out[0], expected[0]
    tolerance = {"rtol": 1e-6, "atol": 1e-7} if out.dtype == np.float32 else {"rtol": 1e-9, "atol": 1e-11}
    np.testing.assert_allclose(out.array, expected.detach().numpy(), **tolerance)
    weights = np.random.default_rng(4).uniform(-1, 1, out.shape).astype(out.dtype)
    out.backward(Tensor(weights[()]))
    expected.backward(torch.from_numpy(np.array(weights)))
    for mine, other in zip(ours, theirs, strict=True):
        if isinstance(mine, Tensor):
            np.testing.assert_allclose(mine.array, other.detach().numpy(), **tolerance)
            assert (mine.grad is None) == (other.grad is None)
            if mine.grad is not None:
                np.testing.assert_allclose(mine.grad.array, other.grad.numpy(), **tolerance)


def ours_of(value, wants_grad):
    if isinstance(value, np.ndarray):
        return Tensor(np.array(value)[()], requires_grad=wants_grad and value.dtype.kind == "f")
    return getattr(gs, value) if value == "float32" else value


def theirs_of(value, wants_grad):
    if isinstance(value, np.ndarray):
        return torch.from_numpy(np.array(value)).requires_grad_(wants_grad and value.dtype.kind == "f")
    return getattr(torch, value) if isinstance(value, str) and value == "float32" else value


WRONG = [
    ("conv2d", (1, 3, 5, 5), (4, 2, 3, 3)),
    ("conv2d", (1, 2, 2, 2), (4, 2, 3, 3)),
    ("conv2d", (2, 5), (4, 2, 3, 3)),
    ("conv2d", (1, 2, 5, 5), (4, 2, 3, 3), (3,)),
    ("conv2d", (1, 2, 5, 5), (4, 2, 3, 3), {"padding": "same", "stride": 2}),
    ("conv_transpose2d", (1, 2, 5, 5), (2, 2, 3, 3), {"output_padding": 1}),
    ("max_pool2d", (1, 2, 5, 5), 2, {"padding": 2}),
    ("max_pool2d", (1, 2, 2, 2), 3),
    ("linear", (2, 3), (4, 5)),
    ("layer_norm", (2, 3), [2]),
    ("group_norm", (2, 3, 4), 2),
    ("batch_norm", (1, 3), None, None, None, None, True),
    ("batch_norm", (4, 3), np.zeros(2), np.ones(2)),
    ("cross_entropy", (3, 4), np.array([1, 4, 0])),
    ("cross_entropy", (3, 4), np.array([1, 2])),
    ("mse_loss", (3, 4), (3, 4), {"reduction": "men"}),
    ("binary_cross_entropy", (3, 4), (3, 3)),
    ("binary_cross_entropy_with_logits", (3, 4), (3, 3)),
    ("dropout", (3,), 1.5),
    ("glu", (3,)),
    ("interpolate", (1, 2, 3), {"mode": "bilinear", "scale_factor": 2}),
    ("interpolate", (1, 2, 3)),
    ("pixel_shuffle", (1, 3, 2, 2), 2),
    ("fold", (1, 4, 3), (3, 3), (2, 2)),
    ("scaled_dot_product_attention", (2, 3), (4, 2), (4, 2)),
    ("softmax", (2, 3), 2),
]


@pytest.mark.parametrize("call", WRONG, ids=name_of)
def test_what_torch_refuses_is_refused_as_torch_does(call):
    name, given, named, _ = made(call, np.random.default_rng(3))
    with pytest.raises(Exception) as expected:
        getattr(torch.nn.functional, name)(*(theirs_of(value, False) for value in given), **named)
    with pytest.raises(expected.type) as found:
        getattr(gs.nn.functional, name)(*(ours_of(value, False) for value in given), **named)
    assert name.rstrip("123d") in str(found.value) or len(str(found.value)) > 40


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_sequences_of_labels_are_aligned_as_torch_does(reduction):
    logits = np.random.default_rng(3).standard_normal((6, 4, 5))
    labels, times, lengths = np.array([[1, 2, 2], [3, 0, 0], [4, 1, 0], [1, 1, 1]]), [6, 5, 6, 4], [3, 1, 2, 3]
    found = []
    for t in (gs, torch):
        x = t.from_numpy(logits.copy()).requires_grad_()
        for target in (t.from_numpy(labels), t.tensor([1, 2, 2, 3, 4, 1, 1, 1, 1])):
            arguments = (x.log_softmax(2), target, t.tensor(times), t.tensor(lengths))
            loss = t.nn.functional.ctc_loss(*arguments, reduction=reduction, zero_infinity=True)
            loss.sum().backward()
        found.append((loss.detach().numpy(), x.grad.numpy()))
    for mine, other in zip(*found, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", ["relu", "elu", "leaky_relu", "hardtanh", "silu", "threshold"])
def test_in_place_an_activation_writes_over_its_input(name):
    options = (0.1, 0.5) if name == "threshold" else ()
    found = []
    for t in (gs, torch):
        x = t.from_numpy(np.linspace(-2, 2, 9)).requires_grad_()
        y = x * 1.5
        out = getattr(t.nn.functional, name)(y, *options, inplace=True)
        (out * y).sum().backward()
        found.append((y.detach().numpy(), x.grad.numpy()))
    for mine, other in zip(*found, strict=True):
        np.testing.assert_allclose(mine, other)
