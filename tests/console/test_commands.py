"""Every command at the prompt, over programs that run: sessions are scripted, facts of their transcripts checked."""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from graphscope.debugger.command_table import COMMANDS, ELSEWHERE
from graphscope.eventlog import siblings
from graphscope.eventlog.reader import load

Debug = Callable[..., str]

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy says so of log(0)


def stops(text: str) -> list[str]:
    """Row and op of each stop that was announced: `2 mul`."""
    return [f"{row} {op}" for row, op in re.findall(r"^> #(\d+) (\S+)", text, re.MULTILINE)]


def after(text: str, line: str, count: int = 1) -> str:
    """What was printed behind the given prompt line, up to the next prompt."""
    parts = re.split(r"^\((?:gs|com)(?: PAST #\d+ of #\d+)?\) ", text, flags=re.MULTILINE)
    found = [part.split("\n", 1)[1] for part in parts if part.split("\n", 1)[0] == line]
    return found[count - 1]


def test_every_command_has_a_test_that_bears_its_name() -> None:
    names = {name.removeprefix("test_") for name, _ in inspect.getmembers(sys.modules[__name__], inspect.isfunction)}
    own = [name for name in COMMANDS if name not in ELSEWHERE]
    missing = [name for name in own if {"!": "statement"}.get(name, name) not in names]

    assert missing == []


@pytest.mark.parametrize("command", COMMANDS.values(), ids=lambda command: command.name)
def test_every_command_is_documented(command: object) -> None:
    assert command.doc.strip()  # type: ignore[attr-defined]
    assert command.name in command.usage.replace("(", "").replace(")", "")  # type: ignore[attr-defined]


def test_the_first_stop_is_the_first_node(debug: Debug, product: str) -> None:
    text = debug(product, "q")

    assert text.splitlines()[:2] == [
        "> #0 tensor (scalar float32) forward prog.py:3 a",
        "-> a = torch.tensor(15.0, requires_grad=True)",
    ]


# Stepping ------------------------------------------------------------------------------------------------------------


def test_next(debug: Debug, product: str) -> None:
    text = debug(product, "n", "n", "n", "n", "n", "q")

    assert stops(text) == ["0 tensor", "1 tensor", "2 mul", "4 mul", "5 accumulate", "6 accumulate"]
    assert "> #4 mul (scalar float32) backward prog.py:5 c" in text


def test_next_sees_each_contribution_to_a_cotangent(debug: Debug, chain: str) -> None:
    live = stops(debug(chain, "goto 9", "n", "n", "n", "n", "q"))
    recorded = stops(debug(chain, "c", "goto 9", "n", "n", "n", "n", "q"))

    assert live[1:] == ["9 mul", "10 accumulate", "11 accumulate", "12 tanh", "13 mul"]
    assert recorded[2:] == live[1:]


def test_next_counts(debug: Debug, product: str) -> None:
    assert stops(debug(product, "n 3", "q")) == ["0 tensor", "4 mul"]


def test_step(debug: Debug, product: str) -> None:
    text = debug(product, "b op:mul backward", "c", "s", "s", "s", "q")

    assert stops(text) == ["0 tensor", "4 mul", "5 mul", "6 mul", "7 accumulate"]
    assert "(in the rule of #4 MulBackward)" in text


def test_stepping_into_a_rule_changes_nothing(debug: Debug, product: str) -> None:
    assert "a.grad 20.0 b.grad 15.0" in debug(product, *["s"] * 10)


def test_other(debug: Debug, product: str) -> None:
    text = debug(product, "c", "goto 2", "other", "other", "goto 0", "other", "goto 1", "q")

    assert stops(text)[2:] == ["2 mul", "4 mul", "2 mul", "0 tensor", "5 accumulate", "1 tensor"]


def test_other_says_when_no_gradient_arrives(debug: Debug) -> None:
    text = debug("import graphscope as gs\nx = gs.tensor(1.0)\ny = x * 2\n", "c", "goto 0", "other", "q")

    assert "No gradient reaches #0 x" in after(text, "other")


def test_same(debug: Debug, product: str) -> None:
    text = debug(product, "c", "goto 0", "same", "same", "same", "q")

    assert stops(text)[2:] == ["0 tensor", "2 mul", "5 accumulate"]  # used, then its gradient
    assert "No later event on this tensor" in after(text, "same", 3)


def test_rsame(debug: Debug, product: str) -> None:
    text = debug(product, "c", "goto 5", "rsame", "rsame", "rsame", "q")

    assert stops(text)[2:] == ["5 accumulate", "2 mul", "0 tensor"]
    assert "No earlier event on this tensor" in after(text, "rsame", 3)


def test_passend(debug: Debug, product: str) -> None:
    text = debug(product, "c", "goto 0", "passend", "passend", "passend", "q")

    assert stops(text)[2:] == ["0 tensor", "2 mul", "6 accumulate"]
    assert "This is the last node" in after(text, "passend", 3)


def test_passbegin(debug: Debug, product: str) -> None:
    text = debug(product, "c", "passbegin", "passbegin", "passbegin", "q")

    assert stops(text)[2:] == ["4 mul", "0 tensor"]
    assert "This is the first node" in after(text, "passbegin", 3)


def test_find(debug: Debug, product: str) -> None:
    text = debug(product, "c", "goto 0", "find accumulate", "find accumulate", "find accumulate", "find nothing", "q")

    assert stops(text)[3:] == ["5 accumulate", "6 accumulate", "5 accumulate"]
    assert "match 1 of 2, round the end" in after(text, "find accumulate", 3)
    assert "No node answers to 'nothing'" in after(text, "find nothing")


def test_rfind(debug: Debug, product: str) -> None:
    text = debug(product, "c", "goto 4", "rfind op:mul", "rfind op:mul", "q")

    assert stops(text)[3:] == ["2 mul", "4 mul"]


def test_until(debug: Debug) -> None:
    program = """\
    import graphscope as torch
    x = torch.tensor([1.0])
    for step in range(5):
        x = x * 2.0
    y = x + 1.0
    """
    text = debug(program, "n", "unt", "q")

    assert "> #1 mul (1 float32) forward prog.py:4 x" in text
    assert re.search(r"^> #\d+ add .* prog.py:5 y$", text, re.MULTILINE)


def test_until_a_line(debug: Debug, chain: str) -> None:
    assert "forward prog.py:14 loss" in after(debug(chain, "unt 14", "q"), "unt 14")


def test_return(debug: Debug, chain: str) -> None:
    text = debug(chain, "n", "r", "r", "q")

    assert "backward prog.py:14 loss" in after(text, "r", 1)
    assert "forward prog.py:5 scaled" in after(text, "r", 2)


