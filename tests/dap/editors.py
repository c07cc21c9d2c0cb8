"""What editors send, in their order and with their arguments, as read from their sources: nvim-dap and VS Code."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from tests.dap.talking import Client


class Editor:
    """A client as an editor is one: each event that comes makes it ask for more.

    Args:
        client: The line to the adapter.
    """

    introduction: ClassVar[dict[str, Any]]

    def __init__(self, client: Client) -> None:
        self.client = client
        self.thread: int | None = None
        """The thread that it holds to be stopped."""
        self.frames: list[dict[str, Any]] = []
        self.variables: dict[str, dict[str, Any]] = {}
        """For each scope that is not expensive, its variables by name."""
        self.filters: list[dict[str, Any]] = []

    def begin(self, program: Path, lines: list[dict[str, Any]], functions: list[str], **more: Any) -> None:
        """Launch a program with breakpoints, up to its first stop."""
        common = {"adapterID": "graphscope", "pathFormat": "path", "linesStartAt1": True, "columnsStartAt1": True}
        capabilities = self.client.request("initialize", common | self.introduction)
        self.filters = capabilities["exceptionBreakpointFilters"]
        configuration = {"type": "graphscope", "name": "this file", "request": "launch", "program": str(program)}
        launched = self.client.send("launch", configuration | more)
        self.client.event("initialized")
        source = {"name": program.name, "path": str(program)}
        numbers = [line["line"] for line in lines]
        asked = {"source": source, "breakpoints": lines, "lines": numbers, "sourceModified": False}
        told = self.client.request("setBreakpoints", asked)["breakpoints"]
        assert all(found["verified"] for found in told)
        self.configure(functions)
        self.client.request("configurationDone")
        self.client.body(launched)
        self.wait()

    def configure(self, functions: list[str]) -> None:
        """Say what else to stop at."""
        raise NotImplementedError

    def wait(self) -> dict[str, Any]:
        """Wait until one stands, and look around."""
        stopped = self.client.event("stopped")
        for event in self.client.events:
            assert event["event"] != "stopped"
            if event["event"] == "continued":
                self.thread = None
        assert self.thread is None, "it would let the program run on, taking this for another thread's stop"
        self.client.events.clear()
        self.thread = stopped["threadId"]
        threads = {found["id"] for found in self.client.request("threads")["threads"]}
        assert self.thread in threads
        if stopped["reason"] == "exception":
            self.client.request("exceptionInfo", {"threadId": self.thread})
        self.look()
        return stopped

    def look(self) -> None:
        """Ask for the stack, and for what can be seen at its top."""
        raise NotImplementedError

    def ask_scopes(self, frame: dict[str, Any]) -> None:
        """Ask for the variables of a frame, as far as that is cheap."""
        self.variables = {}
        for scope in self.client.request("scopes", {"frameId": frame["id"]})["scopes"]:
            if not scope["expensive"]:
                self.variables[scope["name"]] = self.client.variables(scope["variablesReference"])

    def step(self, request: str, **more: Any) -> dict[str, Any]:
        """Press a button, and wait."""
        asked, self.thread = self.thread, None
        self.client.request(request, {"threadId": asked, **more})
        return self.wait()

    def type(self, line: str) -> None:
        """Type a line into the console, in the top frame."""
        top = next(frame for frame in self.frames if "source" in frame)
        self.client.request("evaluate", {"expression": line, "context": "repl", "frameId": top["id"]})


class Neovim(Editor):
    """nvim-dap. It has no function breakpoints; they are set at its console."""

    introduction: ClassVar = {
        "clientID": "neovim",
        "clientName": "neovim",
        "supportsRunInTerminalRequest": True,
        "supportsVariableType": True,
        "supportsProgressReporting": True,
        "supportsStartDebuggingRequest": True,
        "locale": "en_US.UTF-8",
    }

    def configure(self, functions: list[str]) -> None:
        default = [found["filter"] for found in self.filters if found.get("default")]
        self.client.request("setExceptionBreakpoints", {"filters": default})

    def look(self) -> None:
        self.frames = self.client.request("stackTrace", {"startFrame": 0, "threadId": self.thread})["stackFrames"]
        top = next(frame for frame in self.frames if "source" in frame)
        assert top["line"] >= 1
        assert top["column"] >= 1
        self.ask_scopes(top)

    def leave(self) -> int:
        """Quit: the connection is closed as soon as there is an answer, and the adapter is interrupted."""
        self.client.request("terminate", {})
        self.client.event("terminated")
        self.client.request("disconnect", {"restart": False})
        return self.client.wait()


class VSCode(Editor):
    """VS Code: it asks for the stack in two portions, for large variables in pages, and evaluates what is watched."""

    introduction: ClassVar = {
        "clientID": "vscode",
        "clientName": "Visual Studio Code",
        "locale": "en",
        "supportsVariableType": True,
        "supportsVariablePaging": True,
        "supportsRunInTerminalRequest": True,
        "supportsProgressReporting": True,
        "supportsInvalidatedEvent": True,
        "supportsMemoryReferences": True,
        "supportsArgsCanBeInterpretedByShell": True,
        "supportsMemoryEvent": True,
        "supportsStartDebuggingRequest": True,
        "supportsANSIStyling": True,
    }

    def configure(self, functions: list[str]) -> None:
        self.client.request("setFunctionBreakpoints", {"breakpoints": [{"name": name} for name in functions]})
        self.client.request("setDataBreakpoints", {"breakpoints": []})
        chosen = [{"filterId": found["filter"]} for found in self.filters if found.get("default")]
        self.client.request("setExceptionBreakpoints", {"filters": [], "filterOptions": chosen})

    def look(self) -> None:
        asked = {"threadId": self.thread, "startFrame": 0, "levels": 1}
        found = self.client.request("stackTrace", asked)
        rest = self.client.request("stackTrace", asked | {"startFrame": 1, "levels": 19})["stackFrames"]
        self.frames = found["stackFrames"] + rest
        assert found["totalFrames"] == len(self.frames)
        self.ask_scopes(self.frames[0])
        watched = {"expression": "value.shape", "frameId": self.frames[0]["id"], "context": "watch"}
        answer = self.client.answer(self.client.send("evaluate", watched))
        assert answer["success"] or "at no node" in answer["message"]  # shown in the place of the value, at a line

    def leave(self) -> int:
        """Press stop: the program is ended, then the session."""
        self.client.request("terminate", {"restart": False})
        self.client.event("terminated")
        self.client.request("disconnect", {"restart": False, "terminateDebuggee": True})
        return self.client.wait()
