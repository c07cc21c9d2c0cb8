"""Where work on many logs is done: processes here, or an engine of many machines that a person has."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from typing import Any, Final, TypeVar

from graphscope.errors import UsageError

Thing = TypeVar("Thing")
Result = TypeVar("Result")

_FEW: Final = 8
"""So many logs are read in this process: others would take longer to start."""
_AHEAD: Final = 4
"""So many logs for each worker are given out at once: what comes back is compared, and goes."""


def processes(work: Callable[[Thing], Result], things: Sequence[Thing]) -> Iterator[Result]:
    """On all processors of this machine."""
    count = os.cpu_count() or 1
    if len(things) <= _FEW or count == 1:
        yield from map(work, things)
        return
    with ProcessPoolExecutor(count, multiprocessing.get_context("spawn")) as pool:
        yield from _in_turn(lambda thing: pool.submit(work, thing).result, things, count * _AHEAD)


def ray(work: Callable[[Thing], Result], things: Sequence[Thing]) -> Iterator[Result]:
    """On a cluster of Ray's, which must see the logs under the same paths: `RAY_ADDRESS`, else on this machine."""
    library = _library("ray")
    if not library.is_initialized():
        library.init(log_to_driver=False)
    task = library.remote(num_cpus=1)(work)
    count = int(library.cluster_resources().get("CPU", 1))
    yield from _in_turn(lambda thing: _later(library.get, task.remote(thing)), things, count * _AHEAD)


def dask(work: Callable[[Thing], Result], things: Sequence[Thing]) -> Iterator[Result]:
    """On a cluster of Dask's, which must see the logs under the same paths: `DASK_SCHEDULER_ADDRESS`, else here."""
    library = _library("distributed")
    with library.Client(os.environ.get("DASK_SCHEDULER_ADDRESS")) as client:
        count = sum(client.ncores().values())
        yield from _in_turn(lambda thing: client.submit(work, thing, pure=False).result, things, count * _AHEAD)


EXECUTORS: Final[dict[str, Callable[[Callable[[Any], Any], Sequence[Any]], Iterator[Any]]]] = {
    each.__name__: each for each in (processes, ray, dask)
}
"""By the name that `--with` takes."""


def _in_turn(begin: Callable[[Thing], Callable[[], Result]], things: Iterable[Thing], ahead: int) -> Iterator[Result]:
    """The results in the order of the things, of which no more than some are begun at a time."""
    waiting: list[Callable[[], Result]] = []
    for thing in things:
        waiting.append(begin(thing))
        if len(waiting) >= ahead:
            yield waiting.pop(0)()
    for result in waiting:
        yield result()


def _later(get: Callable[[Any], Result], reference: Any) -> Callable[[], Result]:
    return lambda: get(reference)


def _library(name: str) -> Any:
    with contextlib.suppress(ImportError):
        return import_module(name)
    raise UsageError(f"--with needs {name}, which is not installed", f"pip install {name}; or leave --with out")
