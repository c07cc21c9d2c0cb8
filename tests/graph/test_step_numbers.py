"""The numbers of training steps are those that the program itself prints."""

from __future__ import annotations

import runpy
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

import graphscope as gs
from graphscope.eventlog.schema import Kind
from graphscope.graph.step_numbers import StepNumbers, step_numbers

HEAD = """\
import graphscope as gs
weight = gs.tensor([1.0, 2.0], requires_grad=True)
optimizer = gs.optim.SGD([weight], lr=0.1)
data = [gs.tensor([float(each), 1.0]) for each in range(4)]

def update(x):
    optimizer.zero_grad()
    (weight * x).sum().backward()
    optimizer.step()

"""

STYLES = {
    "range": """
        for step in range(5):
            update(data[0])
            print(f"step {step}")
        """,
    "range from and by": """
        for step in range(100, 0, -25):
            update(data[0])
            print("step", step)
        """,
    "printed from 1": """
        for epoch in range(5):
            update(data[0])
            if (epoch + 1) % 1 == 0:
                print(f"epoch {epoch + 1}")
        """,
    "enumerate": """
        for step, x in enumerate(data, start=1):
            update(x)
            print(f"step {step}")
        """,
    "nested": """
        def train(epochs):
            for epoch in range(epochs):
                for batch_idx, (x, y) in enumerate(zip(data, data)):
                    update(x)
                    print("epoch {}, batch {}".format(epoch, batch_idx))

        train(3)
        """,
    "nested over two functions": """
        def train(epoch):
            for i, x in enumerate(data):
                update(x)
                print("epoch %d, batch %d" % (epoch, i))

        for epoch in range(1, 3):
            train(epoch)
        """,
    "while, counted behind": """
        step = 0
        while step < 5:
            update(data[0])
            print(f"step {step}")
            step += 1
        """,
    "while, told behind the count": """
        def train():
            step = 0
            while True:
                update(data[0])
                step += 1
                print(f"step {step}")
                if step >= 5:
                    break

        train()
        """,
    "counted ahead": """
        step = 0
        for x in data:
            step = step + 1
            update(x)
            print(f"step {step}")
        """,
    "resumed": """
        import json
        checkpoint = json.loads('{"epoch": 7}')
        for epoch in range(checkpoint["epoch"] + 1, 12):
            update(data[0])
            print(f"epoch {epoch}")
        """,
    "a loop that goes on in turns without a step": """
        for step, x in enumerate(data * 3):
            (weight * x).sum().backward()
            if step % 3 == 2:
                optimizer.step()
                optimizer.zero_grad()
                print(f"step {step}")
        """,
    "a running count over epochs": """
        global_step = 0
        for epoch in range(3):
            for x in data:
                update(x)
                global_step += 1
                print(f"epoch {epoch}, step {global_step}")
        """,
    "an attribute": """
        class Trainer:
            def __init__(self):
                self.step = 10

            def fit(self):
                for x in data:
                    self.one(x)
                    print(f"step {self.step}")
                    self.step += 1

            def one(self, x):
                update(x)

        Trainer().fit()
        """,
    "a loop left and begun anew": """
        for epoch in range(3):
            for i, x in enumerate(data):
                if i > epoch:
                    break
                update(x)
                print(f"epoch {epoch}, batch {i}")
        """,
    "a variable that a function within it reads": """
        def train():
            for step in range(3):
                def told():
                    return f"step {step}"
                update(data[0])
                print(f"step {step}")

        train()
        """,
    "a generator": """
        def losses():
            for step in range(3):
                update(data[0])
                print(f"step {step}")
                yield step

        list(losses())
        """,
    "two optimizers in one turn": """
        other = gs.optim.SGD([weight], lr=0.1)
        for step in range(3):
            update(data[0])
            (weight * weight).sum().backward()
            other.step()
            print(f"step {step}")
        """,
    "many loops": """
        for seed in range(2):
            for fold in range(2):
                for epoch in range(2):
                    for i in range(2):
                        update(data[i])
                        print(f"seed {seed}, fold {fold}, epoch {epoch}, batch {i}")
        """,
}