def test_return_leaves_a_rule(debug: Debug, product: str) -> None:
    assert stops(debug(product, "tbreak op:mul backward", "c", "s", "r", "q"))[-1] == "7 accumulate"


def test_continue(debug: Debug, product: str) -> None:
    text = debug(product, "c", "q")

    assert "a.grad 20.0 b.grad 15.0" in text
    assert "the program has ended with status 0" in text


def test_rn(debug: Debug, product: str) -> None:
    text = debug(product, "n 4", "rn", "rn", "rn 5", "n", "q")

    assert stops(text) == ["0 tensor", "5 accumulate", "4 mul", "2 mul", "0 tensor", "1 tensor"]
    assert "the beginning of the recording" in text


def test_rs(debug: Debug, product: str) -> None:
    text = debug(product, "b op:mul backward", "c", "s", "s", "rs", "rs", "q")

    assert stops(text)[-2:] == ["5 mul", "4 mul"]


def test_rc(debug: Debug, chain: str) -> None:
    text = debug(chain, "b op:tanh forward", "c", "c", "rc", "rc", "c", "c", "c", "q")
    tanh = [line for line in stops(text) if "tanh" in line]

    assert tanh[2] == tanh[0]  # one back
    assert stops(text)[4] == "0 tensor"  # and to the beginning
    assert tanh[3:5] == tanh[:2]  # replayed up to the live edge
    assert len(set(tanh)) == 3  # and on with the program


def test_going_forward_again_lets_the_program_run(debug: Debug, product: str) -> None:
    text = debug(product, "n 2", "rn", "n", "n", "q")

    assert stops(text) == ["0 tensor", "2 mul", "1 tensor", "2 mul", "4 mul"]


def test_goto(debug: Debug, product: str) -> None:
    text = debug(product, "goto 4", "goto #1", "goto c", "goto 99", "goto nobody", "q")

    assert stops(text)[:4] == ["0 tensor", "4 mul", "1 tensor", "2 mul"]
    assert "the program has ended" in after(text, "goto 99")
    assert after(text, "goto nobody").startswith("*** ")


