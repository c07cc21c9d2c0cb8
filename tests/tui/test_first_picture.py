"""The first picture waits for nothing that is found out beside it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from rich.syntax import Syntax
from textual.app import App

from tests.tui.screens import Screen, drive

BESIDE = ("graphscope.tui.background.curves_of", "graphscope.tui.findings.judging.doctor")


def test_threads_begin_when_it_is_drawn(product: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []

    def noted(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def act(*given: Any, **named: Any) -> Any:
            order.append(name)
            return work(*given, **named)

        return act

    monkeypatch.setattr(App, "_display", noted("picture", App._display))
    monkeypatch.setattr(Syntax, "highlight", noted("colours", Syntax.highlight))
    for place in BESIDE:
        module, _, name = place.rpartition(".")
        work = getattr(import_module(module), name)
        monkeypatch.setattr(place, noted(name, work))

    async def body(screen: Screen) -> None:
        await screen.until(lambda: {"colours", "curves_of", "doctor"} <= {*order}, "what is found out beside it")

    drive(product, body)
    assert order[0] == "picture"
