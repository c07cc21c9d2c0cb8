"""Files of `torch.save`: what PyTorch wrote comes back, and no file runs code, whatever it says."""

from __future__ import annotations

import io
import pickle
import zipfile
from collections import Counter, OrderedDict, defaultdict

import numpy as np
import pytest

import graphscope as gs
from graphscope import nn
from graphscope.errors import StateError


def packed(structure, **storages):
    """A file with this pickle, and these storages."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("it/data.pkl", structure)
        for key, content in storages.items():
            archive.writestr(f"it/data/{key.removeprefix('s')}", content)
    file.seek(0)
    return file


class Calls:
    """Pickles as a call of a function."""

    def __init__(self, function, *given):
        self.reduced = function, given

    def __reduce__(self):
        return self.reduced


touched = []


@pytest.mark.parametrize(
    "bad",
    [
        Calls(touched.append, 1), Calls(eval, "1"), Calls(getattr, "x", "join"), Calls(io.open, "it"),
        {"model": nn.Linear(1, 1)}, np.ones(2), print,
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
@pytest.mark.parametrize("protocol", [0, 2, 4, 5])
def test_a_file_runs_no_code(bad, protocol):
    with pytest.raises(StateError, match=r"refused|is damaged"):
        gs.load(packed(pickle.dumps(bad, protocol)))
    assert touched == []


def test_what_it_refuses_is_named():
    with pytest.raises(StateError, match=r"holds an object of builtins\.print.*\nhint: .*state_dict\(\)"):
        gs.load(packed(pickle.dumps(print)))


class Dressed(OrderedDict):
    pass


def test_attributes_are_those_of_state_dicts_alone():
    told = OrderedDict(a=1)
    told._metadata = {"": {"version": 1}}
    assert vars(gs.load(packed(pickle.dumps(told, 2)))) == {"_metadata": {"": {"version": 1}}}
    with pytest.raises(StateError, match=r"Dressed"):
        gs.load(packed(pickle.dumps(Dressed(a=1))))
    # A counter, told to have attributes.
    with pytest.raises(StateError, match="attributes to an object of Counter"):
        gs.load(packed(b"\x80\x02ccollections\nCounter\n)R}X\x01\x00\x00\x00aK\x01sb."))


def tensor_of(*, count=4, offset=0, size=(2, 2), stride=(2, 1), kind="FloatStorage", storage=True):
    """The pickle of a tensor, written by hand."""

    class Writer(pickle._Pickler):
        def persistent_id(self, obj):
            return ("storage", Named("torch", kind), "0", "cpu", count) if obj is SIGN else None

        def save(self, obj, save_persistent_id=True):
            if isinstance(obj, Named):
                self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())
            elif isinstance(obj, Made):
                self.save(Named("torch._utils", "_rebuild_tensor_v2"))
                self.save((SIGN if storage else "none", offset, size, stride, False, OrderedDict()))
                self.write(pickle.REDUCE)
            else:
                super().save(obj, save_persistent_id)

    file = io.BytesIO()
    Writer(file, 2).dump(Made())
    return file.getvalue()


class Named:
    def __init__(self, module, name):
        self.module, self.name = module, name


class Made:
    pass


SIGN = object()
STORED = np.arange(4, dtype=np.float32).tobytes()


def test_a_tensor_written_by_hand():
    found = gs.load(packed(tensor_of(offset=1, size=(2,), stride=(2,)), s0=STORED))
    np.testing.assert_array_equal(found.numpy(), [1, 3])
    assert found.dtype == gs.float32


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"offset": 1}, "beyond its storage"),
        ({"size": (3, 2)}, "beyond its storage"),
        ({"offset": -1}, "no sound storage, size or stride"),
        ({"stride": (-2, 1)}, "no sound storage, size or stride"),
        ({"size": (2,)}, "no sound storage, size or stride"),
        ({"size": 4}, "no sound storage, size or stride"),
        ({"size": ("2", 2)}, "no sound storage, size or stride"),
        ({"storage": False}, "no sound storage, size or stride"),
        ({"count": 5}, "should have 20 bytes, it has 16"),
        ({"kind": "DoubleStorage"}, "should have 32 bytes, it has 16"),
        ({"kind": "OddStorage"}, r"object of torch\.OddStorage"),
    ],
    ids=str,
)
def test_tensors_that_make_no_sense_are_refused(sizes, message):
    with pytest.raises(StateError, match=message):
        gs.load(packed(tensor_of(**sizes), s0=STORED))
    with pytest.raises(StateError, match="is damaged"):
        gs.load(packed(tensor_of()))


def test_no_cut_and_no_flipped_byte_is_a_traceback_of_ours():
    content = packed(tensor_of(), s0=STORED).getvalue()
    numbers = np.random.default_rng(0)
    for place in range(0, len(content), 3):
        flipped = bytearray(content)
        flipped[place] ^= int(numbers.integers(1, 256))
        for given in (content[:place], bytes(flipped)):
            try:
                gs.load(io.BytesIO(given))
            except StateError:
                pass


@pytest.mark.torch
class TestWhatTorchWrote:
    @pytest.fixture(autouse=True)
    def _torch(self):
        self.torch = pytest.importorskip("torch")

    def kept(self, value):
        file = io.BytesIO()
        self.torch.save(value, file)
        file.seek(0)
        return gs.load(file)

    def test_training_goes_on_where_torch_left_it(self, tmp_path):
        x = np.random.default_rng(1).standard_normal((8, 3))
        states = []
        for library, start in ((self.torch, None), (gs, tmp_path / "run.pt"), (self.torch, tmp_path / "run.pt")):
            net = library.nn.Sequential(library.nn.Linear(3, 4), library.nn.BatchNorm1d(4), library.nn.Linear(4, 1))
            net.double()
            optimizer = library.optim.Adam(net.parameters(), lr=0.1)
            scheduler = library.optim.lr_scheduler.MultiStepLR(optimizer, [1, 1, 2])
            if start is not None:
                kept = library.load(start, map_location="cpu", weights_only=True)
                net.load_state_dict(kept["net"])
                optimizer.load_state_dict(kept["optimizer"])
                scheduler.load_state_dict(kept["scheduler"])
                assert kept["epoch"] == 3
            for _ in range(2):
                optimizer.zero_grad()
                (net(library.tensor(x)) ** 2).mean().backward()
                optimizer.step()
                scheduler.step()
            kept = {"net": net.state_dict(), "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}
            if start is None:
                library.save({**kept, "epoch": 3}, tmp_path / "run.pt")
            states.append({name: value.numpy().copy() for name, value in kept["net"].items()})
        assert list(states[1]) == list(states[2])
        for name, value in states[1].items():
            np.testing.assert_allclose(value, states[2][name], rtol=1e-8, atol=1e-10)

    @pytest.mark.parametrize(
        "dtype",
        ["float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64",
         "complex128"],
    )  # fmt: skip
    def test_every_dtype_comes_back(self, dtype):
        if dtype == "bfloat16":
            pytest.importorskip("ml_dtypes")
        given = self.torch.arange(6).reshape(2, 3).to(getattr(self.torch, dtype))
        for value in (given, given.T, given[:, 1:], given[1, 1], given[:0], given[None, :, ::2]):
            found = self.kept(value)
            assert repr(found.dtype) == repr(value.dtype)
            assert tuple(found.shape) == tuple(value.shape)
            assert found.tolist() == value.tolist()
        assert self.kept(given.dtype) == found.dtype

    def test_containers_numbers_and_text_come_back(self):
        value = {
            "list": [1, -(2**70), 2.5, None, True, "ünï", b"\x00\xff", ()],
            (1, "key"): {3, 4},
            "ordered": OrderedDict(b=1, a=2),
            "counter": Counter("aab"),
            "lists": defaultdict(list, a=[1]),
            "size": self.torch.Size([2, 3]),
            "complex": 1 + 2j,
        }
        found = self.kept(value)
        assert found == value
        assert list(found["ordered"]) == ["b", "a"]
        assert repr(found["size"]) == repr(value["size"])
        assert str(self.kept(self.torch.device("cpu"))) == "cpu"

    def test_what_shared_memory_shares_it_again(self):
        whole = self.torch.zeros(2, 3)
        found = self.kept([whole, whole[1], whole])
        found[0][1, 2] = 7
        assert found[1].tolist() == [0, 0, 7]
        assert found[2] is found[0]

    def test_parameters_and_what_requires_grad(self):
        parameter, tensor = self.kept(
            [self.torch.nn.Parameter(self.torch.ones(2)), self.torch.ones(1, requires_grad=True)]
        )
        assert isinstance(parameter, nn.Parameter)
        assert parameter.requires_grad
        assert tensor.requires_grad

    def test_objects_and_files_of_old_are_refused(self, tmp_path):
        with pytest.raises(
            StateError, match=r"holds an object of torch\.nn\.modules\.linear\.Linear.*\nhint: .*state_dict"
        ):
            self.kept(self.torch.nn.Linear(1, 1))
        self.torch.save({"x": self.torch.ones(2)}, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
        with pytest.raises(StateError, match=r"bare pickle.*\nhint: .*torch\.save"):
            gs.load(tmp_path / "old.pt")
