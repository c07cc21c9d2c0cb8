"""The loader: a dataset in batches."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from graphscope.engine.utils.data.collate import default_collate, default_convert
from graphscope.engine.utils.data.dataset import IterableDataset
from graphscope.engine.utils.data.sampler import BatchSampler, RandomSampler, SequentialSampler


class DataLoader:
    """Goes through a dataset in batches. Examples are fetched in this process, whatever `num_workers` says.

    Args:
        dataset: The examples, by number or one after the other.
        batch_size: How many make a batch; None: none are made, examples come one by one.
        shuffle: Whether they come by chance.
        sampler: Their order, instead of `shuffle`.
        batch_sampler: Their batches, instead of all of these.
        num_workers: Accepted; a note on standard error says that it has no effect.
        collate_fn: Makes a batch of examples.
        pin_memory: Accepted and of no effect, as are the other arguments of PyTorch's about processes and devices.
        drop_last: Whether a last batch that is not full is left out.
        timeout: Of no effect.
        worker_init_fn: Of no effect.
        multiprocessing_context: Of no effect.
        generator: Where the chance comes from.
        prefetch_factor: Of no effect.
        persistent_workers: Of no effect.
        pin_memory_device: Of no effect.
        in_order: Of no effect.

    Raises:
        ValueError: Two arguments exclude each other, or a number is out of range.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        iterable = isinstance(dataset, IterableDataset)
        _check(iterable, batch_size, shuffle, sampler, batch_sampler, num_workers, drop_last, timeout)
        if num_workers:
            sys.stderr.write(f"DataLoader: num_workers={num_workers} has no effect; examples come from this process\n")
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        if sampler is None and not iterable:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None and not iterable and sampler is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.dataset = dataset
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.num_workers = num_workers
        self.pin_memory = pin_memory
        self.timeout = timeout
        self.generator = generator
        batched = batch_size is not None or batch_sampler is not None
        self.collate_fn = collate_fn or (default_collate if batched else default_convert)

    def __iter__(self) -> Iterator[Any]:
        if isinstance(self.dataset, IterableDataset):
            return self._streamed()
        return self._picked()

    def _picked(self) -> Iterator[Any]:
        if self.batch_sampler is None:
            for number in self.sampler or ():
                yield self.collate_fn(self.dataset[number])
            return
        fetch = getattr(self.dataset, "__getitems__", None)
        for numbers in self.batch_sampler:
            yield self.collate_fn(fetch(numbers) if fetch else [self.dataset[number] for number in numbers])

    def _streamed(self) -> Iterator[Any]:
        examples = iter(self.dataset)
        if self.batch_size is None:
            yield from map(self.collate_fn, examples)
            return
        while batch := list(itertools.islice(examples, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield self.collate_fn(batch)

    def __len__(self) -> int:
        if isinstance(self.dataset, IterableDataset):
            count = len(self.dataset)  # type: ignore[arg-type]
            if self.batch_size is None:
                return count
            return count // self.batch_size if self.drop_last else -(-count // self.batch_size)
        source: Any = self.sampler if self.batch_sampler is None else self.batch_sampler
        return len(source)


def _check(
    iterable: bool,
    batch_size: Any,
    shuffle: Any,
    sampler: Any,
    batch_sampler: Any,
    num_workers: int,
    drop_last: bool,
    timeout: float,
) -> None:
    if num_workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if iterable:
        for name, value in (("shuffle", shuffle or None), ("sampler", sampler), ("batch_sampler", batch_sampler)):
            if value is not None:
                raise ValueError(
                    f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
                )
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
    if batch_size is None and batch_sampler is None and drop_last:
        raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
    if batch_size is not None and (not isinstance(batch_size, int) or batch_size <= 0):
        raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")


def get_worker_info() -> None:
    """None: there are no other processes that fetch examples."""
