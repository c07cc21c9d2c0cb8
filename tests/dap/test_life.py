"""The life of a session: launched, attached to a log, attached to a program that waits, run again."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
from base64 import b64decode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import graphscope as gs
from tests.dap.conftest import CHAIN
from tests.dap.talking import ROOT, Client, Refused, check, spoken

Write = Callable[[str], Path]
SAMPLES = ROOT / "samples"


@contextlib.contextmanager
def ended(process: subprocess.Popen[str]) -> Iterator[None]:
    """See that a process does not outlive a test."""
    try:
        yield
    finally:
        process.kill()


def alone(program: Path) -> str:
    """What a program prints without a debugger."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, program], capture_output=True, text=True, check=True, env=environment).stdout


SLOW = pytest.mark.slow


@pytest.mark.slow
def test_digits_from_the_middle_of_backward(far_client: Client, write: Write, tmp_path: Path) -> None:
    client = far_client
    shutil.copytree(SAMPLES / "data", tmp_path / "data")
    bits = "print([(p.detach().numpy().tobytes().hex(), p.grad.numpy().tobytes().hex()) for p in (W1, b1, W2, b2)])\n"
    program = write((SAMPLES / "digits.py").read_text() + bits)
    client.launch(program, {"name": "op:mm backward", "hitCondition": "20"})
    assert client.event("stopped")["reason"] == "function breakpoint"
    texts = program.read_text().splitlines()
    node, call = (texts[frame["line"] - 1].strip() for frame in client.stack())
    assert "torch.mm" in node
    assert call == "loss.backward()"
    rows = [client.position()["now"]]
    for _ in range(20):
        client.move("stepBack")
        rows.append(client.position()["now"])
    assert rows == sorted(set(rows), reverse=True)
    client.request("setFunctionBreakpoints", {"breakpoints": [{"name": "op:mm forward"}]})
    stopped = client.move("reverseContinue")
    assert stopped["reason"] == "function breakpoint"
    assert "torch.mm" in texts[client.stack()[0]["line"] - 1]
    assert client.position()["now"] < rows[-1] < client.position()["edge"]
    client.request("setFunctionBreakpoints", {"breakpoints": []})
    client.request("continue", {"threadId": 1})
    assert client.event("exited") == {"exitCode": 0}
    client.event("terminated")
    assert client.output == alone(program)
    assert client.leave() == 0


@pytest.mark.slow
@pytest.mark.parametrize("word", ["value", "grad"])
def test_a_changed_value_has_the_effect_that_it_has_at_the_console(client: Client, chain: Path, word: str) -> None:
    spec = "op:tanh forward" if word == "value" else "op:mul backward"
    client.launch(chain, spec)
    client.event("stopped")
    scope = client.scopes()["Value" if word == "value" else "Gradient"]
    before = client.variables(scope)[word]
    made = client.request("setVariable", {"variablesReference": scope, "name": word, "value": f"{word} * 3"})
    assert made["value"] != before["value"]
    inside = client.variables(scope)[word]["variablesReference"]
    assert list(client.variables(inside, filter="indexed", start=1, count=1)) == ["[1]"]
    client.request("setVariable", {"variablesReference": inside, "name": "[0]", "value": "0.125"})
    assert client.evaluate(f"{word}[0].item()") == "0.125"
    client.request("setFunctionBreakpoints", {"breakpoints": []})
    client.request("continue", {"threadId": 1})
    client.event("terminated")
    client.leave()
    commands = [f"set {word} = {word} * 3", f"set {word} = np.concatenate([[0.125], {word}[1:]])", "clear", "c", "q"]
    shown = subprocess.run(
        [sys.executable, "-m", "graphscope", "debug", "-b", spec, str(chain)],
        input="\n".join(["c", *commands]),
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ).stdout
    told = [line[line.index("done") :] for line in shown.splitlines() if "done" in line]
    assert client.output.splitlines() == told
    assert client.output != alone(chain)


