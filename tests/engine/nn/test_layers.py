"""Every module against PyTorch's, of the same state dict: outputs, gradients, buffers, text and keys."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs
from tests.engine.nn.twins import both, compare

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

NUMBERS = np.random.default_rng(0)


def array(*shape):
    return NUMBERS.standard_normal(shape)


VECTORS = array(6, 4)
SIGNAL = array(2, 4, 9)
IMAGE = array(2, 4, 8, 6)
VOLUME = array(2, 4, 4, 4, 6)
TOKENS = NUMBERS.integers(0, 5, (3, 4))
CLASSES = NUMBERS.integers(0, 4, 6)
SIGNS = np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0])
UNIT = NUMBERS.random((6, 4)) * 0.8 + 0.1
OTHER = NUMBERS.random((6, 4)) * 0.8 + 0.1

ONE_INPUT = {
    "Identity(3, x=1)": VECTORS,
    "Linear(4, 3)": VECTORS,
    "Linear(4, 3, bias=False)": VECTORS[0],
    "Flatten()": IMAGE,
    "Flatten(0, 2)": IMAGE,
    "Unflatten(1, (2, 2))": VECTORS,
    **{
        f"{name}()": VECTORS
        for name in (
            "ReLU",
            "ReLU6",
            "LeakyReLU",
            "ELU",
            "SELU",
            "CELU",
            "GELU",
            "SiLU",
            "Mish",
            "Softplus",
            "Softsign",
            "Tanh",
            "Sigmoid",
            "LogSigmoid",
            "Hardtanh",
            "Hardswish",
            "Hardsigmoid",
            "GLU",
            "PReLU",
        )
    },
    "GELU(approximate='tanh')": VECTORS,
    "LeakyReLU(0.3)": VECTORS,
    "ELU(2.0)": VECTORS,
    "CELU(0.7)": VECTORS,
    "Softplus(2, 0.5)": VECTORS,
    "Hardtanh(-0.3, 0.2)": VECTORS,
    "Threshold(0.1, 20.0)": VECTORS,
    "PReLU(4)": VECTORS,
    "Softmax(dim=1)": VECTORS,
    "Softmax(dim=0)": VECTORS,
    "LogSoftmax(dim=-1)": VECTORS,
    "Softmin(dim=1)": VECTORS,
    "Conv1d(4, 3, 3)": SIGNAL,
    "Conv1d(4, 6, 3, stride=2, padding=1, dilation=2, groups=2, bias=False)": SIGNAL,
    "Conv1d(4, 2, 3, padding='same')": SIGNAL,
    "Conv1d(4, 2, 3, padding=2, padding_mode='circular')": SIGNAL,
    "Conv2d(4, 3, 3, padding=1)": IMAGE,
    "Conv2d(4, 3, (3, 2), stride=(2, 1), padding=(0, 1), dilation=(1, 2))": IMAGE,
    "Conv2d(4, 4, 3, groups=4, padding='same', padding_mode='reflect')": IMAGE,
    "Conv2d(4, 4, 3, padding='valid', padding_mode='replicate')": IMAGE,
    "Conv3d(4, 2, 2)": VOLUME,
    "ConvTranspose1d(4, 3, 3, stride=2, padding=1, output_padding=1)": SIGNAL,
    "ConvTranspose2d(4, 2, 3, stride=2, groups=2)": IMAGE,
    "ConvTranspose3d(4, 2, 2, bias=False)": VOLUME,
    "MaxPool1d(3)": SIGNAL,
    "MaxPool2d(2)": IMAGE,
    "MaxPool2d((3, 2), stride=2, padding=1, ceil_mode=True)": IMAGE,
    "MaxPool3d(2)": VOLUME,
    "AvgPool1d(2)": SIGNAL,
    "AvgPool2d(3, stride=2, padding=1, count_include_pad=False)": IMAGE,
    "AvgPool3d(2)": VOLUME,
    "AdaptiveAvgPool1d(4)": SIGNAL,
    "AdaptiveAvgPool2d((3, 2))": IMAGE,
    "AdaptiveAvgPool2d(1)": IMAGE,
    "AdaptiveAvgPool3d(2)": VOLUME,
    "AdaptiveMaxPool1d(4)": SIGNAL,
    "AdaptiveMaxPool2d((3, 2))": IMAGE,
    "AdaptiveMaxPool3d(2)": VOLUME,
    "BatchNorm1d(4)": VECTORS,
    "BatchNorm1d(4, momentum=None)": SIGNAL,
    "BatchNorm1d(4, affine=False, track_running_stats=False)": SIGNAL,
    "BatchNorm2d(4, eps=1e-3, momentum=0.3)": IMAGE,
    "BatchNorm3d(4, bias=False)": VOLUME,
    "InstanceNorm1d(4)": SIGNAL,
    "InstanceNorm2d(4, affine=True, track_running_stats=True)": IMAGE,
    "InstanceNorm3d(4)": VOLUME,
    "LayerNorm(4)": VECTORS,
    "LayerNorm((8, 6), bias=False)": IMAGE,
    "LayerNorm(6, elementwise_affine=False, eps=1e-3)": IMAGE,
    "GroupNorm(2, 4)": IMAGE,
    "GroupNorm(4, 4, affine=False)": SIGNAL,
    "RMSNorm(4)": VECTORS,
    "RMSNorm((8, 6), eps=1e-3, elementwise_affine=False)": IMAGE,
    "ZeroPad1d(2)": SIGNAL,
    "ZeroPad2d((1, 2, 0, 3))": IMAGE,
    "ConstantPad1d((1, 2), 3.5)": SIGNAL,
    "ConstantPad2d(1, 2.0)": IMAGE,
    "ConstantPad3d(1, 2.0)": VOLUME,
    "ReflectionPad1d(2)": SIGNAL,
    "ReflectionPad2d((1, 2, 1, 0))": IMAGE,
    "ReplicationPad2d(1)": IMAGE,
    "CircularPad2d(1)": IMAGE,
    "PixelShuffle(2)": IMAGE,
    "PixelUnshuffle(2)": IMAGE,
    "Upsample(scale_factor=2)": IMAGE,
    "Upsample(size=(5, 7), mode='bilinear')": IMAGE,
    "Upsample(scale_factor=2, mode='bilinear', align_corners=True)": IMAGE,
    "Unfold(2)": IMAGE,
    "Unfold((3, 2), padding=1, stride=2)": IMAGE,
    "Fold((4, 4), 2)": array(2, 8, 9),
    "Embedding(5, 3)": TOKENS,
    "Embedding(5, 3, padding_idx=-1)": TOKENS,
    "EmbeddingBag(5, 3)": TOKENS,
    "EmbeddingBag(5, 3, mode='sum')": TOKENS,
    "Dropout(0.0)": VECTORS,
    "Dropout2d(0.0)": IMAGE,
    "Sequential(n.Linear(4, 3), n.ReLU(), n.Linear(3, 2))": VECTORS,
}

TWO_INPUTS = {
    "Bilinear(4, 4, 3)": (VECTORS, UNIT),
    "CosineSimilarity()": (VECTORS, UNIT),
    "CosineSimilarity(dim=0, eps=1e-3)": (VECTORS, UNIT),
    "PairwiseDistance()": (VECTORS, UNIT),
    "PairwiseDistance(p=1, keepdim=True)": (VECTORS, UNIT),
    "L1Loss()": (VECTORS, UNIT),
    "MSELoss(reduction='sum')": (VECTORS, UNIT),
    "SmoothL1Loss(beta=0.5)": (VECTORS, UNIT),
    "HuberLoss(delta=0.5)": (VECTORS, UNIT),
    "KLDivLoss(reduction='batchmean')": (np.log(UNIT), OTHER),
    "KLDivLoss(reduction='sum', log_target=True)": (np.log(UNIT), np.log(OTHER)),
    "CrossEntropyLoss()": (VECTORS, CLASSES),
    "CrossEntropyLoss(label_smoothing=0.1, ignore_index=2)": (VECTORS, CLASSES),
    "CrossEntropyLoss(weight=t.tensor([0.1, 0.2, 0.3, 0.4], dtype=t.float64))": (VECTORS, CLASSES),
    "NLLLoss(reduction='none')": (VECTORS, CLASSES),
    "NLLLoss(weight=t.tensor([0.1, 0.2, 0.3, 0.4], dtype=t.float64), ignore_index=1)": (VECTORS, CLASSES),
    "BCELoss()": (UNIT, OTHER),
    "BCEWithLogitsLoss()": (VECTORS, OTHER),
    "BCEWithLogitsLoss(pos_weight=t.tensor([1.0, 2, 3, 4], dtype=t.float64))": (VECTORS, OTHER),
}

THREE_INPUTS = {
    "GaussianNLLLoss()": (VECTORS, OTHER, UNIT),
    "CosineEmbeddingLoss(margin=0.1)": (VECTORS, UNIT, SIGNS),
    "TripletMarginLoss()": (VECTORS, UNIT, OTHER),
}
CASES = {name: (data,) for name, data in ONE_INPUT.items()} | TWO_INPUTS | THREE_INPUTS
LOOSE = dict.fromkeys(("Hardsigmoid()", "CELU(0.7)"), 1e-7)
"""Where PyTorch computes with a constant in single precision."""


def made(code):
    """The module that the code says, of both."""
    return both(lambda t: eval("n." + code, {"t": t, "n": t.nn}))


@pytest.mark.parametrize("mode", ["train", "eval"])
@pytest.mark.parametrize("code", CASES)
def test_outputs_gradients_and_buffers_are_those_of_torch(code, mode):
    modules = made(code)
    for _ in range(2):
        for module in modules:
            getattr(module, mode)()
        compare(
            modules,
            lambda t, module, *data: module(*data),
            *CASES[code],
            rtol=LOOSE.get(code, 1e-9),
        )
    mine, theirs = (module.state_dict() for module in modules)
    assert list(mine) == list(theirs)
    for name, value in theirs.items():
        np.testing.assert_allclose(mine[name].array, value.numpy(), rtol=1e-9)
        assert str(value.dtype) == f"torch.{mine[name].dtype.name}"


@pytest.mark.parametrize("code", CASES)
def test_text_is_that_of_torch(code):
    mine, theirs = (eval("n." + code, {"t": t, "n": t.nn}) for t in (gs, torch))
    assert repr(mine) == repr(theirs)
    assert repr(mine.train(False)) == repr(theirs)


def test_old_names_of_reductions():
    for t in (gs, torch):
        for settings, meant in (
            ({"size_average": False}, "sum"),
            ({"reduce": False}, "none"),
            ({"reduce": True}, "mean"),
        ):
            with pytest.warns(UserWarning, match=f"use reduction='{meant}'"):
                assert t.nn.MSELoss(**settings).reduction == meant


@pytest.mark.parametrize("name", ["ReLU", "ELU", "LeakyReLU", "SiLU", "Hardtanh", "SELU", "Mish", "CELU", "ReLU6"])
def test_in_place(name):
    for t in (gs, torch):
        x = t.tensor(VECTORS)
        module = getattr(t.nn, name)(inplace=True)
        assert module(x) is x
        np.testing.assert_allclose(x.numpy(), getattr(t.nn, name)()(t.tensor(VECTORS)).numpy())
        assert "inplace=True" in repr(module)


def test_transposed_convolution_to_a_size():
    compare(
        both(lambda t: t.nn.ConvTranspose2d(4, 2, 3, stride=2)),
        lambda t, module, x: (module(x, output_size=(18, 13)), module(x, output_size=(2, 2, 17, 14))),
        IMAGE,
    )


@pytest.mark.parametrize("settings", [{}, {"padding_idx": 2}, {"include_last_offset": True}], ids=str)
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_of_different_sizes(mode, settings):
    def program(t, module, tokens):
        offsets = [0, 3, 3, 8, 12] if settings.get("include_last_offset") else [0, 3, 3, 8]
        return module(tokens, t.tensor(offsets))

    compare(both(lambda t: t.nn.EmbeddingBag(5, 3, mode=mode, **settings)), program, TOKENS.reshape(12))
    compare(both(lambda t: t.nn.EmbeddingBag(5, 3, mode=mode, **settings)), lambda t, module, x: module(x), TOKENS)


def test_bags_with_weights():
    compare(
        both(lambda t: t.nn.EmbeddingBag(5, 3, mode="sum")),
        lambda t, module, tokens, weights: module(tokens, per_sample_weights=weights),
        TOKENS,
        array(3, 4),
    )


@pytest.mark.parametrize(("name", "p"), [("Dropout", 0.3), ("Dropout2d", 0.3), ("AlphaDropout", 0.2)])
def test_dropout_leaves_out_a_part_while_training(name, p):
    gs.manual_seed(0)
    module = getattr(gs.nn, name)(p)
    x = gs.ones(50, 40, 2, 2)
    out = module(x)
    changed = (out != out.max()).float().mean().item()
    assert abs(changed - p) < 0.05
    if name != "AlphaDropout":
        assert abs(out.mean().item() - 1) < 0.05
    assert module.eval()(x).equal(x)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda n: n.Conv2d(4, 3, 3, groups=3), ValueError, "divisible by groups"),
        (lambda n: n.Conv2d(4, 4, 3, padding="some"), ValueError, "Invalid padding string"),
        (lambda n: n.Conv2d(4, 4, 3, padding="same", stride=2), ValueError, "not supported for strided"),
        (lambda n: n.Conv2d(4, 4, 3, padding_mode="x"), ValueError, "padding_mode must be one of"),
        (lambda n: n.ConvTranspose1d(4, 4, 3, padding_mode="reflect"), ValueError, 'Only "zeros"'),
        (lambda n: n.Dropout(1.5), ValueError, "between 0 and 1"),
        (lambda n: n.GroupNorm(3, 4), ValueError, "divisible by num_groups"),
        (lambda n: n.Embedding(3, 2, padding_idx=5), AssertionError, "within num_embeddings"),
        (lambda n: n.Bilinear(0, 1, 1), ValueError, "in1_features"),
    ],
)
def test_both_refuse_what_makes_no_sense(make, error, message):
    for t in (gs, torch):
        with pytest.raises(error, match=message):
            make(t.nn)


@pytest.mark.parametrize(
    ("module", "shape"), [("BatchNorm2d(4)", (2, 4)), ("BatchNorm1d(4)", (2, 4, 3, 3)), ("InstanceNorm2d(4)", (4, 3))]
)
def test_both_refuse_other_ranks(module, shape):
    for t in (gs, torch):
        with pytest.raises(ValueError, match=r"expected .*D"):
            eval("n." + module, {"n": t.nn})(t.ones(*shape))
