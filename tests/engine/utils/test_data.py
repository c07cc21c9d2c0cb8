"""Datasets, samplers and loaders against PyTorch's."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import graphscope as gs
import graphscope.utils.data

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

NUMBERS = np.random.default_rng(0).standard_normal((10, 3)).astype(np.float32)


class Pair(NamedTuple):
    x: Any
    y: Any


def plain(value):
    """A batch without tensors, with the dtypes of those that it had."""
    if isinstance(value, gs.Tensor | torch.Tensor):
        return str(value.dtype).removeprefix("torch."), value.tolist()
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value).__name__, *map(plain, value)
    if isinstance(value, list | tuple):
        return [type(value).__name__, *map(plain, value)]
    return value


class Squares:
    def __init__(self, count):
        self.count = count

    def __getitem__(self, index):
        return index * index, float(index)

    def __len__(self):
        return self.count


def streamed(data):
    class Stream(data.IterableDataset):
        def __iter__(self):
            return iter([1.5, 2.5, 3.5, 4.5, 5.5])

    return Stream()


PROGRAMS = {
    "plain": lambda t, d: list(d.DataLoader(d.TensorDataset(t.tensor(NUMBERS), t.arange(10)), batch_size=4)),
    "drop last": lambda t, d: list(d.DataLoader(Squares(10), batch_size=4, drop_last=True)),
    "no batches": lambda t, d: list(d.DataLoader(d.TensorDataset(t.tensor(NUMBERS)), batch_size=None)),
    "own sampler": lambda t, d: list(d.DataLoader(Squares(10), batch_size=3, sampler=[3, 1, 2, 9])),
    "own batches": lambda t, d: list(d.DataLoader(Squares(10), batch_sampler=[[1, 2], [3]])),
    "own collate": lambda t, d: list(d.DataLoader(Squares(5), batch_size=2, collate_fn=len)),
    "stream": lambda t, d: list(d.DataLoader(streamed(d), batch_size=2)),
    "stream whole batches": lambda t, d: list(d.DataLoader(streamed(d), batch_size=2, drop_last=True)),
    "stream unbatched": lambda t, d: list(d.DataLoader(streamed(d), batch_size=None)),
    "concat": lambda t, d: [d.ConcatDataset([Squares(3), Squares(2)])[n] for n in (0, 2, 3, 4, -1, -5)],
    "add": lambda t, d: len(d.TensorDataset(t.arange(3)) + d.TensorDataset(t.arange(4))),
    "subset": lambda t, d: [d.Subset(Squares(9), [5, 1])[n] for n in (0, 1)],
    "batch sampler": lambda t, d: [list(d.BatchSampler(range(7), 3, drop)) for drop in (False, True)],
    "lengths": lambda t, d: [
        len(d.DataLoader(Squares(10), batch_size=size, drop_last=drop)) for size in (3, 5) for drop in (False, True)
    ],
    "lengths of splits": lambda t, d: [len(part) for part in d.random_split(Squares(11), [0.5, 0.25, 0.25])],
    "collate": lambda t, d: d.default_collate(
        [{"a": (1, 2.0), "b": [t.ones(2), "x"], "c": Pair(True, np.float32(1))} for _ in range(2)]
    ),
    "collate arrays": lambda t, d: d.default_collate([np.ones((2, 2), np.float32), np.zeros((2, 2), np.float32)]),
    "collate numbers": lambda t, d: d.default_collate([np.int32(1), np.int32(2)]),
    "convert": lambda t, d: d.default_convert([{"a": np.ones(2)}, (1, "x"), Pair(np.zeros(1), 2)]),
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_what_comes_is_what_torch_gives(program):
    assert plain(program(gs, gs.utils.data)) == plain(program(torch, torch.utils.data))


def test_shuffling_gives_each_once_and_follows_the_generator():
    def run():
        loader = gs.utils.data.DataLoader(
            Squares(50), batch_size=8, shuffle=True, generator=gs.Generator().manual_seed(3)
        )
        return [float(x) for _, batch in loader for x in batch]

    first = run()
    assert sorted(first) == [float(n) for n in range(50)]
    assert first == run() != sorted(first)


def test_samplers_by_chance():
    data = gs.utils.data
    gs.manual_seed(0)
    assert sorted(data.RandomSampler(range(9))) == list(range(9))
    assert sorted(data.RandomSampler(range(4), num_samples=8)) == sorted([*range(4)] * 2)
    assert set(data.RandomSampler(range(3), replacement=True, num_samples=99)) == {0, 1, 2}
    assert sorted(data.SubsetRandomSampler([4, 7, 9])) == [4, 7, 9]
    assert set(data.WeightedRandomSampler([0.0, 1.0, 3.0], 99)) == {1, 2}
    assert sorted(data.WeightedRandomSampler([1.0, 1.0, 3.0], 3, replacement=False)) == [0, 1, 2]
    parts = data.random_split(Squares(10), [7, 3])
    assert sorted(x for part in parts for x in part.indices) == list(range(10))


def test_workers_are_accepted_and_told_of(capsys):
    assert len(list(gs.utils.data.DataLoader(Squares(4), num_workers=2))) == 4
    assert "num_workers=2 has no effect" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda d: d.DataLoader(Squares(3), batch_size=0), ValueError, "positive integer"),
        (lambda d: d.DataLoader(Squares(3), num_workers=-1), ValueError, "non-negative"),
        (lambda d: d.DataLoader(Squares(3), shuffle=True, sampler=[1]), ValueError, "mutually exclusive"),
        (lambda d: d.DataLoader(Squares(3), batch_size=2, batch_sampler=[[1]]), ValueError, "mutually exclusive"),
        (lambda d: d.DataLoader(Squares(3), batch_size=None, drop_last=True), ValueError, "mutually exclusive"),
        (lambda d: d.DataLoader(streamed(d), shuffle=True), ValueError, "shuffle"),
        (lambda d: d.RandomSampler([]), ValueError, "num_samples"),
        (lambda d: d.RandomSampler([1], replacement=3), TypeError, "boolean"),
        (lambda d: d.ConcatDataset([]), AssertionError, "empty"),
        (lambda d: d.ConcatDataset([Squares(2)])[-3], ValueError, "dataset length"),
        (lambda d: d.random_split(Squares(3), [1, 1]), ValueError, "does not equal"),
        (lambda d: d.default_collate([[1], [1, 2]]), RuntimeError, "equal size"),
        (lambda d: d.default_collate([object()]), TypeError, "default_collate: batch must contain"),
        (lambda d: d.Dataset()[0], NotImplementedError, "__getitem__"),
        (lambda d: d.WeightedRandomSampler([[1.0]], 1), ValueError, "1d sequence"),
    ],
)
def test_both_refuse_what_makes_no_sense(make, error, message):
    for data in (gs.utils.data, torch.utils.data):
        with pytest.raises(error, match=message):
            make(data)
