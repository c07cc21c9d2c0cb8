"""Versions of a framework: which can be recorded, and what private names of the framework that takes."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType


@dataclass(frozen=True)
class Versions:
    """The versions of a framework that an adapter can record.

    Args:
        framework: Its name, as people write it.
        module: It tells its version as `__version__`.
        oldest: The oldest that can be recorded: major and minor, and the patch where that matters.
        newest: The newest that the adapter was tried with: major and minor.
        private: What is used beyond the public interface: each name, and a probe whether this version has it.
    """

    framework: str
    module: ModuleType
    oldest: tuple[int, ...] = ()
    newest: tuple[int, ...] = ()
    private: Mapping[str, Callable[[], bool]] = field(default_factory=dict)

    def missing(self) -> list[str]:
        """Private names that this version does not have."""
        return [name for name, probe in self.private.items() if not _holds(probe)]

    def refusal(self) -> str | None:
        """Why this version can't be recorded; None when it can."""
        if () < self.number[: len(self.oldest)] < self.oldest:
            return f"{self._refused()}: {_written(self.oldest)} is the oldest that can"
        lacking = self.missing()
        if lacking:
            return f"{self._refused()}: it has no {', no '.join(lacking)}; a newer graphscope may know it"
        return None

    def failure(self, error: Exception) -> str:
        """What to say where all the names are there, and do something else than they did."""
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{place.filename}:{place.lineno}"
        return f"{self._refused()}: {type(error).__name__} at {where}: {error}; a newer graphscope may know it"

    def notice(self) -> str | None:
        """What is to be said of a version that is recorded, and that nobody has tried."""
        if not self.newest or () < self.number[: len(self.newest)] <= self.newest:
            return None
        known = f"{_written(self.oldest)} to {_written(self.newest)}"
        return (
            f"{self._called()} is none of the versions that this graphscope knows ({known}): it is recorded, "
            "but something may be missing or wrong; a newer graphscope may know it"
        )

    @property
    def number(self) -> tuple[int, ...]:
        """Major, minor and patch; empty where the framework calls itself something else."""
        found = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", str(getattr(self.module, "__version__", "")))
        return tuple(int(each) for each in found.groups() if each) if found else ()

    def _called(self) -> str:
        return f"{self.framework} {getattr(self.module, '__version__', '')}".rstrip()

    def _refused(self) -> str:
        return f"{self._called()} can't be recorded"


def _holds(probe: Callable[[], bool]) -> bool:
    try:
        return probe()
    except (AttributeError, TypeError, RuntimeError, LookupError, ImportError):
        return False


def _written(numbers: tuple[int, ...]) -> str:
    return ".".join(map(str, numbers))