BY_HAND = {
    "range": """
        for step in range(3):
            loss = (weight * data[0]).sum()
            loss.backward()
            print(f"step {step}")
        """,
    "range from and by": """
        for step in range(10, -5, -5):
            (weight * data[0]).sum().backward()
            with gs.no_grad():
                weight -= 0.1 * weight.grad
            print("step", step)
        """,
    "enumerate": """
        for step, x in enumerate(data, 7):
            (weight * x).sum().backward()
            print(f"step {step}")
        """,
    "printed from 1": """
        for epoch in range(3):
            (weight * data[0]).sum().backward()
            print(f"epoch {epoch + 1}")
        """,
    "left": """
        for step in range(10):
            (weight * data[0]).sum().backward()
            print(f"step {step}")
            if step == 3:
                break
        """,
}
"""Training loops without an optimizer."""

UNSURE = {
    "turns without a step": """
        for step in range(4):
            if step % 2:
                continue
            (weight * data[0]).sum().backward()
        """,
    "a line that not each turn comes to": """
        for step in range(4):
            if step % 2:
                (weight * data[0]).sum().backward()
        """,
    "where it begins is not told": """
        begin = len(data)
        for step in range(begin, begin + 2):
            (weight * data[0]).sum().backward()
        """,
    "another pass behind": """
        for step in range(5, 7):
            (weight * data[0]).sum().backward()
        (weight * data[1]).sum().backward()
        (weight * data[1]).sum().backward()
        """,
    "two loops": """
        for epoch in range(5, 7):
            for x in data:
                (weight * x).sum().backward()
        """,
    "a function": """
        def train():
            for step in range(5, 7):
                (weight * data[0]).sum().backward()

        train()
        train()
        """,
}
"""The same, where the text does not say which turns left a step."""


def said(numbers: StepNumbers) -> list[str]:
    return [str(numbers.number(place)) for place in range(len(numbers))]


def recorded(text: str, tmp_path: Path) -> Any:
    program = tmp_path / "program.py"
    program.write_text(HEAD + dedent(text))
    with gs.record(tmp_path / "run.gscope"):
        runpy.run_path(str(program))
    return gs.load(tmp_path / "run.gscope")


@pytest.mark.parametrize("style", UNSURE)
def test_without_an_optimizer_steps_are_counted_from_1_where_the_text_is_not_sure(style: str, tmp_path: Path) -> None:
    told = said(step_numbers(recorded(UNSURE[style], tmp_path)))
    assert told == [f"step {place + 1}" for place in range(len(told))]
    assert told