LOOPS = """
import graphscope as gs
w = gs.tensor([1.0, 2.0], requires_grad=True)
optimizer = gs.optim.SGD([w], lr=0.1)
for epoch in range(1, 4):
    for i in range(5):
        loss = (w * w).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def told(text: str, line: str, count: int = 1) -> list[str]:
    """What is said in brackets behind the given prompt line."""
    return re.findall(r"^\((.*)\)$", after(text, line, count), re.MULTILINE)


def test_goto_a_step_by_the_numbers_of_the_program(debug: Debug) -> None:
    lines = (
        "goto epoch 2 batch 3",
        "p epoch, i",
        "goto epoch 1, batch 4",
        "goto step 3",
        "goto epoch 7",
        "goto step 0",
    )
    text = debug(LOOPS, *lines, "q")

    assert after(text, "p epoch, i").startswith("(2, 3)")
    assert told(text, lines[2]) == ["epoch 1, batch 4"]
    assert told(text, lines[3]) == ["epoch 1, batch 2"]
    assert "the program has ended" in after(text, "goto epoch 7")
    assert "*** There is no step 0" in after(text, "goto step 0")
    assert "hint: those that are recorded are epoch 1, batch 0 to epoch 3, batch 4" in after(text, "goto step 0")


@pytest.mark.slow
def test_steps(debug: Debug) -> None:
    text = debug(LOOPS, "goto epoch 2 batch 1", "steps", "c", "steps epoch 3", "steps 99", "steps x", "steps all", "q")
    weights, rows = [1.0, 2.0], []
    for epoch in range(1, 4):
        for batch in range(5):
            squares = sum(each * each for each in weights)
            rows.append((f"epoch {epoch}, batch {batch}", f"{squares:.4g}", f"{2 * squares**0.5:.4g}", "0.1"))
            weights = [each - 0.1 * 2 * each for each in weights]

    def listed(line: str, count: int = 1) -> list[tuple[str, ...]]:
        found = re.findall(
            r"^.(?: +)?(epoch \d, batch \d) +(\S+) +(\S+) +(0\.1) ", after(text, line, count), re.MULTILINE
        )
        return [(title, f"{float(loss):.4g}", f"{float(norm):.4g}", rate) for title, loss, norm, rate in found]

    assert listed("steps") == rows[:6]
    assert re.search(r"^> +epoch 2, batch 1 ", after(text, "steps"), re.MULTILINE)
    assert listed("steps epoch 3") == rows[10:]
    assert after(text, "steps all").startswith("loss █")
    assert listed("steps all") == rows
    for line in ("99", "x"):
        assert f"*** There is no step '{line}'" in after(text, f"steps {line}")


def test_nextstep(debug: Debug) -> None:
    text = debug(LOOPS, "nextstep", "p epoch, i", *["nextstep"] * 5, "p epoch, i", "prevstep", "nextstep", "q")

    assert after(text, "p epoch, i").startswith("(1, 1)")
    assert after(text, "p epoch, i", 2).startswith("(2, 1)")
    assert told(text, "nextstep", 7)[0] == "epoch 2, batch 1"


def test_prevstep(debug: Debug) -> None:
    text = debug(LOOPS, "goto epoch 2 batch 0", "n 3", *["prevstep"] * 7, "q")

    assert [told(text, "prevstep", count) for count in (1, 2, 6)] == [
        ["epoch 2, batch 0"],
        ["epoch 1, batch 4"],
        ["epoch 1, batch 0"],
    ]
    assert "*** No training step begins ahead of this one" in after(text, "prevstep", 7)


def test_when(debug: Debug, product: str) -> None:
    text = debug(product, "n 2", "rn", "when", "q")

    assert re.search(r"^row +1$", text, re.MULTILINE)
    assert re.search(r"^the program waits at +#2$", text, re.MULTILINE)


def test_ranks(debug: Debug, product: str) -> None:
    assert "No collective is recorded" in debug(product, "ranks", "q")  # tests/adapters tells of some


def test_rank(debug: Debug, product: str) -> None:
    text = debug(product, "rank", "rank 1", "q")  # tests/debugger/test_ranks.py turns to others

    assert "This run has one log alone" in after(text, "rank")
    assert "The program waits in this process" in after(text, "rank 1")


def test_checkpoint(debug: Debug, product: str) -> None:
    text = debug(product, "checkpoint", "n 2", "checkpoint here", "goto c1", "goto here", "info checkpoints", "q")

    assert "Checkpoint c1 is #0" in text
    assert stops(text) == ["0 tensor", "2 mul", "0 tensor", "2 mul"]
    assert re.search(r"^here +#2$", text, re.MULTILINE)


def test_restart(debug: Debug, product: str) -> None:
    text = debug(product, "b c forward", "c", "restart", "c", "p value", "q")

    assert stops(text) == ["0 tensor", "2 mul", "0 tensor", "2 mul"]
    assert "Restarting the program" in text
    assert "array(300., dtype=float32)" in text


def test_restart_with_arguments(debug: Debug) -> None:
    program = """\
    import graphscope as torch
    x = torch.tensor(1.0)
    print("arguments", arguments)
    """
    assert "arguments ('--fast', 'two words')" in debug(program, "restart --fast 'two words'", "c", "q")


KEPT = """\
import graphscope as torch
x = torch.tensor([1.0, 2.0])
y = x * 3
z = y + 1
"""


def test_restart_keeps_what_was_set_up(debug: Debug) -> None:
    lines = (
        "b op:add, value.max() > 1",
        "ignore 1 1",
        "n",
        "watch value",
        "display x.sum()",
        "checkpoint here",
        "c",
        "c",
    )
    text = debug(KEPT, *lines, "restart", "b", "watch x", "watch", "display", "alias", "goto here", "q")

    assert "op:add, value.max() > 1" in after(text, "b")
    assert "Watch 2: x" in after(text, "watch x")
    assert re.search(r"1 +value +0 +undefined", after(text, "watch"))  # its node is yet to come
    assert "x.sum()" in after(text, "display")
    assert stops(after(text, "goto here")) == ["1 mul"]


def test_again(debug: Debug) -> None:
    lines = (
        "b op:add",
        "n",
        "c",
        "goto 1",
        "again value = value * 10",
        "diff",
        "c",
        "p value",
        "c",
        "diff earlier",
        "diff next",
        "q",
    )
    text = debug(KEPT, *lines)

    there = after(text, "again value = value * 10")
    assert stops(there) == ["1 mul"]
    assert "the program goes on with this" in there
    assert "what mul made was changed by hand" in after(text, "diff")
    assert "array([31., 61.], dtype=float32)" in after(text, "p value")
    ended = after(text, "diff earlier")
    assert stops(ended) == ["1 mul"]
    assert re.search(r"^a #1 mul prog\.py:3: \[30\., 60\.\] \(edited", ended, re.MULTILINE)
    assert re.search(r"^b #1 mul prog\.py:3: \[3\., 6\.\]$", ended, re.MULTILINE)
    assert stops(after(text, "diff next")) == ["3 add"]


@pytest.mark.slow
def test_again_in_a_run_that_is_recorded(debug: Debug, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(siblings.RUN, f"{os.getppid()}:{tmp_path / 'run.gscope'}")
    text = debug(KEPT, "b op:add", "n", "again value = value * 10", "c", "diff earlier", "q")

    assert "what mul made was changed by hand" in after(text, "diff earlier")
    names = (f"run-pid{os.getpid()}{ending}.gscope" for ending in ("-1", ""))
    assert [load(tmp_path / name).end for name in names] == [2, 4]


def test_a_run_is_not_compared_with_itself(debug: Debug, tmp_path: Path) -> None:
    text = debug(KEPT, "n", "diff run.gscope", "q", log=tmp_path / "run.gscope")

    assert "run.gscope is the log of this run itself" in after(text, "diff run.gscope")


def test_again_with_another_gradient(debug: Debug, product: str) -> None:
    text = debug(product, "c", "goto 4", "again grad = 10.0", "c", "diff", "q")

    assert stops(after(text, "again grad = 10.0")) == ["4 mul"]
    assert "a.grad 200.0 b.grad 150.0" in after(text, "c", 2)
    assert "the gradient that came to mul was changed by hand" in " ".join(after(text, "diff").split())


def test_again_counts_no_edit_of_the_run_before(debug: Debug) -> None:
    lines = ("n", "set value = 0", "c", "goto 3", "again", "p value", "again value = nobody", "again this", "q")
    text = debug(KEPT, *lines)

    assert stops(after(text, "again")) == ["2 add"]
    assert "where you stood in the run before" in after(text, "again")
    assert "array([4., 7.], dtype=float32)" in after(text, "p value")
    assert "nothing is changed: NameError" in after(text, "again value = nobody")
    assert after(text, "again this").startswith("*** `set this` is not understood")


def test_again_changes_nothing_where_the_program_takes_another_way(debug: Debug) -> None:
    program = """\
    import pathlib
    import graphscope as torch
    x = torch.tensor([1.0, 2.0])
    mark = pathlib.Path("mark")
    y = x * 3 if not mark.exists() else x + 3
    mark.touch()
    """
    text = debug(program, "c", "again value = 0", "p value", "q")

    assert "the run before had mul here" in after(text, "again value = 0")
    assert "array([4., 5.], dtype=float32)" in after(text, "p value")


def test_the_run_before_a_named_log_stays_beside_it(debug: Debug, tmp_path: Path) -> None:
    log = tmp_path / "run1"
    text = debug(KEPT, "n", "b op:add", "again value = 0", "c", "diff", "q", log=log)

    assert "changed by hand" in after(text, "diff")
    assert "(gs) again" in text
    assert [load(tmp_path / name).end for name in ("run1-1", "run1")] == [2, 4]


def test_the_prompt_says_where_one_stands_in_the_past(debug: Debug) -> None:
    text = debug(KEPT, "n", "n", "rn", "n", "c", "rn", "q")

    assert [line.split(") ")[0] for line in text.splitlines() if line.startswith("(gs")] == [
        "(gs", "(gs", "(gs", "(gs PAST #1 of #2", "(gs", "(gs", "(gs",
    ]  # fmt: skip


def test_run(debug: Debug) -> None:
    program = """\
    import graphscope as torch
    x = torch.tensor([1.0, 0.0], requires_grad=True)
    for step in range(3):
        y = x.log()
        torch.step()
    """
    text = debug(program, "run -f has_inf_or_nan", "run --times 1", "run --op_type_filter ^lo", "run", "q")

    assert "forward prog.py:4 y" in after(text, "run -f has_inf_or_nan")
    assert "forward prog.py:4 y" in after(text, "run --times 1")
    assert "Restarting the program" in after(text, "run")
    assert "*** There is no tensor filter 'odd'" in debug(program, "run -f odd", "q")


def test_run_to_the_end(debug: Debug, product: str) -> None:
    assert "the program has ended" in after(debug(product, "b mul", "run -n", "q"), "run -n")


def test_last(debug: Debug, chain: str) -> None:
    text = debug(chain, "b op:sum forward", "c", "c", "last w.grad", "last nobody", "q")

    assert "accumulate (3 float32) backward prog.py:10 w" in after(text, "last w.grad")
    assert "*** 'nobody' has no value here" in text


# Breakpoints ---------------------------------------------------------------------------------------------------------


def test_break(debug: Debug, chain: str) -> None:
    text = debug(chain, "b op:tanh backward", "b", "c", "q")

    assert "Breakpoint 1 at op:tanh backward" in text
    assert re.search(r"^1 +keep +yes +0 ", text, re.MULTILINE)
    assert "(breakpoint 1: op:tanh backward)" in text
    assert re.search(r"^> #\d+ tanh \(3 float32\) backward prog.py:6\n-> return scaled.tanh\(\)$", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("spec", "announced"),
    [
        ("#2", "> #2 mul"),
        ("loss", "prog.py:14 loss"),
        ("name:sc*", "prog.py:5 scaled"),
        ("line:prog.py:13", "prog.py:13 y"),
        ("13", "prog.py:13 y"),
        ("prog.py:13", "prog.py:13 y"),
        ("op:mul and name:y and backward", "backward prog.py:13 y"),
        ("mul, value.max() > 0.85", "prog.py:5 scaled"),
        ("op:mul forward, name == 'y'", "forward prog.py:13 y"),
        ("accumulate, isnan(grad) | (grad > 0)", "accumulate"),
    ],
)
def test_break_specs(debug: Debug, chain: str, spec: str, announced: str) -> None:
    assert announced in after(debug(chain, f"b {spec}", "c", "q"), "c")


def test_break_before(debug: Debug, chain: str) -> None:
    text = debug(chain, "b op:tanh before", "c", "p inputs[0]", "p value", "inputs", "n", "q")

    assert "> #3 tanh (not computed yet) forward prog.py:6" in text
    assert "array([0.1" in after(text, "p inputs[0]")
    assert "tanh is not computed yet" in after(text, "p value")
    assert "scaled" in after(text, "inputs")
    assert "> #3 tanh (3 float32) forward prog.py:6" in after(text, "n")


def test_break_nan(debug: Debug) -> None:
    program = """\
    import graphscope as torch
    x = torch.tensor([1.0, 0.0], requires_grad=True)
    y = x.log()
    z = y * 0.0
    """
    text = debug(program, "b nan", "c", "c", "q")

    assert "forward prog.py:3 y" in after(text, "c", 1)
    assert "breakpoint" not in after(text, "c", 2)  # what `z` holds was born before


def test_a_condition_that_raises_stops_and_says_so(debug: Debug, product: str) -> None:
    text = debug(product, "b mul, value.nobody > 1", "c", "q")

    assert "the condition 'value.nobody > 1' raised AttributeError" in after(text, "c")


def test_breakpoints_of_the_command_line(debug: Debug, product: str) -> None:
    assert stops(debug(product, "c", "q", breakpoints=("mul forward",))) == ["0 tensor", "2 mul"]


def test_tbreak(debug: Debug, chain: str) -> None:
    text = debug(chain, "tbreak op:tanh forward", "c", "b", "c", "q")

    assert "(temporary breakpoint 1: op:tanh forward)" in text
    assert "No breakpoints" in after(text, "b")
    assert "the program has ended" in after(text, "c", 2)


def test_clear(debug: Debug, product: str) -> None:
    text = debug(product, "b mul", "b add", "cl 1", "cl 7", "cl", "c", "q")

    assert "Removed breakpoint 1 at mul" in text
    assert "*** There is no breakpoint 7\nhint: there is 2" in text
    assert "the program has ended" in after(text, "c")


def test_disable(debug: Debug, product: str) -> None:
    assert "the program has ended" in after(debug(product, "b mul", "disable 1", "c", "q"), "c")


def test_enable(debug: Debug, product: str) -> None:
    assert "> #2 mul" in after(debug(product, "b mul", "disable", "enable 1", "c", "q"), "c")


def test_ignore(debug: Debug, chain: str) -> None:
    text = debug(chain, "b op:tanh forward", "ignore 1 2", "c", "c", "q")

    assert "p" not in after(text, "ignore 1 2")[:1]
    assert len([line for line in stops(text) if "tanh" in line]) == 1


def test_condition(debug: Debug, chain: str) -> None:
    text = debug(chain, "b mul", "condition 1 name == 'y'", "c", "condition 1", "c", "condition 1 (", "q")

    assert "forward prog.py:13 y" in after(text, "c", 1)
    assert "backward prog.py:13 y" in after(text, "c", 2)
    assert after(text, "condition 1 (").startswith("*** '(' is no Python expression")


def test_commands(debug: Debug, chain: str) -> None:
    text = debug(chain, "b op:tanh forward", "commands 1", "silent", "p value.shape", "c", "end", "c", "q")

    assert text.count("(3,)") == 3  # at each of the three hits, then on
    assert "> #3 tanh" not in text
    assert "the program has ended" in text


def test_watch(debug: Debug, chain: str) -> None:
    text = debug(chain, "watch w.grad", "c", "c", "watch", "rc", "q")

    assert "Watch 1: w.grad, now undefined" in text
    assert "watch 1: w.grad: None -> [" in text
    assert re.search(r"^1 +w.grad +\d", text, re.MULTILINE)


def test_unwatch(debug: Debug, chain: str) -> None:
    text = debug(chain, "watch w.grad", "unwatch 4", "unwatch 1", "c", "q")

    assert "*** There is no watch 4" in text
    assert "the program has ended" in after(text, "c")


# Looking -------------------------------------------------------------------------------------------------------------


def test_where(debug: Debug, chain: str) -> None:
    text = debug(chain, "b op:tanh forward", "c", "w", "rn", "w", "q")

    assert re.search(
        r"^  .*prog.py\(12\)<module>\n-> h = layer\(x, w\)\n> .*prog.py\(6\)layer$", after(text, "w", 1), re.MULTILINE
    )
    assert re.search(r"^> .*prog.py\(5\)layer \(recorded\)$", after(text, "w", 2), re.MULTILINE)


def test_up(debug: Debug, chain: str) -> None:
    text = debug(chain, "b op:tanh forward", "c", "u", "!step", "!scaled", "u", "u", "u", "u", "q")

    assert re.search(r"^> .*prog.py\(12\)<module>$", after(text, "u"), re.MULTILINE)
    assert after(text, "!step") == "0\n"
    assert "'scaled' is no command" in after(text, "!scaled")
    assert "*** This is the oldest frame" in text


def test_down(debug: Debug, chain: str) -> None:
    text = debug(chain, "b op:tanh forward", "c", "u", "d", "p scaled.shape", "d", "q")

    assert "torch.Size([3])" in after(text, "p scaled.shape")
    assert "*** This is the newest frame" in after(text, "d", 2)


def test_up_and_down_show_one_frame(debug: Debug, chain: str) -> None:
    text = debug(chain, "b op:tanh forward", "c", "u", "d", "q")

    assert after(text, "u").count("\n") == after(text, "d").count("\n") == 2


def test_what_comes_later_in_time(debug: Debug, product: str) -> None:
    text = debug(product, "n 4", "goto 0", "info c", "p c", "info #2", "info d", "q")

    assert after(text, "info c") == "*** 'c' comes later in time\nhint: goto 2 is there\n"
    assert after(text, "p c") == "*** NameError: name 'c' is not defined\nhint: it is made later in time: goto 2\n"
    assert after(text, "info #2") == "*** '#2' comes later in time\nhint: goto 2 is there\n"
    assert "no node answers to 'd'" in after(text, "info d")


def test_before_is_of_the_forward_pass(debug: Debug, product: str) -> None:
    text = debug(product, "b op:mul backward before", "b op:mul before", "q")

    assert "hint: b op:mul backward\n" in after(text, "b op:mul backward before")
    assert "Breakpoint 1" in after(text, "b op:mul before")


def test_a_large_watch_is_told_in_a_few_numbers(debug: Debug) -> None:
    text = debug(
        "import graphscope as gs\nx = gs.ones(50, 50)\ny = x * 2\nx.add_(1)\n", "watch x", "c", "watch no.w", "q"
    )

    assert "(watch 1: x: 1 .. 1, mean 1 -> 2 .. 2, mean 2)" in text
    assert "nothing has these names" in after(text, "watch no.w")


def test_list_tensors_of_a_long_log(debug: Debug) -> None:
    text = debug(
        "import graphscope as gs\nx = gs.ones(2)\nfor i in range(300):\n    x = x * 1\n", "c", "lt", "lt mul", "q"
    )

    for line, count in (("lt", 301), ("lt mul", 300)):
        found = after(text, line).splitlines()
        assert found[0] == f"{count} tensors"
        assert [row.split()[0] for row in found[2:-1]] == [f"#{row}" for row in range(101, 301)]
        assert found[-1].startswith(f"{count - 200} ahead of these")


def test_list(debug: Debug, chain: str) -> None:
    text = debug(chain, "b 13", "c", "l", "l", "l .", "l 5", "l 1, 3", "l 99", "l x", "q")

    assert re.search(r"^  13 B-> +y = h \* h$", after(text, "l"), re.MULTILINE)
    assert re.search(r"^   3 ", after(text, "l 1, 3"), re.MULTILINE)
    assert "   4 " not in after(text, "l 1, 3")
    assert "*** " in after(text, "l 99")
    assert "*** 'x' are no lines" in text


def test_ll(debug: Debug, chain: str) -> None:
    text = debug(chain, "b op:tanh forward", "c", "ll", "q")

    assert [line.split()[0] for line in after(text, "ll").splitlines()] == ["4", "5", "6"]


def test_args(debug: Debug, product: str) -> None:
    text = debug(product, "n 2", "a", "q")

    assert re.search(r"^x +#0 +a +scalar +15.$", text, re.MULTILINE)
    assert re.search(r"^y +#1 +b +scalar +20.$", text, re.MULTILINE)


def test_p(debug: Debug, product: str) -> None:
    text = debug(product, "n 3", "p grad + 1", "p value", "p #2.value", "p c.item()", "p 1/0", "p (", "p", "q")

    assert "2.0" in after(text, "p grad + 1")
    assert "300." in after(text, "p value")
    assert "300." in after(text, "p #2.value")
    assert "300.0" in after(text, "p c.item()")
    assert "*** ZeroDivisionError: division by zero" in text
    assert "*** '(' is no Python expression" in text
    assert "*** `p` needs EXPRESSION" in text


def test_the_words_win_over_the_program(debug: Debug) -> None:
    program = """\
    import graphscope as torch
    value = "mine"
    x = torch.tensor(1.0)
    """
    text = debug(program, "p value", "!value", "q")

    assert "array(1., dtype=float32)" in after(text, "p value")
    assert "'mine'" in after(text, "!value")


def test_expressions_leave_no_rows(debug: Debug, product: str) -> None:
    text = debug(product, "n", "p a * 20", "display (a * 2).item()", "n", "q")

    assert "300" in after(text, "p a * 20")
    assert "> #2 mul (scalar float32) forward prog.py:5 c" in text


def test_pp(debug: Debug, product: str) -> None:
    assert "'aaaa" in after(debug(product, "pp {'a' * 60: 1, 'b' * 60: 2}", "q"), "pp {'a' * 60: 1, 'b' * 60: 2}")


def test_whatis(debug: Debug, product: str) -> None:
    assert after(debug(product, "whatis value", "q"), "whatis value").startswith("<class 'numpy.ndarray'>\n")


def test_source(debug: Debug, product: str) -> None:
    text = debug(product, "n 3", "source", "formula a", "q")

    assert "out = x · y" in after(text, "source")
    assert "grad of x: " in after(text, "source")
    assert "is a leaf" in after(text, "formula a")


def test_inputs(debug: Debug, product: str) -> None:
    text = debug(product, "inputs", "n 2", "inputs", "q")

    assert "has no inputs" in after(text, "inputs", 1)
    assert re.search(r"^#0 +a +a .*\n#1 +b +b ", after(text, "inputs", 2), re.MULTILINE)


def test_outputs(debug: Debug, product: str) -> None:
    text = debug(product, "outputs", "n 2", "outputs a", "q")

    assert "Nothing has used" in after(text, "outputs")
    assert re.search(r"^#2 +mul +c ", after(text, "outputs a"), re.MULTILINE)


def test_grad(debug: Debug, product: str) -> None:
    text = debug(product, "grad", "n 3", "grad", "n", "grad a", "q")

    assert "no gradient has reached it up to now" in after(text, "grad", 1)
    assert "1." in after(text, "grad", 2)
    assert "20." in after(text, "grad a")


def test_contributions(debug: Debug, chain: str) -> None:
    text = debug(chain, "c", "contributions w", "q")

    assert len(re.findall(r"^#\d+ +#\d+ +MulBackward +prog.py:5 ", after(text, "contributions w"), re.MULTILINE)) == 1


def test_path(debug: Debug, chain: str) -> None:
    text = debug(chain, "c", "path w loss", "path x", "path a b c", "q")

    assert [line.split()[1] for line in after(text, "path w loss").splitlines()[1:3]] == ["w", "mul"]
    assert "takes one or two nodes" in text


def test_inside(debug: Debug) -> None:
    program = """\
        import graphscope as gs

        x = gs.tensor([[1.0, 2.0, 4.0]], requires_grad=True)
        y = gs.softmax(x, 1)
        y.sum().backward()
        """
    text = debug(program, "c", "inside y", "inside #1 shifted", "inside x", "inside #1 curve", "info compile", "q")

    assert [line.split()[0] for line in after(text, "inside y").splitlines()[2:]] == [
        "shifted",
        "exp",
        "sum",
        "softmax",
    ]
    assert "array([[-3., -2.,  0.]]" in after(text, "inside #1 shifted")
    assert "has no parts that are known here" in after(text, "inside x")
    assert "its parts: shifted, exp, sum, softmax" in after(text, "inside #1 curve")
    assert "record with `--capture compiled`" in after(text, "info compile")  # tests/adapters has compiled programs


def test_why(debug: Debug) -> None:
    program = """\
    import graphscope as torch
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    h = w.detach()
    v = torch.tensor([3.0, 4.0], requires_grad=True)
    (h * v).sum().backward()
    """
    text = debug(program, "why", "c", "why w", "why v", "q")

    assert "no backward pass has run since w was made at prog.py:2" in after(text, "why")
    assert "no gradient flows from sum to w: detach at prog.py:3 cuts the way" in after(text, "why w")
    assert "v.grad is neither None nor zero" in after(text, "why v")


@pytest.mark.slow
def test_why_is_the_same_wherever_one_stands(debug: Debug) -> None:
    program = """\
    import graphscope as torch
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    idle = torch.tensor([3.0, 4.0], requires_grad=True)
    for step in range(2):
        loss = (w * w).sum()
        loss.backward()
    """
    places = ["c", "goto w", "goto loss", "goto #4", "goto #6"]
    commands = [line for place in places for line in (place, "why idle", "why w")]
    text = debug(program, *commands, "q")

    asked = [part.partition("(gs)")[0].splitlines()[1:] for part in text.split("(gs) why ")[1:]]
    for answers in (asked[::2], asked[1::2]):
        assert len({lines[0] for lines in answers}) == 1
    assert asked[0][0].endswith("nothing uses it")
    assert any("As of #3: no backward pass has run since w was made" in line for line in asked[7])
    assert any("As of #0 it was not there yet" in line for line in asked[2])
    assert "This is the loss of #3; the newest is #11" in after(debug(program, "c", "goto #4", "why", "q"), "why")


STEPPED = """\
import graphscope as torch
h = torch.tensor([[1.0, 2.0]])
W = torch.ones(2, 2, requires_grad=True)
scale = torch.tensor([[2.0], [3.0]])
out = torch.mm(W, h.t()) * scale
loss = out.sum()
loss.backward()
"""


def test_stepping_into_a_rule_makes_no_leaf_and_no_name(debug: Debug) -> None:
    text = debug(
        STEPPED, "b backward", "c", *["s"] * 12, "cl 1", "c", "lt", "goto loss", "why loss", "path W loss", "q"
    )

    assert "in the rule of" in text
    assert after(text, "lt").count(" leaf ") == 0
    assert "loss.grad is neither None nor zero" in after(text, "why loss")
    assert re.search(r"W .* mm .* loss", " ".join(after(text, "path W loss").split()))


def test_info(debug: Debug, product: str) -> None:
    text = debug(product, "n 2", "info", "#0", "info log", "info breakpoints", "info nobody", "q")

    assert re.search(r"^formula +out = x · y$", after(text, "info"), re.MULTILINE)
    assert re.search(r"^kind +leaf, forward$", after(text, "#0"), re.MULTILINE)
    assert re.search(r"^rows +#0 to #2$", after(text, "info log"), re.MULTILINE)
    assert "No breakpoints" in text
    assert after(text, "info nobody").startswith("*** ")


def test_display(debug: Debug, product: str) -> None:
    text = debug(product, "display value + 1", "n", "n", "display", "q")

    assert "display value + 1: " in after(text, "n", 1)
    assert "301" in after(text, "n", 2)


def test_undisplay(debug: Debug, product: str) -> None:
    text = debug(product, "display op", "display row", "undisplay op", "undisplay 9", "undisplay", "n", "q")

    assert "*** '9' is not displayed" in text
    assert "display" not in after(text, "n")


def test_export(debug: Debug, product: str) -> None:
    text = debug(product, "c", "export g.dot", "export g.odd", "q")

    assert "Written to g.dot" in text
    assert after(text, "export g.odd").startswith("*** ")


def test_export_draws_another_view(debug: Debug, product: str) -> None:
    text = debug(
        product, "b op:mul backward", "c", "rc", "c", "export g.dot view:chain name:a", "export g.dot view:odd", "q"
    )

    assert "Written to g.dot" in text
    assert "there is no view 'odd'" in after(text, "export g.dot view:odd")


# Values --------------------------------------------------------------------------------------------------------------


def test_set(debug: Debug, product: str) -> None:
    text = debug(product, "b op:mul backward", "c", "set grad = grad * 10", "p grad", "c", "q")

    assert "10." in after(text, "p grad")
    assert "a.grad 200.0 b.grad 150.0" in text


def test_set_value(debug: Debug, product: str) -> None:
    text = debug(product, "set value = 2", "n 2", "p value", "c", "q")

    assert "40." in after(text, "p value")
    assert "a.grad 20.0 b.grad 2.0" in text


def test_set_refuses_what_does_not_fit(debug: Debug, chain: str) -> None:
    text = debug(chain, "set value = [1, 2]", "set grad = 1", "set lr = 1", "n", "rn", "set value = 1", "q")

    assert "'[1, 2]' is a list" in after(text, "set value = [1, 2]")
    assert "waits with its value" in after(text, "set grad = 1")
    assert "!NAME = EXPR" in after(text, "set lr = 1")
    assert "What is past can't be changed" in after(text, "set value = 1")


def test_cut(debug: Debug, product: str) -> None:
    text = debug(product, "b op:mul forward", "c", "cut", "c", "q")

    assert after(text, "cut").startswith("*** This value can't be cut off")  # only what PyTorch computed can be
    assert "a.grad 20.0 b.grad 15.0" in text


def test_inject_value(debug: Debug, product: str) -> None:
    text = debug(product, "b op:mul backward", "c", "inject_value c 3.0", "inject_value a 1", "c", "q")

    assert "*** The program does not wait at 'a'" in text
    assert "a.grad 60.0 b.grad 45.0" in text


# tfdbg's words -------------------------------------------------------------------------------------------------------


def test_lt(debug: Debug, chain: str) -> None:
    text = debug(
        chain, "c", "lt -f has_inf_or_nan", "lt op:tanh forward", "lt -n ^loss -s op -r", "lt -s odd", "lt -z", "q"
    )

    assert "0 tensors" in after(text, "lt -f has_inf_or_nan")
    assert after(text, "lt op:tanh forward").startswith("3 tensors")
    assert "*** `lt` can't sort by 'odd'" in text
    assert "*** `lt` has no flag -z" in text


def test_ni(debug: Debug, chain: str) -> None:
    assert re.search(r"^op +mul$", after(debug(chain, "c", "ni y", "q"), "ni y"), re.MULTILINE)


def test_li(debug: Debug, chain: str) -> None:
    text = debug(chain, "c", "li y", "li y -r", "q")

    assert len(after(text, "li y").splitlines()) == 3
    assert {"x", "w", "scaled"} <= set(after(text, "li y -r").split())


def test_lo(debug: Debug, chain: str) -> None:
    text = debug(chain, "b loss backward", "c", "lo w", "lo w -r -d 9", "q")

    assert "scaled" in after(text, "lo w")
    assert "loss" in after(text, "lo w -r -d 9")


def test_pt(debug: Debug, chain: str) -> None:
    text = debug(chain, "c", "pt x[0:2]", "pt x -s", "pt #0", "pt nobody", "pt ((", "q")

    assert "array([1., 2.], dtype=float32)" in after(text, "pt x[0:2]")
    assert "min 1 max 3" in after(text, "pt x -s")
    assert "array([1., 2., 3.], dtype=float32)" in after(text, "pt #0")
    assert after(text, "pt nobody").startswith("*** ")
    assert after(text, "pt ((").startswith("*** ")


def test_ps(debug: Debug, product: str) -> None:
    text = debug(product, "c", "ps", "ps prog.py -b 5", "ps odd.py", "q")

    assert re.search(r"^   3 +a = .*\[#0 #5\]$", after(text, "ps"), re.MULTILINE)
    assert after(text, "ps prog.py -b 5").startswith("   5 ")
    assert "*** The source of odd.py was not recorded" in text


# Runs of a session -------------------------------------------------------------------------------------------------

SESSION = """\
import graphscope as gs
import graphscope.static as tf

