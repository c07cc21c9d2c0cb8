"""Dtype, device and layout: PyTorch's answers, and honest ones where there is but a CPU."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs


def test_to_takes_dtypes_devices_and_tensors():
    x = gs.ones(2)
    assert x.to("cpu") is x.to(gs.device("cpu")) is x.to(gs.float32) is x.to(x) is x.cpu() is x
    assert (
        x.to(gs.float64).dtype
        == x.to("cpu", gs.float64).dtype
        == x.to(device="cpu", dtype=gs.float64).dtype
        == gs.float64
    )
    assert x.to(gs.ones(1, dtype=gs.int8)).dtype == x.to(dtype=gs.int8, non_blocking=True).dtype == gs.int8
    copied = x.to(gs.float32, copy=True)
    assert copied is not x
    assert copied.tolist() == [1, 1]
    with pytest.raises(TypeError, match="no argument colour"):
        x.to(colour="red")
    with pytest.raises(TypeError, match="takes a dtype"):
        x.to(3)
    with pytest.raises(RuntimeError, match="runs on the CPU"):
        x.cuda()


def test_casts_keep_the_graph():
    x = gs.ones(2, requires_grad=True)
    (x.double() * 2).float().half().sum().backward()
    assert x.grad.tolist() == [2, 2]
    assert x.grad.dtype == gs.float32


@pytest.mark.parametrize(
    ("method", "dtype"),
    [("byte", "uint8"), ("char", "int8"), ("short", "int16"), ("int", "int32"), ("long", "int64"), ("bool", "bool"),
     ("half", "float16"), ("float", "float32"), ("double", "float64")],
)  # fmt: skip
def test_methods_and_names_of_dtypes(method, dtype):
    assert getattr(gs.ones(2, dtype=gs.int64 if dtype != "int64" else gs.int8), method)().dtype == np.dtype(dtype)
    if method not in ("byte", "char"):
        assert getattr(gs, method) == np.dtype(dtype)


def test_devices():
    assert str(gs.device("cuda:1")) == "cuda:1"
    assert repr(gs.device("cuda", 0)) == "device(type='cuda', index=0)"
    assert gs.device(gs.device("cpu")) == gs.ones(1).device == gs.device("cpu")
    with pytest.raises(RuntimeError, match="no device 'toaster'"):
        gs.device("toaster")
    x = gs.ones(1)
    assert (x.is_cpu, x.is_cuda, x.is_sparse, x.is_pinned(), x.get_device()) == (True, False, False, False, -1)
    assert gs.device("cuda" if gs.cuda.is_available() else "cpu") == x.device
    assert gs.cuda.device_count() == 0
    assert not gs.backends.mps.is_available()


def test_layout_is_that_of_the_memory():
    x = gs.arange(6.0).reshape(2, 3)
    assert (x.stride(), x.stride(0), x.is_contiguous(), x.storage_offset()) == ((3, 1), 3, True, 0)
    turned = x.t()
    assert (turned.stride(), turned.is_contiguous()) == ((1, 3), False)
    straight = turned.contiguous()
    assert (straight.stride(), straight.is_contiguous(), straight.tolist()) == ((2, 1), True, turned.tolist())
    assert x.contiguous() is x
    assert x[1].storage_offset() == 3
    assert (x.element_size(), x.itemsize, x.nbytes, x.nelement(), x.ndimension()) == (4, 4, 24, 6, 2)
    assert x.data_ptr() + 12 == x[1].data_ptr()


def test_switches_are_answered_and_change_nothing():
    gs.set_num_threads(1)
    gs.use_deterministic_algorithms(True)
    gs.set_default_device("cpu")
    assert gs.get_num_threads() >= 1
    assert gs.are_deterministic_algorithms_enabled()
    assert gs.get_default_device() == gs.device("cpu")
    gs.backends.cudnn.deterministic = True
    with pytest.raises(RuntimeError, match="no device 'cuda' here"):
        gs.set_default_device("cuda")
    with pytest.raises(RuntimeError, match="positive number of threads"):
        gs.set_num_threads(0)
    with pytest.raises(RuntimeError, match="no GPU"):
        gs.cuda.current_device()


def test_bfloat16_keeps_numbers():
    pytest.importorskip("ml_dtypes")
    kept = gs.tensor([1.5, 3.14159]).bfloat16()
    assert (kept.dtype, kept.type(), kept.element_size()) == (gs.bfloat16, "torch.BFloat16Tensor", 2)
    assert kept.float().tolist() == [1.5, 3.140625]
    assert (kept + gs.ones(2)).dtype == gs.float32


@pytest.mark.torch
def test_types_and_limits_are_those_of_torch():
    torch = pytest.importorskip("torch")
    for name in ("float16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64", "bool"):
        ours, theirs = gs.ones(1, dtype=getattr(gs, name)), torch.ones(1, dtype=getattr(torch, name))
        assert ours.type() == theirs.type()
        assert gs.ones(1).type(theirs.type()).dtype == getattr(gs, name)
        assert ours.is_floating_point() == theirs.is_floating_point()
        assert ours.is_signed() == theirs.is_signed()
    for name in ("float16", "float32", "float64"):
        ours, theirs = gs.finfo(getattr(gs, name)), torch.finfo(getattr(torch, name))
        for field in ("bits", "eps", "max", "min", "tiny", "smallest_normal", "dtype"):
            assert getattr(ours, field) == getattr(theirs, field)
        assert np.isclose(ours.resolution, theirs.resolution)
    for name in ("uint8", "int32"):
        ours, theirs = gs.iinfo(getattr(gs, name)), torch.iinfo(getattr(torch, name))
        assert (ours.bits, ours.max, ours.min, ours.dtype) == (theirs.bits, theirs.max, theirs.min, theirs.dtype)
    assert gs.finfo().eps == torch.finfo().eps
    assert gs.promote_types(gs.uint8, gs.int8) == gs.int16
    assert gs.result_type(gs.ones(1, dtype=gs.int32), 1.5) == gs.float32
    assert gs.can_cast(gs.int64, gs.float16)
    assert not gs.can_cast(gs.float16, gs.int64)
    with pytest.raises(TypeError, match="iinfo"):
        gs.finfo(gs.int8)
    with pytest.raises(ValueError, match="invalid type"):
        gs.ones(1).type("torch.ColourTensor")
