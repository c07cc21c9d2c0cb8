"""The attachment of an adapter to its framework while a recording lasts: the `attach` and `detach` of its module."""

from __future__ import annotations

from collections.abc import Callable

from graphscope.adapters.kit.notices import say
from graphscope.adapters.kit.patches import Patches
from graphscope.adapters.kit.versions import Versions
from graphscope.eventlog.interruptions import own
from graphscope.eventlog.writer import Writer


class Attachment:
    """Whether an adapter is attached, and its patches.

    Args:
        prepare: Prepares the patches of a recording to a log; `Patches.install` makes them.
        versions: Those of the framework that can be recorded; another one is left alone, which is said once.
    """

    def __init__(self, prepare: Callable[[Writer], Patches], versions: Versions) -> None:
        self._prepare = prepare
        self._versions = versions
        self._current: Patches | None = None
        self._said: set[str] = set()

    def attach(self, writer: Writer) -> bool:
        """Record what the framework computes from now on; where this version of it can't be recorded, say so.

        Returns:
            Whether it is recorded.
        """
        reason = self._versions.refusal() or self._begin(writer) or self._versions.notice()
        if reason is not None and reason not in self._said:
            self._said.add(reason)
            say(reason)
        return self._current is not None

    def detach(self) -> None:
        """Record no more, and leave the framework as it was."""
        current, self._current = self._current, None
        if current is not None:
            current.remove()

    def suspend(self) -> None:
        """Let the framework run as it is until `resume`."""
        if self._current is not None:
            self._current.suspend()

    def resume(self) -> None:
        """Record again what the framework computes."""
        if self._current is not None:
            self._current.resume()

    def _begin(self, writer: Writer) -> str | None:
        """Change the framework, or say why it can't be done."""
        try:
            self._current = self._prepare(writer)
            self._current.install()
        except BaseException as error:  # whatever an unknown version raises, it is not the program's fault
            self.detach()
            if not isinstance(error, own(Exception)):
                raise
            return self._versions.failure(error)
        return None