with tf.Graph().as_default():
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.log(x, name="y")
    total = tf.reduce_sum(y, name="total")
    with tf.Session() as session:
        session.run(total, {x: [1, 1]})
        session.run(total, {x: [1, 0]})
"""


def test_ev(debug: Debug) -> None:
    text = debug(SESSION, "c", "ev `y:0`.sum() - `x`[0]", "ev `nobody`", "ev", "q")

    assert "inf" in after(text, "ev `y:0`.sum() - `x`[0]")
    assert after(text, "ev `nobody`").startswith("*** ")
    assert after(text, "ev").startswith("*** ")


def test_filter(debug: Debug) -> None:
    text = debug(
        SESSION, "c", "filter low (value < 0.5).all()", "filter", "lt -f low", "filter odd", "filter odd (", "q"
    )

    assert "low" in after(text, "filter")
    assert re.findall(r"#(\d+)", after(text, "lt -f low")) == ["2", "3", "7", "8"]
    assert after(text, "filter odd").startswith("*** The filter 'odd' needs a condition")
    assert after(text, "filter odd (").startswith("*** ")


def test_ri(debug: Debug, product: str) -> None:
    text = debug(SESSION, "c", "ri", "q")

    assert re.search(r"run +2\b", after(text, "ri"))
    assert re.search(r"fetch +total", after(text, "ri"))
    assert re.search(r"feed +x", after(text, "ri"))
    assert "*** No run of a session is recorded here" in debug(product, "ri", "q")


def test_ls(debug: Debug) -> None:
    text = debug(SESSION, "c", "ls", "ls -p nowhere", "ls -n (", "q")

    assert re.search(r"prog\.py +\d+ +\d+ +\d+", after(text, "ls"))
    assert after(text, "ls -p nowhere").strip() == "none"
    assert after(text, "ls -n (").startswith("*** ")


def test_states(debug: Debug) -> None:
    text = debug(SESSION, "c", "goto y", "states", "q")

    assert re.search(r"-->.* total ", after(text, "states"))


# Python and the session ----------------------------------------------------------------------------------------------


def test_statement(debug: Debug, chain: str) -> None:
    program = """\
    import graphscope as torch

    def area(x):
        scale = 2.0
        y = x * 1.0
        return y * scale

    print("area", area(torch.tensor(3.0)).item())
    """
    text = debug(program, "n", "!scale = 10.0", "!scale", "scale + 1", "foo", "brek", "!1/0", "!(", "c", "q")

    assert "10.0" in after(text, "!scale")
    assert "11.0" in after(text, "scale + 1")
    assert "'foo' is no command, and the program has no such name" in text
    assert "did you mean `break`?" in after(text, "brek")
    assert "*** ZeroDivisionError" in after(text, "!1/0")
    assert "area 30.0" in text


def test_interact(debug: Debug, product: str) -> None:
    text = debug(product, "n 2", "interact", "print('sum', float(a) + float(value))", "exit()", "p op", "q")

    assert "sum 315.0" in text
    assert "'mul'" in after(text, "p op")


def test_alias(debug: Debug, product: str) -> None:
    text = debug(product, "alias twice n ;; n", "twice", "alias add p %1 + %2", "add 3 4", "alias", "alias odd", "q")

    assert stops(text) == ["0 tensor", "1 tensor", "2 mul"]
    assert "7" in after(text, "add 3 4")
    assert "*** There is no alias 'odd'" in text


def test_an_alias_of_itself(debug: Debug, product: str) -> None:
    assert "leads back to itself" in debug(product, "alias n n", "n", "q")


def test_unalias(debug: Debug, product: str) -> None:
    text = debug(product, "alias zz p 1", "unalias zz", "zz", "unalias zz", "q")

    assert "'zz' is no command" in after(text, "zz")
    assert "*** There is no alias 'zz'" in text


def test_help(debug: Debug, product: str) -> None:
    text = debug(product, "help", "h break", "h n", "h nobody", "?", "q")

    assert all(command.title in after(text, "help") for command in COMMANDS.values())
    assert "SPEC[, CONDITION]" in after(text, "h break")
    assert after(text, "h n").startswith("n(ext) [COUNT]")
    assert "*** There is no command 'nobody'" in text


def test_quit(debug: Debug, product: str) -> None:
    text = debug(product, "q")

    assert "a.grad" not in text
    assert text.endswith("status 0\n")


# The prompt ----------------------------------------------------------------------------------------------------------


def test_the_end_of_input_leaves(debug: Debug, product: str) -> None:
    assert debug(product, "n").endswith("status 0\n")


def test_an_empty_line_repeats(debug: Debug, product: str) -> None:
    assert stops(debug(product, "n", "", "q")) == ["0 tensor", "1 tensor", "2 mul"]


def test_several_commands_on_a_line(debug: Debug, product: str) -> None:
    text = debug(product, "n ;; p ';;' ;; n", "q")

    assert stops(text) == ["0 tensor", "1 tensor", "2 mul"]
    assert "';;'" in text


def test_the_rc_files_are_carried_out(debug: Debug, product: str, tmp_path, monkeypatch) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".graphscoperc").write_text("# mine\nalias pv p value\n")
    (tmp_path / ".graphscoperc").write_text("b mul\n")
    text = debug(product, "c", "pv", "q")

    assert stops(text) == ["0 tensor", "2 mul"]
    assert "300." in after(text, "pv")


def test_control_characters_do_not_reach_the_terminal(debug: Debug) -> None:
    program = """\
    import graphscope as torch
    evil = "\\x1b]0;owned\\x07"
    x = torch.tensor(1.0)  # \x1b[31mred
    """
    text = debug(program, "l", "!print", "p evil", "pp evil", "interact", "q")

    assert "\x1b" not in text
    assert "\\x1b[31mred" in text


def test_an_rc_file_may_attach_commands(debug: Debug, product: str, tmp_path) -> None:
    (tmp_path / ".graphscoperc").write_text("b mul forward\ncommands\n  p 'attached'\nend\n")
    text = debug(product, "c", "p 'mine' ;; p 'more'", "q")

    assert text.index("'attached'") < text.index("(gs) p 'mine'")
    assert "'more'" in text


CUT = """\
import graphscope as torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (w * b.detach()).softmax(0).log().sum()
loss.backward()
(w * 0.0).log()
"""


def test_break_finding_stops_where_any_check_finds_something(debug: Debug) -> None:
    text = debug(CUT, "b finding", "c", "c", "q")

    assert "missing: no gradient flows from loss to b: detach at prog.py:4" in after(text, "c", 1)
    assert "breakpoint 1: finding" in after(text, "c", 1)
    assert "nan: " in after(text, "c", 2)
    assert "> #" in after(text, "c", 2)
    assert "forward prog.py:6" in after(text, "c", 2)


def test_break_finding_of_one_kind(debug: Debug) -> None:
    text = debug(CUT, "b finding:nan", "b finding:nobody", "c", "q")

    assert "There is no check `nobody` to stop at" in text
    assert "forward prog.py:6" in after(text, "c")


ACCUMULATING = """\
import torch
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(30):
    loss = model(torch.ones(4, 3) * (1 + step % 3)).square().mean()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.slow