@pytest.mark.slow
def test_a_variable_of_the_program_is_changed(client: Client, chain: Path) -> None:
    client.launch(chain, "op:tanh")
    client.event("stopped")
    local = next(frame for frame in client.stack() if frame["name"] == "layer")
    module = next(frame for frame in client.stack() if frame["name"] == "<module>")
    names = client.variables(client.scopes(local["id"])["Locals"])
    assert {"x", "weight", "scaled"} <= names.keys()
    assert names["x"]["indexedVariables"] == 3
    scope = client.scopes(module["id"])["Locals"]
    assert client.request("setVariable", {"variablesReference": scope, "name": "step", "value": "41"})["value"] == "41"
    assert client.evaluate("step + 1", frameId=module["id"]) == "42"
    assert (
        client.request("setExpression", {"expression": "scaled", "value": "None", "frameId": local["id"]})["value"]
        == "None"
    )
    assert "local" not in client.scopes(module["id"])
    client.leave()


@pytest.mark.slow
def test_a_recorded_log_has_everything_but_running(far_client: Client, chain: Path, tmp_path: Path) -> None:
    client = far_client
    with gs.record(tmp_path / "it.gscope"):
        exec(compile(CHAIN, str(chain), "exec"), {"__name__": "__main__"})
    client.attach(log=str(tmp_path / "it.gscope"))
    assert client.event("stopped")["reason"] == "entry"
    client.request("setFunctionBreakpoints", {"breakpoints": [{"name": "op:tanh backward"}]})
    assert client.move("continue")["reason"] == "function breakpoint"
    assert [frame["line"] for frame in client.stack()] == [6, 16]
    client.move("stepBack")
    client.move("stepBack")
    with pytest.raises(Refused, match="past"):
        client.request("setExpression", {"expression": "value", "value": "1"})
    assert client.evaluate("(w * 2).shape") == "(3,)"
    lines = {"source": {"path": str(chain)}, "breakpoints": [{"line": 6}, {"line": 12}]}
    met, unmet = client.request("setBreakpoints", lines)["breakpoints"]
    assert met["verified"]
    assert "nearest line that did is 13" in unmet["message"]
    sources = client.request("loadedSources")["sources"]
    assert [Path(found["path"]).name for found in sources] == ["prog.py"]
    assert client.leave() == 0


@pytest.mark.parametrize("fault", ["", "cut", "stopped"])
def test_of_a_log_that_is_cut_or_stopped_it_is_said_what_is_missing(client: Client, tmp_path: Path, fault: str) -> None:
    with gs.record(tmp_path / "it.gscope"):
        gs.tensor([1.0], requires_grad=True).sum().backward()
    if fault == "cut":
        os.truncate(tmp_path / "it.gscope" / "tables" / "attrs-000.npy", 200)
    if fault == "stopped":
        about = tmp_path / "it.gscope" / "log.json"
        about.write_text(json.dumps({**json.loads(about.read_text()), "stopped": "the disk is full"}))
    client.attach(log=str(tmp_path / "it.gscope"))
    client.event("stopped")
    outputs = [each["body"] for each in client.seen if each.get("event") == "output"]
    said = [each["output"] for each in outputs if each["category"] == "important"]
    sentences = {
        "cut": "its tables/attrs-000.npy is cut: the log was cut, or copied in part",
        "stopped": "the recording ended before the program did: the disk is full",
    }
    assert said == [f"graphscope: it.gscope: {sentences[fault]}\n" for _ in fault[:1]]
    assert client.leave() == 0


