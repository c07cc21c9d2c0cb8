"""The jobs, in the order in which a newcomer meets them."""

from __future__ import annotations

from typing import Final

from tests.jobs.job import Job, Step, Text, program, sample

JOBS: Final = (
    Job(
        "step-both-ways",
        "Step through a cell, both ways",
        "What does one step of a recurrent network compute, and what does its backward pass do?",
        sample("rnn_cell.py"),
        (
            Step(
                "The program stops at the first node that a line of it computes.",
                (),
                ("#0 x",),
                runs="graphscope debug rnn_cell.py",
            ),
            Step("From node to node, forward.", ("n",) * 9, ("#9 tanh next_h", "next_h = tanh #8")),
            Step("On, into the backward pass: the rule of tanh is due.", ("n",) * 3, ("#13 TanhBackward next_h",)),
            Step("Into the rule: the ops that it is made of.", ("s",), ("#14 mul",)),
            Step("Backwards in time, out of the rule.", ("p",), ("#13 TanhBackward next_h",)),
            Step("The other side of the node: where it ran forward.", ("o",), ("#9 tanh next_h",)),
        ),
    ),
    Job(
        "nan-at-a-step",
        "A NaN at step 30 of a training",
        "The loss of a PyTorch program falls, and from step 30 on it is NaN.",
        program("standing_sensor.py"),
        (
            Step(
                "The heading says that there is a finding, and which key lists it; the timeline where it is.",
                (),
                ("1 finding", "step 0"),
                runs="graphscope open standing_sensor.gscope",
            ),
            Step(
                "What is wrong, where, why, and the cure.",
                ("F",),
                ("nan  standing_sensor.py:19  step 30", "0/0 (8 of 128 elements)", "cure: keep the divisor"),
            ),
            Step("At the op that made the first NaN, in step 30.", ("Enter",), ("step 30", "div  16×8")),
        ),
        limit=2,
        ahead=("graphscope record standing_sensor.py",),
    ),
    Job(
        "a-gradient-that-is-none",
        "A gradient that is None",
        "An autoencoder learns badly: after training, the gradient of its encoder is still None.",
        program("silent_encoder.py"),
        (
            Step(
                "The heading says that there is a finding.",
                (),
                ("1 finding", "#1 data"),
                runs="graphscope open silent_encoder.gscope",
            ),
            Step(
                "Which parameters get no gradient, the line that cuts the way, and the cure.",
                ("F",),
                (
                    "missing  silent_encoder.py:14",
                    "encoder.2.bias",
                    "cure: compute with",
                ),
            ),
            Step("At the last node that a gradient would have come to.", ("Enter",), ("linear code",)),
        ),
        limit=2,
        ahead=("graphscope record silent_encoder.py",),
    ),
    Job(
        "a-value-deep-inside",
        "The attention of layer 3, and its gradient",
        "Where does layer 3 of an `nn.TransformerEncoder` look, and which gradient comes to the softmax there?",
        program("encoder.py"),
        (
            Step(
                "Recorded with `--capture ops`, the log has the ops that PyTorch runs inside of its own calls.",
                (),
                ("tokens  8×12",),
                runs="graphscope open encoder.gscope",
            ),
            Step("A search.", ("/",), ("or a SPEC",), seen=False),
            Step(
                "Each word may stand in a place of its own; the match is shown while one types.",
                (Text("layers.3 softmax backward"),),
                ("SafeSoftmaxBackward", "1 of 3"),
                seen=False,
            ),
            Step("There, where the gradient of the softmax has arrived.", ("Enter",), ("SafeSoftmaxBackward", "N Esc")),
            Step("Its value: where each place looks.", ("2",), ("value 8×4×12×12", "0.2785")),
            Step("Its gradient.", ("3",), ("gradient 8×4×12×12", "min -0.00368")),
        ),
        limit=5,
        ahead=("graphscope record --capture ops encoder.py",),
    ),
    Job(
        "change-a-gradient",
        "Stop on a condition, and change a gradient",
        "What becomes of a training if in one step, the third, no gradient comes from the loss?",
        program("standing_sensor.py"),
        (
            Step(
                "The program waits at the first node that a line of it computes.",
                (),
                ("#1 readings",),
                runs="graphscope debug standing_sensor.py",
            ),
            Step(
                "A breakpoint with a condition, in Python over the node and the program's own variables.",
                (":", Text("b op:mse_loss backward, step == 3"), "Enter"),
                ("Breakpoint 1 at",),
                seen=False,
            ),
            Step("Back to the tape.", ("Escape",), ("Breakpoint 1 at", "q quit"), seen=False),
            Step("On, until it is met.", ("c",), ("breakpoint 1",)),
            Step("A new value for the gradient that has arrived here.", ("=", Text("0 * grad"), "Enter"), ("edited",)),
            Step("The next rule is given what was set.", ("n",), ("LinearBackward", "g = -0 .. -0")),
        ),
    ),
    Job(
        "a-program-that-talks",
        "A program that asks, and prints 12,000 lines",
        "A training asks how long it is to run, shows a bar of progress, and prints 12,000 lines.",
        program("talkative.py"),
        (
            Step(
                "It asks something, which the line of the prompt says.",
                (),
                ("program ?",),
                runs="graphscope debug talkative.py",
            ),
            Step("The program's own terminal.", ("t",), ("How many steps?",), seen=False),
            Step("An answer.", (Text("4"), "Enter"), ("How many steps? 4", "weight")),
            Step("Back to the tape.", ("C-t",), ("q quit",), seen=False),
            Step("On, to its end.", ("c",), (" ended ", "SGD weight")),
            Step("What it printed: the end of it.", ("t",), ("done", "line 2999")),
            Step("Up in it.", ("PageUp",), ("line 2985",), seen=False),
            Step("And down again.", ("End",), ("done",), seen=False),
        ),
    ),
    Job(
        "a-crash",
        "A crash",
        "At some step a training ends with an exception.",
        program("crash.py"),
        (
            Step(
                "The program waits at the first node that a line of it computes.",
                (),
                ("#1 sentence",),
                runs="graphscope debug crash.py",
                seen=False,
            ),
            Step(
                "On. It fails, and the screen stays: at the op that failed, in its step, at the line of the program.",
                ("c",),
                (" failed ", "step 3", "where it failed", "F findings", "ValueError: Expected input batch_size (28)"),
            ),
            Step("What happened.", ("F",), ("crash.py:18", "Expected input batch_size (28)")),
        ),
    ),
    Job(
        "a-long-log",
        "A log of 30,000 rows",
        "A training of a thousand steps. How did it go, and what happened in step 700?",
        program("long_training.py"),
        (
            Step(
                "A line for each step; the timeline shows the loss of all.",
                (),
                ("step 0", "loss   "),
                runs="graphscope open long_training.gscope",
            ),
            Step("To a step.", ("g", Text("step 700"), "Enter"), ("step 700  ▼",)),
            Step("To the next.", (")",), ("step 701  ▼",), seen=False),
            Step("The timeline, nearer.", (".",), ("step 701  ▼",)),
        ),
        ahead=("graphscope record long_training.py",),
    ),
    Job(
        "leave-and-come-back",
        "Leave, and come back",
        "It is late; tomorrow one wants to go on where one was.",
        sample("rnn_cell.py"),
        (
            Step("", (), ("#0 x",), runs="graphscope debug rnn_cell.py", seen=False),
            Step("A breakpoint.", (":", Text("b op:tanh backward"), "Enter"), ("Breakpoint 1 at",), seen=False),
            Step("Back to the tape.", ("Escape",), ("Breakpoint 1 at", "q quit"), seen=False),
            Step("On, until it is met.", ("c",), ("#13 TanhBackward",), seen=False),
            Step("To remember this place.", ("M",), ("c1 is",)),
            Step("To leave: the program has not come to its end.", ("q",), ("has not ended", "let it go on", "stay")),
            Step("To stop it: what was recorded is kept.", ("y",), ("the recording is rnn_cell.gscope",)),
            Step("One stands where one stood.", (), ("#13 TanhBackward next_h",), runs="graphscope open", seen=False),
            Step("The breakpoint is there again.", ("B",), ("op:tanh backward",)),
            Step("", ("Escape",), ("q quit",), seen=False),
            Step("So is the place that was remembered.", ("'",), ("c1",)),
        ),
    ),
    Job(
        "what-is-this-key",
        "What is this key?",
        "Which keys are there, and what does this one do?",
        sample("rnn_cell.py"),
        (
            Step(
                "The last line tells the keys that matter where one is; for the first time, a tour tells ten.",
                (),
                ("#0 x", "1 of 10"),
                runs="graphscope open rnn_cell.gscope",
            ),
            Step("All keys and all commands, and what the region shows where one is.", ("?",), ("type to narrow",)),
            Step("A few letters of what is looked for.", (Text("other"),), ("Go to the other side",)),
        ),
        ahead=("graphscope record rnn_cell.py",),
        is_first_time=True,
    ),
)
"""Every job; each is a page of `docs/jobs`."""
