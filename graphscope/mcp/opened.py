"""The logs that a client asks about, each opened once: a debugger stands in each of them."""

from __future__ import annotations

import threading
from pathlib import Path

from graphscope.debugger import nodes
from graphscope.debugger.debugger import Debugger
from graphscope.eventlog.loss import loss_of
from graphscope.eventlog.reader import load
from graphscope.eventlog.wholeness import in_part


class Opened:
    """The logs that were asked about, by their paths.

    Tools are called on several threads, and a debugger is for one at a time: whoever holds `turn`.
    """

    def __init__(self) -> None:
        self.turn = threading.RLock()
        self._debuggers: dict[Path, Debugger] = {}

    def debugger(self, log: str) -> Debugger:
        """The debugger that stands in a log, at first behind all that happened; it knows the log as far as it goes now.

        Raises:
            LogError: There is no log.
        """
        path = Path(log).expanduser().absolute()
        found = self._debuggers.get(path)
        if found is None or loss_of(found.log):  # recorded anew, since
            found = self._debuggers[path] = Debugger(load(path))
            found.stand(next(nodes.backward(found.log, found.log.first, found.log.end), found.now))
        found.log.refresh()
        return found

    def owning_up(self, *logs: str) -> dict[str, dict[str, str]]:
        """What an answer says beside all else where something is missing of logs: of each in a sentence."""
        said = {log: in_part(self.debugger(log).log) for log in logs}
        missing = {log: each for log, each in said.items() if each}
        return {"missing": missing} if missing else {}
