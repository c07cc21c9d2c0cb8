"""What nvim-dap says in a job, in order, each with what it had waited for; what differs each time has a placeholder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.dap.neovim.window import Said

FOLDER: Final = Path(__file__).parent / "sequences"
"""A folder for each nvim-dap, called as that is; in it a file for each job."""

Step = dict[str, Any]
"""What is sent and by which `session`: a `request` with `arguments`, a `response` with what else it has, or that it is
over (`close`); and what is waited for, `after`: a message, as the session, its type and its name, or `answers`, where a
person waited until all was there. Where that is missing, nothing new is waited for."""

ANSWERS: Final = "answers"

SOURCES: Final = {
    "frameId": (("stackTrace",), "id"),
    "variablesReference": (("scopes", "variables", "evaluate"), "variablesReference"),
    "threadId": (("stopped",), "threadId"),
}
"""For each number that an adapter gives out: the messages that it comes with, and what it is called there."""


def name_of(message: dict[str, Any]) -> str:
    """What a message is about."""
    return str(message["event"] if message["type"] == "event" else message["command"])


def read(file: Path) -> list[Step]:
    """The sequence that is kept of a job."""
    found: list[Step] = json.loads(file.read_text(encoding="utf-8"))
    return found


def write(file: Path, steps: list[Step]) -> None:
    """Keep the sequence of a job, a line a step."""
    lines = ",\n".join(json.dumps(step) for step in steps)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def sequence_of(said: list[Said], folder: Path) -> list[Step]:
    """The sequence of a job that was done in a folder."""
    return list(_steps(said, str(folder)))


def _steps(said: list[Said], folder: str) -> Iterator[Step]:
    before: Any = None
    for place, each in enumerate(said):
        message = each.message
        if each.is_heard:
            if _is_last(each, said):
                yield {"after": _heard(each), "session": each.session, "close": True}
            continue
        cause = place if each.cause is None else each.cause  # what a person does has a cause of its own
        step: Step = {}
        if place and cause != before:
            step["after"] = ANSWERS if each.cause is None else _heard(said[each.cause])
        before = cause
        if message["type"] == "request":
            step |= {"session": each.session, "request": message["command"]}
            if "arguments" in message:
                heard = [one for one in said[:place] if one.is_heard]
                step["arguments"] = _placed(message["arguments"], [one for one in heard if one.session == each.session])
                if message["command"] == "attach":
                    step["arguments"] |= _handed_on(message["arguments"], heard)
        else:
            step |= {"session": each.session, "response": message["command"], "success": message["success"]}
        if "arguments" in step:
            step["arguments"] = json.loads(json.dumps(step["arguments"], sort_keys=True))
        yield json.loads(json.dumps(step).replace(json.dumps(folder)[1:-1], "${folder}"))


def _is_last(heard: Said, said: list[Said]) -> bool:
    """Whether nvim-dap hangs up at a message: at the end of the program, or where it is let end it, at the answer."""
    leaves = any(one.session == heard.session and name_of(one.message) == "terminate" for one in said)
    kind = "response" if leaves else "event"
    return (heard.message["type"], name_of(heard.message)) == (kind, "terminate" if leaves else "terminated")


def _heard(one: Said) -> list[Any]:
    return [one.session, one.message["type"], name_of(one.message)]


def _placed(arguments: dict[str, Any], heard: list[Said]) -> dict[str, Any]:
    """Arguments with placeholders for the numbers that the adapter has given out."""
    return {name: _origin(name, value, heard) if name in SOURCES else value for name, value in arguments.items()}


def _origin(name: str, value: int, heard: list[Said]) -> str:
    """Where a number comes from: the newest message that has it."""
    sources, called = SOURCES[name]
    for one in reversed(heard):
        if name_of(one.message) in sources:
            for path in _paths(one.message.get("body"), called, value):
                return "${" + "/".join([name_of(one.message), *path]) + "}"
    raise AssertionError(f"{name} {value} comes from nowhere")


def _paths(body: Any, called: str, value: int) -> Iterator[tuple[str, ...]]:
    inside = body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    for key, each in inside:
        if key == called and each == value:
            yield (str(key),)
        yield from ((str(key), *path) for path in _paths(each, called, value))


def _handed_on(arguments: dict[str, Any], heard: list[Said]) -> dict[str, str]:
    """Placeholders for what an adapter had a session begun with."""
    asked = [one.message["arguments"] for one in heard if name_of(one.message) == "startDebugging"]
    return {
        name: "${startDebugging/configuration/" + name + "}" for name in (asked[-1]["configuration"] if asked else {})
    }
