"""Files of tensors: what comes back, what other programs read, and what damaged files say."""

from __future__ import annotations

import io
import json
import math
import pickle
from collections import Counter

import numpy as np
import pytest

import graphscope as gs
from graphscope import nn
from graphscope.errors import LogError, StateError


def network():
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2))


def trained():
    gs.manual_seed(0)
    net = network()
    optimizer = gs.optim.Adam(net.parameters(), lr=0.1, amsgrad=True)
    scheduler = gs.optim.lr_scheduler.MultiStepLR(optimizer, [2, 2, 3])
    x = gs.randn(8, 3)
    step(net, optimizer, x)
    scheduler.step()
    return net, optimizer, scheduler, x


def step(net, optimizer, x):
    optimizer.zero_grad()
    loss = (net(x) ** 2).mean()
    loss.backward()
    optimizer.step()
    return loss.item()


def test_training_goes_on_from_a_file(tmp_path):
    net, optimizer, scheduler, x = trained()
    saved = {
        "model": net.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
        "epoch": 3,
        "best": math.inf,
        "note": "ünï",
        "sizes": (3, [4, None, True]),
    }
    gs.save(saved, tmp_path / "run.safetensors")
    loaded = gs.load(tmp_path / "run.safetensors")
    assert (loaded["epoch"], loaded["best"], loaded["note"], loaded["sizes"]) == (
        3,
        math.inf,
        "ünï",
        (3, [4, None, True]),
    )
    other = network()
    again = gs.optim.Adam(other.parameters())
    turn = gs.optim.lr_scheduler.MultiStepLR(again, [9])
    assert str(other.load_state_dict(loaded["model"])) == "<All keys matched successfully>"
    again.load_state_dict(loaded["optimizer"])
    turn.load_state_dict(loaded["scheduler"])
    for _ in range(4):
        assert step(net, optimizer, x) == step(other, again, x)
        scheduler.step()
        turn.step()
        assert scheduler.get_last_lr() == turn.get_last_lr()


VALUES = [
    {"a": 1, 2: "b", (1, 2): [gs.ones(2)]},
    [1.5, -math.inf, True, None, "x", ()],
    {"$tensor": 3},
    {},
    [],
    Counter({2: 3}),
    np.arange(6).reshape(2, 3),
    7,
    {"": gs.ones(1), "x": 1},
]


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_anything_of_numbers_text_and_tensors_comes_back(tmp_path, value):
    gs.save(value, tmp_path / "it")
    loaded = gs.load(tmp_path / "it")
    assert type(loaded) is type(value)
    assert repr(loaded) == repr(value)


@pytest.mark.parametrize(
    "dtype", ["float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool_"]
)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3)])
def test_every_dtype_and_shape_comes_back(tmp_path, dtype, shape):
    array = np.arange(math.prod(shape)).reshape(shape).astype(getattr(gs, dtype))
    gs.save({"x": gs.tensor(array)}, tmp_path / "it.safetensors")
    x = gs.load(tmp_path / "it.safetensors")["x"]
    assert (x.dtype, x.shape) == (array.dtype, shape)
    np.testing.assert_array_equal(x.array, array)
    with gs.no_grad():
        x.zero_()  # its memory is its own


def test_what_requires_grad_still_does(tmp_path):
    gs.save([gs.ones(2, requires_grad=True), nn.Parameter(gs.ones(1)), gs.ones(1)], tmp_path / "it")
    one, parameter, other = gs.load(tmp_path / "it")
    assert [value.requires_grad for value in (one, parameter, other)] == [True, True, False]
    assert [isinstance(value, nn.Parameter) for value in (one, parameter, other)] == [False, True, False]


def test_open_files():
    buffer = io.BytesIO()
    gs.save({"x": gs.arange(3)}, buffer)
    buffer.seek(0)
    assert gs.load(buffer)["x"].tolist() == [0, 1, 2]


def test_the_safetensors_package_reads_and_writes_the_same(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    state = network().state_dict()
    gs.save(state, tmp_path / "mine.safetensors")
    theirs = safetensors.load_file(tmp_path / "mine.safetensors")
    assert theirs.keys() == state.keys()
    for name, value in state.items():
        np.testing.assert_array_equal(theirs[name], value.array)
    safetensors.save_file(
        {name: np.asarray(value.array + 1) for name, value in state.items()}, tmp_path / "their.safetensors"
    )
    net = network()
    net.load_state_dict(gs.load(tmp_path / "their.safetensors"))
    assert net[0].bias.tolist() == (state["0.bias"] + 1).tolist()
    gs.save({"model": state, "epoch": 1}, tmp_path / "both.safetensors")
    assert "model.0.weight" in safetensors.load_file(tmp_path / "both.safetensors")


def test_code_is_not_saved(tmp_path):
    with pytest.raises(TypeError, match=r"model is Linear; .* save its state_dict\(\)"):
        gs.save({"model": nn.Linear(1, 1)}, tmp_path / "it")
    with pytest.raises(TypeError, match="result in a graph"):
        gs.save({"x": gs.ones(1, requires_grad=True) * 2}, tmp_path / "it")
    assert list(tmp_path.iterdir()) == []


def test_a_pickle_is_refused(tmp_path):
    for number, content in enumerate((pickle.dumps({"x": 1}), pickle.dumps([1], 2))):
        (tmp_path / f"{number}.pt").write_bytes(content)
        with pytest.raises(StateError, match=r"is a bare pickle.*\nhint: .*torch.save"):
            gs.load(tmp_path / f"{number}.pt")


def whole(tmp_path):
    gs.save({"a": gs.ones(3), "b": gs.zeros(2, dtype=gs.int64)}, tmp_path / "it")
    return (tmp_path / "it").read_bytes()


def test_no_cut_and_no_flipped_header_is_a_traceback_of_ours(tmp_path):
    content = whole(tmp_path)
    target = tmp_path / "damaged"
    for end in range(len(content)):
        target.write_bytes(content[:end])
        with pytest.raises((StateError, LogError)):
            gs.load(target)
    for place in range(len(content) - 28):
        for value in (0, 34, 57, 255):
            target.write_bytes(content[:place] + bytes([value]) + content[place + 1 :])
            try:
                gs.load(target)
            except (StateError, LogError):
                pass


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"dtype": "F99", "shape": [1], "data_offsets": [0, 4]}, "type 'F99'"),
        ({"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}, "entry for x makes no sense"),
        ({"dtype": "F32", "shape": [-1], "data_offsets": [0, -4]}, "entry for x makes no sense"),
        ({"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}, "gap at byte 0"),
        ({"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}, "should have 8 bytes, 4 are there"),
        ({"dtype": "F32"}, "entry for x makes no sense"),
        (3, "entry for x makes no sense"),
    ],
)
def test_headers_that_make_no_sense(tmp_path, entry, message):
    header = json.dumps({"x": entry}).encode()
    (tmp_path / "it").write_bytes(len(header).to_bytes(8, "little") + header + b"\0" * 4)
    with pytest.raises(StateError, match=message):
        gs.load(tmp_path / "it")


def test_load_still_opens_logs(tmp_path):
    with gs.record(tmp_path / "run.gscope"):
        gs.ones(1) + 1
    assert gs.load(tmp_path / "run.gscope").end > 0
    with pytest.raises(LogError, match="there is no log at"):
        gs.load(tmp_path / "nothing")
