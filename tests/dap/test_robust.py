"""What a program, a client or a request may do wrong: the adapter lives on, and nothing is left behind."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import graphscope as gs
from graphscope.dap.server import serve_socket
from graphscope.errors import UsageError
from tests.dap.conftest import CHAIN
from tests.dap.talking import PATIENCE, Client, Refused

pytestmark = pytest.mark.slow

Write = Callable[[str], Path]

START = "import graphscope as torch\nx = torch.tensor([1.0, 2.0], requires_grad=True)\ny = (x * x).tanh()\n"


def gone(pid: int, within: float = PATIENCE) -> bool:
    """Whether a process ends in time."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize(
    ("ending", "code", "said"),
    [
        pytest.param("import os; os._exit(3)", 3, "status 3", marks=pytest.mark.slow),
        ("import ctypes; ctypes.string_at(0)", -signal.SIGSEGV, "SIGSEGV"),
        pytest.param(
            "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
            -signal.SIGKILL,
            "SIGKILL",
            marks=pytest.mark.slow,
        ),
        pytest.param("import sys; sys.exit(4)", 4, "status 4", marks=pytest.mark.slow),
    ],
    ids=["os._exit", "segfault", "killed", "exit"],
)
def test_a_program_that_dies_leaves_its_log(client: Client, write: Write, ending: str, code: int, said: str) -> None:
    client.launch(write(f"{START}{ending}\n"))
    assert client.event("exited")["exitCode"] == code
    stopped = client.event("stopped")
    assert stopped["reason"] == "exception"
    assert said in stopped["text"]
    assert client.stack()[0]["line"] == 3
    assert "tanh" in client.move("stepBack")["description"] or client.evaluate("op") == "'mul'"
    assert client.evaluate("value.shape") == "(2,)"
    client.move("continue")  # to the end of what it did
    client.request("continue", {"threadId": 1})
    client.event("terminated")
    assert client.leave() == 0


def test_an_exception_stops_where_it_left_with_the_frames_alive(client: Client, write: Write) -> None:
    client.launch(write(f"{START}\ndef broken(depth):\n    return y @ torch.ones(3, depth)\n\nbroken(7)\n"))
    stopped = client.event("stopped")
    assert stopped["reason"] == "exception"
    assert "RuntimeError" in stopped["text"]
    frame = client.stack()[0]["id"]
    python = [frame for frame in client.stack() if frame["name"] == "broken"]
    assert client.evaluate("depth * 2", frameId=python[0]["id"]) == "14"
    assert "RuntimeError" in client.request("exceptionInfo", {"threadId": 1})["description"]
    assert frame
    client.request("continue", {"threadId": 1})
    assert client.event("exited")["exitCode"] == 1
    client.event("terminated")
    assert client.leave() == 0


def test_pause_stops_a_loop_that_makes_no_node(client: Client, write: Write) -> None:
    client.launch(write(f"{START}print('on', flush=True)\nspins = 0\nwhile True:\n    spins += 1\n"))
    while "on" not in client.output:
        client.event("output")
    with pytest.raises(Refused, match="runs"):
        client.request("stackTrace", {"threadId": 1})
    assert client.request("graphscope/position")["running"]
    client.request("pause", {"threadId": 1})
    assert client.event("stopped")["reason"] == "pause"
    assert client.stack()[0]["line"] in (6, 7)
    assert int(client.evaluate("spins")) > 0
    with pytest.raises(Refused, match="gone on"):
        client.request("setExpression", {"expression": "value", "value": "0"})
    client.evaluate("!spins = -5", "repl")
    client.request("continue", {"threadId": 1})
    client.request("pause", {"threadId": 1})
    client.event("stopped")
    assert client.leave() == 0