@pytest.mark.torch
def test_break_finding_stops_at_the_end_of_the_step_that_shows_it(debug: Debug) -> None:
    pytest.importorskip("torch")
    text = debug(ACCUMULATING, "b finding:zero_grad|lr_vanished", "c", "p step", "c", "q")

    assert "(breakpoint 1: finding:zero_grad|lr_vanished)" in after(text, "c", 1)
    assert "zero_grad at prog.py:6: the gradients of" in after(text, "c", 1)
    assert "cure: call zero_grad()" in after(text, "c", 1)
    assert int(after(text, "p step")) < 10
    assert "zero_grad at" not in after(text, "c", 2)
    assert "has ended with status 0" in after(text, "c", 2)


def test_a_breakpoint_asks_a_check_only_about_the_nodes_that_it_is_made_for(debug: Debug) -> None:
    program = """\
    import graphscope as torch
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    (x.softmax(-1) @ x).sum().backward()
    """
    assert "breakpoint 1" not in after(debug(program, "b double_softmax", "c", "q"), "c")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_doctor(debug: Debug) -> None:
    text = after(debug(CUT, "b line:prog.py:6 and log", "c", "doctor", "q"), "doctor")

    assert "1. nan: birth of a NaN or an Inf" in text
    assert "2. missing: gradient that never arrives" in text
    assert "4 | loss = (w * b.detach()).softmax(0).log().sum()" in text


