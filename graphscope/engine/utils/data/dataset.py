"""Datasets: what has examples, by number or one after the other."""

from __future__ import annotations

import itertools
import math
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from graphscope.engine.core import generator as random

T = TypeVar("T", covariant=True)


class Dataset(Generic[T]):
    """Examples by number. A subclass defines `__getitem__`, and `__len__` for samplers to ask."""

    def __getitem__(self, index: Any) -> T:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[Any]) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T]):
    """Examples one after the other. A subclass defines `__iter__`."""

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")


class TensorDataset(Dataset[tuple[Any, ...]]):
    """The rows of tensors that have the same number of them."""

    def __init__(self, *tensors: Any) -> None:
        if any(len(tensor) != len(tensors[0]) for tensor in tensors):
            raise AssertionError(
                f"Size mismatch between tensors: they have {', '.join(str(len(t)) for t in tensors)} rows"
            )
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])


class ConcatDataset(Dataset[Any]):
    """Several datasets one after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(itertools.accumulate(len(dataset) for dataset in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        if not -len(self) <= index < len(self):
            raise ValueError(f"absolute value of index should not exceed dataset length: {index}, {len(self)} examples")
        place = index % len(self)
        number = bisect_right(self.cumulative_sizes, place)
        before = self.cumulative_sizes[number - 1] if number else 0
        return self.datasets[number][place - before]


class Subset(Dataset[Any]):
    """Some examples of a dataset."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[number] for number in index]]
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Sequence[float], generator: Any = None) -> list[Subset]:
    """Divide a dataset by chance.

    Args:
        dataset: The dataset.
        lengths: The number of examples of each part; or fractions, which sum to 1.
        generator: Where the chance comes from.

    Raises:
        ValueError: The numbers do not add up.
    """
    sizes = list(lengths)
    if math.isclose(sum(sizes), 1) and sum(sizes) <= 1:
        for place, part in enumerate(sizes):
            if not 0 <= part <= 1:
                raise ValueError(f"Fraction at index {place} is not between 0 and 1")
        sizes = [math.floor(len(dataset) * part) for part in sizes]
        for place in range(len(dataset) - int(sum(sizes))):
            sizes[place % len(sizes)] += 1
        for place, size in enumerate(sizes):
            if not size:
                warnings.warn(
                    f"Length of split at index {place} is 0. This might result in an empty dataset.", stacklevel=2
                )
    if sum(sizes) != len(dataset):
        raise ValueError(
            "Sum of input lengths does not equal the length of the input dataset! "
            f"{sum(sizes)} are asked for, there are {len(dataset)}"
        )
    order = random.generator(generator).permutation(len(dataset)).tolist()
    ends = itertools.accumulate(map(int, sizes))
    return [Subset(dataset, order[end - int(size) : end]) for end, size in zip(ends, sizes, strict=True)]