@pytest.mark.slow
@pytest.mark.parametrize("pause", [("pause", {"threadId": 1}), ("graphscope/input", {"text": "\x03"})], ids=["", "^C"])
def test_pause_stops_at_a_node_where_there_is_one(client: Client, write: Write, pause: tuple[str, object]) -> None:
    client.launch(write(f"{START}print('on', flush=True)\nwhile True:\n    z = x + 1\n"))
    while "on" not in client.output:
        client.event("output")
    client.request(*pause)
    assert client.event("stopped")["reason"] == "pause"
    assert client.stack()[0]["line"] == 6
    client.request("setExpression", {"expression": "value", "value": "-1"})
    client.move("next")
    assert client.evaluate("z.tolist()") == "[-1.0, -1.0]"
    assert client.leave() == 0


@pytest.mark.slow
def test_an_expression_that_never_ends_is_dropped(client: Client, chain: Path) -> None:
    client.launch(chain, "op:tanh")
    client.event("stopped")
    endless = client.send("evaluate", {"expression": "!while True: pass", "context": "repl"})
    assert client.stack()[0]["line"] == 6  # read from the log meanwhile
    client.request("pause", {"threadId": 1})
    assert not client.answer(endless)["success"]
    assert client.evaluate("step") == "0"
    endless = client.send("evaluate", {"expression": "[0 for _ in iter(int, 1)]", "context": "watch"})
    client.request("cancel", {"requestId": endless})
    assert "cancelled" in client.answer(endless)["message"]
    assert client.evaluate("step + 1") == "1"
    assert client.leave() == 0


def test_a_client_that_is_killed_takes_the_program_with_it(chain: Path, write: Write) -> None:
    client = Client()
    client.launch(write(f"import os\nprint(os.getpid(), flush=True)\n{START}while True: pass\n"))
    while "\n" not in client.output:
        client.event("output")
    pid = int(client.output)
    client.close_streams()
    assert client.process.wait(PATIENCE) == 0
    assert gone(pid)


@pytest.mark.slow
@pytest.mark.parametrize("before", [signal.SIG_DFL, signal.SIG_IGN], ids=["", "nohup"])
def test_an_adapter_that_is_killed_takes_the_program_with_it(write: Write, before: signal.Handlers) -> None:
    former = signal.signal(signal.SIGHUP, before)
    client = Client()
    signal.signal(signal.SIGHUP, former)
    client.launch(write(f"import os\nprint(os.getpid(), flush=True)\n{START}while True: pass\n"))
    while "\n" not in client.output:
        client.event("output")
    client.process.kill()
    assert gone(int(client.output.split()[0]))
    client.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_an_adapter_that_is_told_to_end_leaves_nothing(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    client = Client()
    client.launch(write(f"import os\nprint(os.getpid(), flush=True)\n{START}while True: pass\n"))
    while "\n" not in client.output:
        client.event("output")
    assert list((tmp_path / "temporary").iterdir())
    client.process.send_signal(number)
    assert client.process.wait(PATIENCE) == 0
    assert gone(int(client.output.split()[0]))
    assert not list((tmp_path / "temporary").iterdir())
    client.close()


@pytest.mark.slow
def test_a_program_may_be_asked_to_outlive_its_client(chain: Path, tmp_path: Path) -> None:
    client = Client()
    done = tmp_path / "done"
    chain.write_text(CHAIN + f"open({str(done)!r}, 'w').write('yes')\n")
    client.launch(chain, "op:tanh backward", endWithClient=False)
    client.event("stopped")
    client.close_streams()
    assert client.process.wait(PATIENCE) == 0
    assert done.read_text() == "yes"


@pytest.mark.slow
def test_what_the_program_started_ends_with_it(client: Client, write: Write) -> None:
    child = "import subprocess, sys\nit = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
    client.launch(write(f"{child}print(it.pid, flush=True)\n{START}while True: pass\n"))
    while "\n" not in client.output:
        client.event("output")
    assert client.leave() == 0
    assert gone(int(client.output.split()[0]))


PRINTING = "import os\nwhile True:\n    os.write(1, b'x' * 1000)\n"


@pytest.mark.parametrize("by_child", [False, True], ids=["itself", "a_child"])
def test_a_program_that_prints_without_rest_is_left(client: Client, write: Write, by_child: bool) -> None:
    child = f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {PRINTING!r}])\n"
    client.launch(write(f"{child}input()" if by_child else PRINTING))
    while len(client.output) < 100_000:
        client.event("output")
    assert client.leave() == 0