# Another run ---------------------------------------------------------------------------------------------------------

PAIR = """\
import graphscope as torch

x = torch.tensor([[1.0, 2.0, 4.0]], requires_grad=True)
y = (x * 2).softmax(dim={dim})
loss = (y ** 2).sum()
loss.backward()
"""


def test_diff(debug: Debug, tmp_path: Path) -> None:
    debug(PAIR.format(dim=0), "c", "q", log=tmp_path / "other.gscope")
    ways = ("diff other.gscope", "diff next", "p value", "diff", "diff prev", "diff next", "diff first", "c", "q")
    text = debug(PAIR.format(dim=1), "diff", "c", *ways)
    assert "was not compared with another yet" in after(text, "diff")
    there = after(text, "diff other.gscope")
    assert stops(there)[0].endswith(" softmax")
    assert "They part in the forward pass: softmax at prog.py:4" in there
    assert re.search(r"^a #\d+ softmax prog\.py:4: \[\[0\.00", there, re.MULTILINE)
    assert re.search(r"^b #\d+ softmax prog\.py:4: \[\[1\., 1\., 1\.\]\]$", there, re.MULTILINE)
    assert stops(after(text, "diff next"))[0].endswith(" pow")
    assert re.search(r"^  apart .* absolute, .* relative.*; worst .* \| .* at \[0, \d\]$", text, re.MULTILINE)
    assert after(text, "diff", 2).startswith("a #")
    assert stops(after(text, "diff prev")) == stops(there)
    assert stops(after(text, "diff first")) == stops(there)


