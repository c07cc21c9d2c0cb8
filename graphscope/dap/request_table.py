"""The table of requests, and what an adapter can do, derived from it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from graphscope.dap.adapter import Adapter
    from graphscope.dap.protocol import Arguments

Body = dict[str, Any] | None
Handler = Callable[["Adapter", "Arguments"], Awaitable[Body]]

When = Literal["always", "session", "settled", "stop"]
"""When a request makes sense: at any time; when there is a session; when, besides, nothing goes through its past at the
moment, which is waited for; or while there is a position to speak of, too."""


@dataclass(frozen=True)
class Request:
    """A request that is understood."""

    name: str
    when: When
    offers: tuple[str, ...]
    """The capabilities that it means."""
    function: Handler = field(repr=False)

    @property
    def doc(self) -> str:
        """What it does, in a sentence."""
        return (self.function.__doc__ or "").strip().split("\n")[0]


REQUESTS: Final[dict[str, Request]] = {}
"""Every request by its name."""


def request(name: str, *offers: str, when: When = "settled") -> Callable[[Handler], Handler]:
    """Enter a function into the table."""

    def enter(function: Handler) -> Handler:
        REQUESTS[name] = Request(name, when, offers, function)
        return function

    return enter


def capabilities() -> dict[str, Any]:
    """What the adapter can do, as the answer to `initialize` tells it."""
    return {offer: True for found in REQUESTS.values() for offer in found.offers}