def test_input_colours_and_a_terminal(client: Client, write: Write) -> None:
    client.launch(
        write(
            "import sys, shutil\nprint(sys.stdout.isatty(), shutil.get_terminal_size())\nprint('got', input('? '))\n"
            "print(open('/dev/tty').isatty())\n"
        ),
        rows=30,
        columns=100,
    )
    while "? " not in client.output:
        client.event("output")
    with pytest.raises(Refused, match="< TEXT"):
        client.evaluate("grüß", "repl", frameId=7)  # the frame is of a stop that is long over
    client.evaluate("< grüß", "repl", frameId=7)
    client.event("exited")
    assert "True os.terminal_size(columns=100, lines=30)" in client.output
    assert "got grüß\nTrue" in client.output
    client.leave()


@pytest.mark.slow
def test_a_forked_child_goes_on_without_the_debugger(client: Client, write: Write) -> None:
    forks = "pid = os.fork()\nz = (x + 1).sum()\nif pid == 0:\n    os._exit(7)\nprint(os.waitpid(pid, 0)[1] >> 8)\n"
    text = f"import os\n{START}{forks}"
    client.launch(write(text), "op:sum")
    client.event("stopped")
    client.request("continue", {"threadId": 1})
    assert client.event("exited")["exitCode"] == 0
    assert client.output == "7\n"
    client.leave()


@pytest.mark.slow
def test_what_takes_long_tells_how_far_it_is_and_ends_when_asked(client: Client, write: Write, tmp_path: Path) -> None:
    with gs.record(tmp_path / "it.gscope", values="none"):
        x = gs.ones(2)
        for _ in range(3000):
            x * 2
    client.initialize(supportsProgressReporting=True)
    client.request("attach", {"log": str(tmp_path / "it.gscope")})
    client.event("initialized")
    client.request("configurationDone")
    client.event("stopped")
    slow = {"name": "op:mul", "condition": "sum(range(1000000)) < 0"}
    client.request("setFunctionBreakpoints", {"breakpoints": [slow]})
    client.request("continue", {"threadId": 1})
    begun = client.event("progressStart")
    assert begun["cancellable"]
    assert 0 <= client.event("progressUpdate")["percentage"] < 100
    client.request("cancel", {"progressId": begun["progressId"]})
    assert client.event("progressEnd")["progressId"] == begun["progressId"]
    client.event("stopped")
    assert client.position()["now"] == 0
    endless = client.send("evaluate", {"expression": "[0 for _ in iter(int, 1)]", "context": "hover"})
    client.request("pause", {"threadId": 1})
    assert "interrupted" in client.answer(endless)["message"]
    with pytest.raises(Refused, match="SystemExit"):
        client.evaluate("exit()", "hover")
    assert client.evaluate("1 + 1") == "2"
    client.leave()


MALFORMED = [
    b"[]",
    b"null",
    b"{",
    b"\xff\xfe",
    b'{"type": "request"}',
    b'{"type": "request", "seq": "x", "command": 3}',
    b'{"type": "request", "seq": 5, "command": "no such thing"}',
    b'{"type": "request", "seq": 6, "command": "initialize", "arguments": 7}',
    b'{"type": "request", "seq": 7, "command": "stackTrace"}',
    b'{"type": "nonsense", "seq": 8}',
    b"[" * 100000,
]


def test_malformed_messages_are_refused(far_client: Client) -> None:
    client = far_client
    for text in MALFORMED:
        client.write(text)
        refused = client.next_response()
        assert not refused["success"]
        assert refused["message"]
    assert client.initialize()["supportsStepBack"]
    assert client.leave() == 0