def test_diff_of_a_run_with_itself(debug: Debug, tmp_path: Path) -> None:
    debug(PAIR.format(dim=1), "c", "q", log=tmp_path / "other.gscope")
    text = debug(PAIR.format(dim=1), "c", "diff other.gscope", "diff next", "diff nobody", "q")
    assert after(text, "diff other.gscope").startswith("The same: ")
    assert "No node after this one differs" in after(text, "diff next")
    assert after(text, "diff nobody").startswith("*** there is no log at nobody")


def test_tour(debug: Debug, product: str) -> None:
    assert "`tour` there begins" in debug(product, "tour", "q")


def test_stepi(debug: Debug, product: str) -> None:
    text = debug(product, "granularity line", "b op:mul backward", "c", "stepi", "stepi", "q")

    assert stops(text)[-2:] == ["5 mul", "6 mul"]


def test_rsi(debug: Debug, product: str) -> None:
    text = debug(product, "b op:mul backward", "c", "s", "s", "granularity line", "rsi", "q")

    assert stops(text)[-1] == "5 mul"


def test_into(debug: Debug, chain: str) -> None:
    text = debug(chain, "granularity line", "n", "n", "n", "into", "into 9", "into 1", "q")

    assert re.search(r"1 +layer +12", after(text, "into"))
    assert "There is no call 9 in this line" in after(text, "into 9")
    assert "scaled = x * weight" in after(text, "into 1")


def test_granularity(debug: Debug, chain: str) -> None:
    text = debug(chain, "granularity line", "n", "n", "granularity", "granularity node", "granularity page", "q")

    assert "A step is a line" in after(text, "granularity", 1)
    assert "A step can't be a 'page'" in text