@pytest.mark.parametrize("style", BY_HAND)
def test_without_an_optimizer_steps_are_called_as_the_program_prints_them(
    style: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = recorded(BY_HAND[style], tmp_path)
    assert said(step_numbers(log)) == capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("style", STYLES)
def test_what_the_program_prints_is_what_a_step_is_called(
    style: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = recorded(STYLES[style], tmp_path)
    printed = capsys.readouterr().out.splitlines()
    assert printed
    assert said(step_numbers(log)) == printed


def test_the_steps_of_a_loop_that_counts_nothing_are_counted(tmp_path: Path) -> None:
    text = """
    for epoch in range(2):
        for x in data[:2]:
            update(x)
    """
    log = recorded(text, tmp_path)
    assert said(step_numbers(log)) == ["epoch 0, step 1", "epoch 0, step 2", "epoch 1, step 1", "epoch 1, step 2"]
    text = "for x in data[:2]:\n    update(x)\n"
    assert said(step_numbers(recorded(text, tmp_path))) == ["step 1", "step 2"]


def test_a_step_is_found_by_its_numbers(tmp_path: Path) -> None:
    nested = step_numbers(recorded(STYLES["nested"], tmp_path))
    assert str(nested.number(nested.find({"epoch": 2, "batch": 3}) or 0)) == "epoch 2, batch 3"
    assert (nested.find({"epoch": 1}), nested.find({"batch_idx": 2}), nested.find({"step": 7})) == (4, 2, 6)
    assert nested.find({"epoch": 3}) is None
    alone = step_numbers(recorded(STYLES["resumed"], tmp_path))
    assert alone.find({"step": 9}) == alone.find({"epoch": 9}) == 1


def test_two_optimizers_in_one_turn_end_one_step(tmp_path: Path) -> None:
    log = recorded(STYLES["two optimizers in one turn"], tmp_path)
    kinds = log.pick("kind", rows := np.arange(log.first, log.end))
    ends = rows[kinds == Kind.STEP].tolist()
    assert [step_numbers(log).title(row) for row in ends] == [f"step {number // 2}" for number in range(6)]


def test_reading_the_counters_holds_nothing_alive(tmp_path: Path) -> None:
    text = """
    import gc, weakref
    class Held: pass
    def train():
        for step in range(2):
            held = Held()
            reference = weakref.ref(held)
            update(data[0])
            del held
            print(reference() is None, sorted(locals()))
    train()
    """
    program = tmp_path / "program.py"
    program.write_text(HEAD + dedent(text))
    printed: list[Any] = []
    with gs.record(tmp_path / "run.gscope"):
        runpy.run_path(str(program), {"print": lambda *each: printed.append(each)})
    assert printed == [(True, ["reference", "step"])] * 2


@pytest.mark.parametrize("batch", [0, 2])
def test_a_program_that_fails_does_so_in_the_step_that_it_was_in(batch: int, tmp_path: Path) -> None:
    text = f"""
    for epoch in range(1, 4):
        for i in range(3):
            if (epoch, i) == (2, {batch}):
                weight.reshape(7)
            update(data[i])
    """
    program = tmp_path / "program.py"
    program.write_text(HEAD + dedent(text))
    with pytest.raises(RuntimeError), gs.record(tmp_path / "run.gscope"):
        runpy.run_path(str(program))
    log = gs.load(tmp_path / "run.gscope")
    assert step_numbers(log).title(log.end - 1) == f"epoch 2, batch {batch}"
    (found,) = [each for each in gs.doctor(log).findings if each.kind == "raised"]
    assert found.step == f"epoch 2, batch {batch}"


def trained(tmp_path: Path, text: str) -> StepNumbers:
    program = tmp_path / "program.py"
    program.write_text(HEAD + dedent(text))
    with gs.record(tmp_path / "run.gscope"):
        runpy.run_path(str(program))
    return step_numbers(gs.load(tmp_path / "run.gscope"))


def test_a_number_is_that_of_a_count_else_of_what_the_innermost_loop_counts_once(tmp_path: Path) -> None:
    numbers = trained(
        tmp_path,
        """
        for epoch, steps in ((1, (0, 50, 75)), (2, (2, 50))):
            for step in steps:
                update(data[0])
        """,
    )
    names = [str(numbers.number(place)) for place in range(len(numbers))]
    assert names == ["epoch 1, step 0", "epoch 1, step 50", "epoch 1, step 75", "epoch 2, step 2", "epoch 2, step 50"]
    assert [numbers.numbered(each) for each in (1, 2, 5)] == [0, 1, 4]
    assert [numbers.numbered(each) for each in (75, 0)] == [2, 0]
    assert [numbers.numbered(each) for each in (50, 6, -1)] == [None] * 3, "50 is of two, the others of none"
    assert numbers.told(str, 2) == "epoch 1, step 0 and epoch 1, step 50"


def test_steps_are_told_one_by_one_where_they_are_few(tmp_path: Path) -> None:
    numbers = trained(tmp_path, "for step in (0, 1, *range(50, 500, 50)):\n    update(data[0])\n")
    assert numbers.told(lambda each: each.asked, 1) == "0"
    assert numbers.told(lambda each: each.asked, 4) == "0, 1, 50 and 100"
    assert numbers.told(str, len(numbers)) == "step 0 to step 450, 11 in all"
    assert [numbers.numbered(each) for each in (0, 1, 2, 450)] == [0, 1, None, 10]