def test_a_source_that_is_gone_is_read_from_the_log(client: Client, chain: Path, tmp_path: Path) -> None:
    with gs.record(tmp_path / "it.gscope"):
        exec(compile(CHAIN, str(chain), "exec"), {"__name__": "__main__"})
    chain.unlink()
    client.attach(log=str(tmp_path / "it.gscope"))
    client.event("stopped")
    reference = client.stack()[0]["source"]["sourceReference"]
    assert client.request("source", {"sourceReference": reference})["content"] == CHAIN
    with pytest.raises(Refused, match="not recorded"):
        client.request("source", {"sourceReference": 77})
    assert client.leave() == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words_of_listen", "token"),
    [pytest.param("", None, marks=pytest.mark.slow), ("'0'", ""), pytest.param("'0', token='own'", "own", marks=SLOW)],
    ids=["process", "printed", "own"],
)
def test_a_program_that_waits_is_held_and_left(
    client: Client, write: Write, words_of_listen: str, token: str | None
) -> None:
    older = "graphscope._version.__version__ = '0.0.1'\n" if token == "own" else ""
    program = write(f"import graphscope\n{older}graphscope.listen({words_of_listen})\n{CHAIN}")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipe = subprocess.PIPE
    with (
        subprocess.Popen([sys.executable, program], stdout=pipe, stderr=pipe, text=True, env=environment) as waiting,
        ended(waiting),
    ):
        assert waiting.stderr is not None
        words = waiting.stderr.readline().split()
        where = words[words.index("at") + 1]
        client.initialize()
        if token is None:
            with pytest.raises(Refused, match="does not wait"):
                client.request("attach", {"processId": os.getpid()})
            place: dict[str, Any] = {"processId": waiting.pid}
        else:
            with pytest.raises(Refused, match="hung up"):
                client.request("attach", {"address": where, "token": "wrong"})
            place = {"address": where, "token": token or words[-1]}
            assert token not in words
        client.request("attach", {**place, "stopOnEntry": True, "granularity": "node"})
        client.event("initialized")
        client.request("setFunctionBreakpoints", {"breakpoints": [{"name": "op:tanh backward"}]})
        client.request("configurationDone")
        assert client.event("stopped")["reason"] == "entry"
        assert client.move("continue")["reason"] == "function breakpoint"
        assert ("the program has graphscope 0.0.1" in client.said) == bool(older)
        assert client.evaluate("step") == "0"
        assert client.move("stepBack")
        assert client.leave() == 0
        out, _ = waiting.communicate(timeout=120)
        assert waiting.returncode == 0
        assert out.startswith("done")


@pytest.mark.slow
def test_run_again_with_breakpoints_kept(client: Client, chain: Path) -> None:
    client.launch(chain, {"name": "op:tanh backward", "hitCondition": ">= 2"})
    client.event("stopped")
    assert client.evaluate("step") == "1"
    client.request("restart")
    assert client.event("stopped")["reason"] == "function breakpoint"
    assert client.evaluate("step") == "1"
    client.request("evaluate", {"expression": "restart", "context": "repl"})
    client.event("stopped")
    client.request("setFunctionBreakpoints", {"breakpoints": []})
    client.request("continue", {"threadId": 1})
    client.event("terminated")
    assert client.output.endswith(alone(chain))
    assert client.leave() == 0


ENDS_LATE = """\
import atexit
import threading
import graphscope as gs

atexit.register(threading.Event().wait)
x = gs.tensor([1.0, 2.0])
y = x * 3
z = y + 1
"""


@pytest.mark.slow
def test_run_again_while_the_run_before_does_not_end(client: Client, write: Write, tmp_path: Path) -> None:
    client.launch(write(ENDS_LATE), {"name": "op:mul forward"}, log=str(tmp_path / "run.gscope"))
    client.event("stopped")
    client.evaluate("again value = value * 10", "repl")
    client.event("stopped")
    assert client.evaluate("value") == "float32 2 [30., 60.]"

    assert "changed by hand" in client.evaluate("diff earlier", "repl")
    assert [gs.load(tmp_path / name).end for name in ("run-1.gscope", "run.gscope")] == [2, 3]


@pytest.mark.slow
def test_end_and_arguments_and_environment(client: Client, write: Write, tmp_path: Path) -> None:
    text = "import os, sys\nprint(sys.argv[1:], os.environ['HERE'], 'HOME' in os.environ, os.getcwd())\nsys.exit(5)\n"
    client.initialize()
    client.request(
        "launch",
        {
            "program": str(write(text)),
            "args": ["a b", "-c"],
            "env": {"HERE": "yes", "HOME": None},
            "cwd": str(tmp_path),
            "stopAtEnd": "never",
        },
    )
    client.event("initialized")
    client.request("configurationDone")
    assert client.event("exited")["exitCode"] == 5
    client.event("terminated")
    printed, told = client.output.splitlines()
    assert printed == f"['a b', '-c'] yes False {tmp_path}"
    assert told.startswith("graphscope: nothing was recorded: ")
    assert client.leave() == 0


@pytest.mark.slow
def test_the_end_can_be_stood_at(client: Client, chain: Path) -> None:
    client.launch(chain, stopAtEnd="always")
    assert client.event("exited")["exitCode"] == 0
    client.event("stopped")
    assert client.move("reverseContinue")["text"] == "the beginning of the recording"
    assert client.leave() == 0


