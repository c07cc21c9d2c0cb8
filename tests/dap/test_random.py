"""Random requests, sensible and not, in any order: each is answered, the adapter lives, and nothing is left behind."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

import graphscope as gs
from graphscope.dap import requests as requests
from graphscope.dap.request_table import REQUESTS
from tests.dap.conftest import CHAIN
from tests.dap.talking import PATIENCE, Client
from tests.dap.test_robust import gone

CATCHES = """\
    try:
        int("none")
    except ValueError:
        w.grad = None
"""
PROGRAM = CHAIN.replace("range(3)", "range(40)").replace("    w.grad = None\n", CATCHES)
FILTERS = ("uncaught", "raised", "nan", "missing")
LEAVING = ("disconnect", "terminate", "restart", "launch", "attach", "initialize", "graphscope/input")

# What arguments are called, and what a request may find there: right, wrong, and absurd.
numbers = st.one_of(st.integers(-2, 60), st.sampled_from([10**9, -(10**18), 2**53, 1e300, True]))
texts = st.sampled_from(
    [
        "",
        "x",
        "w.grad",
        "value",
        "grad",
        "op:tanh",
        "op:mul backward",
        "nan",
        "#3",
        "b op:mul",
        "rn",
        "p 1/0",
        "s",
        "(",
        "\x00",
        "é",
        "value[0]",
        "q",
        "< x",
    ]
)
junk = st.one_of(st.none(), st.booleans(), numbers, texts, st.lists(st.integers(0, 3), max_size=2), st.just({}))
NAMES = {
    **dict.fromkeys(["threadId", "frameId", "variablesReference", "targetId", "line", "column", "startFrame"], numbers),
    **dict.fromkeys(["levels", "start", "count", "offset", "sourceReference", "requestId", "rows", "columns"], numbers),
    **dict.fromkeys(["expression", "value", "name", "text", "memoryReference"], texts),
    "context": st.sampled_from(["watch", "hover", "repl", "clipboard", "?"]),
    "filter": st.sampled_from(["indexed", "named", "?"]),
    "granularity": st.sampled_from(["statement", "instruction", "?"]),
    "filters": st.lists(st.sampled_from([*FILTERS, "?"]), max_size=2),
    "breakpoints": st.lists(st.fixed_dictionaries({"name": texts, "dataId": texts, "line": numbers}), max_size=2),
    "source": st.sampled_from([{"path": "prog.py"}, {}, {"sourceReference": 1}]),
}
arguments = st.one_of(
    st.fixed_dictionaries({}, optional=NAMES),
    st.fixed_dictionaries({}, optional=NAMES),
    st.dictionaries(st.sampled_from(sorted(NAMES)), junk, max_size=4),
    junk,
)
names = st.sampled_from([name for name in sorted(REQUESTS) if name not in LEAVING])


class Session(RuleBasedStateMachine):
    """One session, with a program or over its log."""

    client: Client
    program: Path
    log: Path
    live = True
    inside = False
    """Whether adapters are threads of this process, and not processes of their own."""

    @initialize(live=st.booleans(), granularity=st.sampled_from(["line", "node"]))
    def begin(self, live: bool, granularity: str) -> None:
        self.client = Client(inside=self.inside)
        if live and self.live:
            self.client.launch(self.program, stopOnEntry=True, granularity=granularity)
        else:
            self.client.attach(log=str(self.log), granularity=granularity)
        self.client.event("stopped")

    @rule(name=names, given=arguments)
    def ask(self, name: str, given: Any) -> None:
        answer = self.client.answer(self.client.send(name, given, valid=False))
        assert isinstance(answer["success"], bool)
        assert answer["success"] or answer["message"]
        assert "bug" not in answer.get("message", ""), (name, given, answer)

    @rule(name=st.sampled_from(["next", "stepIn", "stepOut", "stepBack", "reverseContinue", "pause", "threads"]))
    def move(self, name: str) -> None:
        self.client.answer(self.client.send(name, {"threadId": 1} if name != "threads" else None))

    @rule(chosen=st.sets(st.sampled_from(FILTERS)))
    def choose_exceptions(self, chosen: set[str]) -> None:
        answer = self.client.answer(self.client.send("setExceptionBreakpoints", {"filters": sorted(chosen)}))
        assert answer["success"], answer

    @rule()
    def look(self) -> None:
        answer = self.client.answer(self.client.send("stackTrace", {"threadId": 1}))
        if answer["success"] and answer["body"]["stackFrames"]:
            asked = self.client.send("scopes", {"frameId": answer["body"]["stackFrames"][0]["id"]})
            answer = self.client.answer(asked)
            for scope in answer["body"]["scopes"] if answer["success"] else ():
                self.client.answer(self.client.send("variables", {"variablesReference": scope["variablesReference"]}))

    @rule(text=st.binary(max_size=30))
    def nonsense(self, text: bytes) -> None:
        self.client.write(text)
        try:
            valid = isinstance(json.loads(text), dict)
        except ValueError:
            valid = False
        if not valid:
            assert not self.client.next_response()["success"]

    def teardown(self) -> None:
        if hasattr(self, "client"):
            try:
                assert self.client.leave() == 0
            finally:
                self.client.close()


@pytest.fixture
def machine(tmp_path: Path) -> type[Session]:
    program = tmp_path / "prog.py"
    program.write_text(PROGRAM)
    with gs.record(tmp_path / "it.gscope"):
        exec(compile(CHAIN, str(program), "exec"), {"__name__": "__main__"})
    return type("Bound", (Session,), {"inside": SESSIONS < 1000, "program": program, "log": tmp_path / "it.gscope"})


def run(machine: type[Session], sessions: int, steps: int) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=sessions,
            stateful_step_count=steps,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.slow
def test_some_hundred_random_requests(machine: type[Session]) -> None:
    run(machine, 2, 50)


# All of them, in half an hour: SESSIONS=1000 KILLED=200 python -m pytest tests/dap/test_random.py
SESSIONS = int(os.environ.get("SESSIONS", "30"))
KILLED = int(os.environ.get("KILLED", "25"))


@pytest.mark.slow
def test_many_random_sessions(machine: type[Session]) -> None:
    run(machine, SESSIONS, 20)


MOVES = ("next", "stepIn", "stepOut", "stepBack", "reverseContinue", "continue", "pause")


def hurried(chance: random.Random) -> tuple[str, Any]:
    """What an editor may send while its last requests are not answered yet."""
    if chance.random() < 0.5:
        return chance.choice(MOVES), {"threadId": 1}
    spoken = {"expression": chance.choice(["n", "rn", "s", "b op:mul", "p value", "rc"]), "context": "repl"}
    watched = {"expression": chance.choice(["value", "w.grad", "x * 2", "1 / 0"]), "context": "watch"}
    functions = [{"name": "op:tanh"}, {"name": "op:mul backward"}][: chance.randrange(3)]
    return chance.choice(
        [
            ("threads", None),
            ("stackTrace", {"threadId": 1}),
            ("scopes", {"frameId": chance.randrange(40)}),
            ("variables", {"variablesReference": chance.randrange(60)}),
            ("evaluate", spoken),
            ("evaluate", watched),
            ("setFunctionBreakpoints", {"breakpoints": functions}),
            ("setDataBreakpoints", {"breakpoints": [{"dataId": ":w.grad"}][: chance.randrange(2)]}),
            ("setExceptionBreakpoints", {"filters": chance.sample(FILTERS, chance.randrange(3))}),
            ("cancel", {"requestId": chance.randrange(100)}),
        ]
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_requests_that_wait_for_no_answer(client: Client, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    program = tmp_path / "prog.py"
    program.write_text(PROGRAM)
    client.launch(program, stopOnEntry=True, stopAtEnd=chance.choice(["always", "failure"]))
    sent = [client.send(*hurried(chance)) for _ in range(60)]
    for sequence in sent:
        assert "bug" not in client.answer(sequence).get("message", "")
    assert client.position()["log"]
    assert client.leave() == 0


@pytest.mark.slow
def test_clients_killed_at_random_moments(tmp_path: Path) -> None:
    program = tmp_path / "prog.py"
    chance = random.Random(4)
    for number in range(KILLED):
        pid, done = tmp_path / f"pid{number}", tmp_path / f"done{number}"
        program.write_text(
            f"import os\nopen({str(pid)!r}, 'w').write(str(os.getpid()))\n{PROGRAM}open({str(done)!r}, 'w')\n"
        )
        outlives = chance.random() < 0.3
        client = Client()
        client.send("initialize", {"adapterID": "graphscope"})
        client.send("launch", {"program": str(program), "stopOnEntry": True, "endWithClient": not outlives})
        moves = (chance.choice(["next", "stepBack", "continue"]) for _ in range(5))
        requests = ["setExceptionBreakpoints", "configurationDone", *moves]
        if chance.random() < 0.7:
            client.event("initialized")
            for name in requests[: chance.randrange(7)]:
                told = {"configurationDone": None, "setExceptionBreakpoints": {"filters": ["raised"]}}
                client.send(name, told.get(name, {"threadId": 1}))
        time.sleep(chance.random() * 0.3)
        if outlives or chance.random() < 0.5:
            client.close_streams()
            assert client.process.wait(PATIENCE) == 0
        else:
            os.kill(client.process.pid, signal.SIGKILL)
            client.process.wait(PATIENCE)
        client.close()
        assert not pid.exists() or gone(int(pid.read_text() or 0) or 1 << 22)
