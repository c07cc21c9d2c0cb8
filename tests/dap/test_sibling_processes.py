"""Several processes of one run: each that records has a log of its own, and is seen beside the one that is stepped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import graphscope as gs
from graphscope.eventlog.siblings import siblings
from tests.dap.talking import Client, Refused

Write = Callable[[str], Path]

POOL = """\
    import multiprocessing
    import graphscope as gs

    def work(number):
        with gs.record():
            made = gs.ones(3) * number
            made = made.tanh()

    if __name__ == "__main__":
        before = gs.ones(2).sum()
        for number in (1, 2):
            worker = multiprocessing.get_context({method!r}).Process(target=work, args=(number,))
            worker.start()
            worker.join()
        after = before.exp()
    """


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_that_record_are_threads_beside_the_program(
    client: Client, write: Write, tmp_path: Path, method: str
) -> None:
    log = tmp_path / "run.gscope"
    client.launch(write(POOL.format(method=method)), "op:exp", log=str(log))
    client.event("stopped")
    main, *others = client.request("threads")["threads"]
    assert main["name"] == "MainThread"
    assert [path.name for path in siblings(log)] == [
        f"run-pid{thread['name'].split()[1].rstrip(':')}.gscope" for thread in others
    ]
    found = set()
    for thread in others:
        (frame,) = client.request("stackTrace", {"threadId": thread["id"]})["stackFrames"]
        assert frame["line"] == 7
        assert client.variables(client.scopes(frame["id"])["Value"])["node op"]["value"] == "'tanh'"
        (name,) = client.variables(client.scopes(frame["id"])["Inputs"])
        assert name.startswith("x: made")
        found.add(client.evaluate("inputs[0].sum().item()", frameId=frame["id"]))
        with pytest.raises(Refused, match="past"):
            client.request("setExpression", {"expression": "value", "value": "0", "frameId": frame["id"]})
    assert found == {"3.0", "6.0"}
    client.request("continue", {"threadId": 1})
    assert client.event("exited")["exitCode"] == 0
    client.leave()


def test_ranks_are_looked_at_together_each_as_it_was_at_that_moment(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "3")
    for rank in ("1", "0", "2"):  # one after the other
        monkeypatch.setenv("RANK", rank)
        with gs.record(tmp_path / "run.gscope"):
            (gs.ones(2) * int(rank)).exp()
    client.attach(log=str(tmp_path / "run-rank0.gscope"))
    client.event("stopped")
    own, done, to_come = client.request("threads")["threads"]
    assert [own["name"], done["name"], to_come["name"]] == [f"rank {number}: MainThread" for number in range(3)]
    frame = client.request("stackTrace", {"threadId": done["id"]})["stackFrames"][0]
    assert client.evaluate("op", frameId=frame["id"]) == "'exp'"
    assert client.evaluate("inputs[0].tolist()", frameId=frame["id"]) == "[1.0, 1.0]"
    assert client.request("stackTrace", {"threadId": to_come["id"]})["stackFrames"] == []
    client.leave()