@pytest.mark.slow
def test_memory_of_a_tensor(client: Client, write: Write) -> None:
    client.launch(
        write("import graphscope as torch\nx = torch.arange(1000.0).reshape(10, 100)\ny = x + 0.5\n"), "op:add"
    )
    client.event("stopped")
    value = client.variables(client.scopes()["Value"])["value"]
    read = client.request("readMemory", {"memoryReference": value["memoryReference"], "offset": 400, "count": 8})
    assert struct.unpack("2f", b64decode(read["data"])) == (100.5, 101.5)
    read = client.request("readMemory", {"memoryReference": value["memoryReference"], "offset": 3996, "count": 8})
    assert read["unreadableBytes"] == 4
    named = client.variables(client.scopes()["Locals"])["x"]
    read = client.request("readMemory", {"memoryReference": named["memoryReference"], "offset": 4, "count": 4})
    assert struct.unpack("f", b64decode(read["data"])) == (1.0,)
    client.leave()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said", "hint"),
    [
        (
            ("-c", "import graphscope, sys; graphscope.listen(sys.argv[1])"),
            "graphscope.errors.UsageError: can't wait for a debugger at '{port}': Address already in use",
            "hint: listen('0') takes a free port, listen() a place of its own",
        ),
        (
            ("-m", "graphscope", "dap", "--listen"),
            "graphscope: can't listen at '{port}': Address already in use",
            "hint: --listen 0 takes a free port",
        ),
    ],
    ids=["program", "adapter"],
)
def test_a_port_that_is_taken_is_said_in_a_sentence(words: tuple[str, ...], said: str, hint: str) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        command = [sys.executable, *words, port]
        found = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=60)
    assert found.returncode != 0
    assert found.stderr.splitlines()[-2:] == [said.format(port=port), hint]


@pytest.mark.slow
def test_a_client_without_the_token_learns_nothing(tmp_path: Path) -> None:
    client = Client("--listen", "0", "--once")
    try:
        client.initialize()
        for name, arguments in (
            ("threads", None),
            ("graphscope/position", None),
            ("launch", {"program": "x.py"}),
            ("launch", {"program": "x.py", "token": "no"}),
            ("attach", {"log": str(tmp_path)}),
        ):
            with pytest.raises(Refused, match="token"):
                client.request(name, arguments)
        with pytest.raises(Refused, match="no log"):
            client.request("attach", {"log": str(tmp_path / "none"), "token": client.token})
        assert client.leave() == 0
    finally:
        client.close()


@pytest.mark.slow
def test_a_session_over_a_socket(chain: Path) -> None:
    client = Client("--listen", "127.0.0.1:0", "--once")
    try:
        client.launch(chain, "op:tanh", token=client.token)
        client.event("stopped")
        assert client.evaluate("step") == "0"
        assert client.leave() == 0
    finally:
        client.close()


needs_node = pytest.mark.skipif(
    shutil.which("node") is None or shutil.which("npm") is None, reason="needs node and npm"
)


@pytest.fixture(scope="module")
def other_client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client that VS Code's adapters are tested with, installed from its lock file."""
    folder = tmp_path_factory.mktemp("client")
    shutil.copytree(Path(__file__).parent / "client", folder, dirs_exist_ok=True)
    made = subprocess.run(
        ["npm", "ci", "--no-audit", "--no-fund"], cwd=folder, capture_output=True, text=True, timeout=120
    )
    if made.returncode:
        pytest.skip("the client can't be installed from npm")
    return folder


@needs_node
@pytest.mark.slow
def test_a_client_of_another_maker_drives_the_whole_life(other_client: Path, tmp_path: Path) -> None:
    made = subprocess.run(
        ["node", other_client / "life.js", sys.executable, SAMPLES],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "SPOKEN": str(tmp_path)},
        timeout=120,
    )
    assert made.returncode == 0, made.stderr
    seen = json.loads(made.stdout)
    assert seen["stack"] == [14, 17]
    assert seen["evaluated"] == "(20, 1)"
    assert "from 0.000000 to 0.000\n" in seen["output"]  # the gradient was set to zero
    asked, told = (spoken((tmp_path / name).read_bytes()) for name in ("asked", "told"))
    for message in (*asked, *told):
        check(message)
    answered = {message["request_seq"] for message in told if message["type"] == "response"}
    assert answered == {message["seq"] for message in asked}
