"""Keeps a mistake of graphscope's from ending the screen and the session: it is reported, and the keys go on."""

from __future__ import annotations

import traceback
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from textual.message_pump import MessagePump
from textual.worker import WorkerFailed

from graphscope.debugger.expressions import describe
from graphscope.errors import GraphscopeError

if TYPE_CHECKING:
    from textual.message import Message


class Guarded(MessagePump):
    """A widget or screen that goes on after what its handlers raise; any other is dead from then on."""

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except Exception as error:  # noqa: BLE001 - whatever it is, the session must not be lost to it
            pump: Any = self
            pump._mounted_event.set()  # somebody may wait for a screen that could not be made
            pump._is_mounted = True
            self.app._handle_exception(error)


def sentence(error: BaseException) -> str:
    """What went wrong, in one line; where it is a mistake of ours, with its place."""
    if isinstance(error, WorkerFailed):
        error = error.error
    if isinstance(error, GraphscopeError):
        return f"{error.message} ({error.hint})" if error.hint else error.message
    places = traceback.extract_tb(error.__traceback__)
    graphscopes = [place for place in places if "graphscope" in PurePath(place.filename).parts]
    place = (graphscopes or places)[-1:]
    where = f" ({PurePath(place[0].filename).name}:{place[0].lineno})" if place else ""
    return f"This failed inside graphscope: {describe(error)}{where}"
