"""What becomes of a log's files while somebody reads them: others may move, replace or cut what is mapped here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_GONE: Final = "the log is gone: what was read of it is still shown"
_REPLACED: Final = "another log is at its place: what was read of the old one is still shown; open it again"
_CUT: Final = "the log was cut while it was read: nothing of it can be shown any more"


def loss_of(log: Log) -> str:
    """What a log has lost since it was opened, in a sentence; empty where its files are as they were.

    What was mapped of files that are gone can still be read. To read behind the end of a file that was cut would end
    the process, so that nothing of such a log is read from then on.
    """
    if not log.lost and log.files.is_cut():
        log.lost = _CUT
        log.let_go()
    if not log.lost:
        try:
            created = json.loads(log.files.text("log.json")).get("created")
        except (OSError, ValueError):
            log.lost = _GONE
        else:
            log.lost = _REPLACED if created != log.metadata.get("created") else ""
    if log.lost:
        log.files.close()
    return log.lost