@pytest.mark.parametrize(
    "header",
    [
        b"\r\n\r\n",
        pytest.param(b"Content-Length: x\r\n\r\n", marks=pytest.mark.slow),
        pytest.param(b"Content-Length: -5\r\n\r\n", marks=pytest.mark.slow),
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", marks=pytest.mark.slow),
        b"a:" + b"b" * 200000 + b"\r\n\r\n",
    ],
    ids=["blank", "no number", "negative", "http", "long"],
)
def test_a_malformed_header_is_passed_over(client: Client, header: bytes) -> None:
    client.write(b"", header)
    assert client.initialize()["supportsStepBack"]
    assert client.leave() == 0


def test_what_can_not_be_started_is_said(client: Client, tmp_path: Path, write: Write) -> None:
    client.initialize()
    for arguments, reason in (
        ({}, "program"),
        ({"program": "a", "module": "b"}, "one of them"),
        ({"program": str(tmp_path / "nothing.py")}, "no script"),
        ({"program": str(write("")), "cwd": "/no/such/folder"}, "no folder"),
        ({"program": str(write("")), "python": "/no/such/python"}, "can't be started"),
        ({"program": str(write("")), "capture": "everything"}, "launch: 'capture' can't be 'everything'"),
        ({"module": "no_such_module_at_all"}, "no module"),
        ({"program": str(write("")), "values": "some"}, "values"),
        ({"program": str(write("")), "rows": 1 << 16}, "'rows'"),
    ):
        with pytest.raises(Refused, match=reason):
            client.request("launch", arguments)
    with pytest.raises(Refused, match="no log"):
        client.request("attach", {"log": str(tmp_path / "no.gscope")})
    with pytest.raises(Refused, match="Nobody waits"):
        client.request("attach", {"address": f"unix:{tmp_path}/no"})
    assert client.leave() == 0


@pytest.mark.parametrize(
    "address", ["0.0.0.0:0", "example.org:80", "[::]:0", "nonsense", "unix:/no/such/folder/socket"]
)
def test_nothing_is_bound_beyond_this_machine(address: str) -> None:
    with pytest.raises(UsageError, match=r"not this machine|can't listen"):
        serve_socket(address, lambda where, token: pytest.fail(f"listens at {where}"))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_programs_with_processes_of_their_own_keep_working(client: Client, write: Write, method: str) -> None:
    text = f"""\
        import multiprocessing
        import graphscope as torch

        def work(number):
            return (torch.ones(3) * number).sum().item()

        if __name__ == "__main__":
            y = torch.ones(2).sum()
            with multiprocessing.get_context({method!r}).Pool(2) as pool:
                print(pool.map(work, [1, 2, 3]))
        """
    client.launch(write(text), "op:sum")
    client.event("stopped")
    client.request("continue", {"threadId": 1})
    assert client.event("exited")["exitCode"] == 0
    said, told = client.output.split("\n", 1)
    assert said == "[3.0, 6.0, 9.0]"
    assert "breakpoints don't hold in the processes that the program started" in told
    assert client.leave() == 0


@pytest.mark.slow
def test_threads_have_names_and_stops_of_their_own(client: Client, write: Write) -> None:
    text = """\
        import threading
        import graphscope as torch

        def work(number):
            inside = torch.ones(3) * number
            return inside.tanh()

        first = torch.ones(2).exp()
        workers = [threading.Thread(target=work, args=(n,), name=f"worker {n}") for n in (1, 2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        print("joined")
        """
    client.launch(write(text), "op:tanh")
    seen = set()
    for _ in range(2):
        stopped = client.event("stopped")
        names = {found["id"]: found["name"] for found in client.request("threads")["threads"]}
        name = names[stopped["threadId"]]
        seen.add(name)
        frames = client.request("stackTrace", {"threadId": stopped["threadId"]})["stackFrames"]
        assert frames[1]["name"] == "work"
        assert client.evaluate("number", frameId=frames[1]["id"]) == name.split()[1]
        other = client.request("stackTrace", {"threadId": 1})["stackFrames"]
        assert other[0]["line"] == 8
        client.request("continue", {"threadId": stopped["threadId"]})
    assert seen == {"worker 1", "worker 2"}
    client.event("terminated")
    assert client.output == "joined\n"
    assert client.leave() == 0
