"""Dtypes, shapes and the tensor types of old, as PyTorch has them, and as NumPy takes them."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

NAMES = ("float16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64", "bool", "half", "double", "long")


@pytest.mark.parametrize("name", NAMES)
def test_a_dtype_is_that_of_torch_and_goes_with_that_of_numpy(name):
    ours, theirs = getattr(gs, name), getattr(torch, name)
    assert repr(ours) == str(ours) == repr(theirs)
    for fact in ("itemsize", "is_floating_point", "is_complex", "is_signed"):
        assert getattr(ours, fact) == getattr(theirs, fact)
    plain = torch.ones(2, dtype=theirs).numpy().dtype
    assert ours == plain
    assert plain == ours
    assert ours == plain.type
    assert plain.type == ours
    assert np.dtype(ours) == np.zeros(3, ours).dtype == np.ones(2).astype(ours).dtype == plain
    assert {plain: 1}[ours] == 1
    assert gs.ones(2, dtype=ours).dtype is gs.ones(2, dtype=plain).dtype is gs.ones(2).to(plain.type).dtype is ours
    assert ours not in (None, plain.name, *(getattr(gs, other) for other in NAMES if getattr(gs, other) is not ours))
    assert copy.deepcopy(ours) is pickle.loads(pickle.dumps(ours)) is ours
    assert isinstance(ours, gs.dtype)
    with pytest.raises(AttributeError):
        ours.itemsize = 3


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 4, 5)])
def test_a_shape_is_that_of_torch(shape):
    ours, theirs = gs.zeros(shape).shape, torch.zeros(shape).shape
    assert gs.zeros(shape).size() == ours == shape
    for text in ("{0!r}", "{0}", "{0[0]}", "{1!r}"):
        if "[0]" not in text or shape:
            assert text.format(ours, ours[1:]) == text.format(theirs, theirs[1:])
    one = (1,)
    assert repr([ours + one, one + ours, ours * 2, ours.numel()]) == repr(
        [theirs + one, one + theirs, theirs * 2, theirs.numel()]
    )
    assert isinstance(ours, gs.Size)
    assert hash(ours) == hash(shape)


CALLS = [
    "t.Tensor([1, 2])", "t.Tensor([[1.5, 2.5]])", "t.Tensor(2, 0)", "t.Tensor()", "t.Tensor(t.Size([2, 0]))",
    "t.Tensor(t.tensor([1, 2]))", "t.Tensor(1.5)", "t.FloatTensor([1, 2])", "t.LongTensor([1.7, -2])",
    "t.BoolTensor([1, 0])", "t.DoubleTensor([True])", "t.ByteTensor(0)", "t.ones(2).type(t.LongTensor)",
    "t.ones(2).type('torch.HalfTensor')", "isinstance(t.ones(2), t.FloatTensor)", "isinstance(t.ones(2), t.IntTensor)",
    "t.zeros(2, layout=t.strided, pin_memory=False)", "t.zeros(2, 3, out=t.ones(2, 3))", "t.arange(3, out=t.ones(0))",
    "t.zeros(2, colour=1)", "t.empty_like(t.ones(0), memory_format=t.preserve_format)", "t.ones(2).layout",
    "t.ones(2).contiguous(memory_format=t.contiguous_format)", "t.channels_last",
    "t.ones(2).flatten().shape", "t.zeros(2, dtype=float)", "t.tensor([True]).to(int)", "t.ones(2).dtype",
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.filterwarnings("ignore:torch.range is deprecated")
def test_a_call_of_old_gives_what_it_gives_in_torch(call):
    answers = []
    for t in (gs, torch):
        try:
            answers.append(repr(eval(call, {"t": t})))
        except TypeError:
            answers.append("TypeError")
    assert answers[0] == answers[1]


def test_out_is_filled_and_returned():
    out = gs.ones(2, 3)
    assert gs.zeros(2, 3, out=out) is out
    assert out.sum().item() == 0
    with pytest.raises(RuntimeError, match="`out` has shape"):
        gs.zeros(3, out=out)


def test_the_default_may_be_set_by_a_type():
    gs.set_default_tensor_type(gs.DoubleTensor)
    try:
        assert gs.Tensor([1]).dtype is gs.get_default_dtype() is gs.float64
    finally:
        gs.set_default_tensor_type("torch.FloatTensor")
    with pytest.raises(TypeError, match="invalid type"):
        gs.set_default_tensor_type("torch.ColourTensor")
    with pytest.raises(TypeError, match="must be floating"):
        gs.set_default_tensor_type(gs.LongTensor)


OPTIONS = [
    {"precision": 2}, {"sci_mode": True}, {"sci_mode": False}, {"threshold": 5}, {"threshold": 5, "edgeitems": 1},
    {"linewidth": 40}, {"profile": "short"}, {"profile": "full"}, {"precision": 1, "profile": "full"},
]  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=repr)
def test_print_options_are_those_of_torch(options):
    values = np.random.default_rng(0).standard_normal((20, 9)).astype("f4")
    cases = [values, values[:2], values[0] * 1e6, values[0, :3], np.arange(2000), np.arange(3.0, dtype="f4")]
    try:
        gs.set_printoptions(**options)
        torch.set_printoptions(**options)
        for case in cases:
            assert repr(gs.from_numpy(case)) == repr(torch.from_numpy(case))
    finally:
        gs.set_printoptions(profile="default")
        torch.set_printoptions(profile="default")
    with pytest.raises(ValueError, match="no profile"):
        gs.set_printoptions(profile="long")
