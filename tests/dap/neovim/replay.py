"""Says to adapters what nvim-dap has said in a job, waits for what it waited for, and sees what it would show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.dap.neovim.seen import Seen, Stop
from tests.dap.neovim.sequences import ANSWERS, Step
from tests.dap.talking import Client

Body = dict[str, Any]


class Session:
    """A session of the editor with an adapter of its own.

    Args:
        folder: Where the editor runs.
        seen: What can be seen in all sessions.
    """

    def __init__(self, folder: Path, seen: Seen) -> None:
        self.client = Client(folder=folder, first=0)
        self.client.asked = self._keep
        self.heard: dict[str, Body] = {}
        """The newest message of each name."""
        self._asked: dict[str, Body] = {}
        self._unanswered: list[tuple[int, str, Body]] = []
        self._groups: dict[int, str] = {}
        self._seen = seen

    def _keep(self, request: Body) -> None:
        """Let what the adapter asks for wait until its turn comes."""
        self._asked[request["command"]] = request

    def say(self, step: Step, arguments: Any) -> None:
        """Send what a step sends."""
        if "request" in step:
            number = self.client.send(step["request"], arguments)
            self._unanswered.append((number, step["request"], arguments))
        else:
            self.client.answer_request(self._asked[step["response"]], {"success": step["success"]})

    def hear(self, kind: str, name: str) -> None:
        """Wait for a message."""
        if kind == "event":
            self.heard[name] = self.client.event(name)
        elif kind == "request":
            self.client.until(lambda: name in self._asked)
            self.heard[name] = self._asked[name]["arguments"]
        else:
            self.hear_answers(name)

    def hear_answers(self, name: str = "") -> None:
        """Wait until requests are answered, those of a name or all, and see what they tell."""
        for each in [one for one in self._unanswered if name in ("", one[1])]:
            self._unanswered.remove(each)
            number, command, arguments = each
            self.heard[command] = body = self.client.body(number)
            self._see(command, arguments, body)

    def _see(self, command: str, arguments: Body, body: Body) -> None:
        """See what an answer shows: the first frame with a source, its variables, the exception, what was asked for."""
        match command:
            case "stackTrace":
                top = next(frame for frame in body["stackFrames"] if "source" in frame)
                self._seen.stops.append(Stop(Path(top["source"]["path"]).name, top["line"], {}))
            case "scopes":
                self._groups = {scope["variablesReference"]: scope["name"] for scope in body["scopes"]}
            case "variables" if arguments["variablesReference"] in self._groups:
                found = {variable["name"]: variable["value"] for variable in body["variables"]}
                self._seen.stops[-1].values[self._groups[arguments["variablesReference"]]] = found
            case "exceptionInfo":
                self._seen.stops[-1].diagnostics.append(body["description"])
            case "evaluate":
                self._seen.told.append(body["result"])

    def close(self) -> None:
        """Hang up, as the editor does; the adapter has said all that it had to say, and ends well."""
        self.hear_answers()
        assert [event for event in self.client.events if event["event"] == "stopped"] == []
        self._seen.printed += self.client.output
        self.client.close_streams()
        assert self.client.wait() == 0


def replay(steps: list[Step], folder: Path) -> Seen:
    """Say everything that a sequence says, to adapters that are started as the editor starts them.

    Args:
        steps: The sequence.
        folder: Where the program lies.
    """
    seen = Seen()
    with _sessions(folder, seen) as sessions:
        for step in steps:
            match step.get("after"):
                case [number, kind, name]:
                    sessions[number].hear(kind, name)
                case found if found == ANSWERS:
                    for each in sessions.values():
                        each.hear_answers()
            if step["session"] not in sessions:
                sessions[step["session"]] = Session(folder, seen)
            session = sessions[step["session"]]
            if "close" in step:
                session.close()
                continue
            heard: Body = {}
            for each in sessions.values():
                heard |= {name: each.heard[name] for name in each.heard if name == "startDebugging"}
            session.say(step, _filled(step.get("arguments"), folder, heard | session.heard))
    return seen


@contextmanager
def _sessions(folder: Path, seen: Seen) -> Iterator[dict[int, Session]]:
    """Sessions by their numbers, none of which is left behind."""
    sessions: dict[int, Session] = {}
    try:
        yield sessions
    finally:
        for each in sessions.values():
            each.client.close()


def _filled(arguments: Any, folder: Path, heard: dict[str, Body]) -> Any:
    """Arguments with what their placeholders stand for."""
    if isinstance(arguments, dict):
        return {name: _filled(each, folder, heard) for name, each in arguments.items()}
    if isinstance(arguments, list):
        return [_filled(each, folder, heard) for each in arguments]
    if not isinstance(arguments, str):
        return arguments
    found = re.fullmatch(r"\$\{(\w+)((?:/\w+)+)\}", arguments)
    if found is None:
        return arguments.replace("${folder}", str(folder))
    value: Any = heard[found[1]]
    for key in found[2].split("/")[1:]:
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value
