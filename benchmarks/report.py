"""Results as people read them: tables in the terminal, and the page `docs/benchmarks.md`."""

from __future__ import annotations

from typing import Final

from rich.console import Console
from rich.table import Table

from benchmarks.plot import plot
from benchmarks.results import BARS, PAGE, Bar, Groups, Measurement, machine, number_of
from benchmarks.workloads import WORKLOADS

TITLES: Final = {
    **{name: f"{name}: {workload.title}" for name, workload in WORKLOADS.items()},
    **{f"compiled {name}": f"{name}, defined by run and defined first" for name in WORKLOADS},
    "planning": "From a program to the first run of its plan",
    "overhead": "The recorder with no log active",
    "ops": "Single ops",
    "networks": "Networks",
    "memory": "The most memory that a step holds at once",
    "append": "Appending a row",
    "open": "A log of 1,000,000 events, in a fresh process",
    "doctor": "The doctor on a log of 1,000,000 events",
    "long": "Commands on a log of 10,000,000 events",
    "deep": "Chains of ops, and a step of 10,000 leaves",
    "diff": "Where two logs of 1,000,000 events part, and two of a large model",
    "pictures": "Pictures of the unrolled cell",
    "recorders": "Recording PyTorch",
    "recorders of JAX": "Recording JAX",
    "recorders of TensorFlow": "Recording TensorFlow",
    "models": "Recording the training of whole models",
    "models on CUDA": "Recording on a CUDA device",
    "left out": "Training steps that a flight recorder leaves out",
    "long run": "A flight recorder over 100,000 steps",
    "cold start": "The first steps of a recording",
    "observers": "Recording PyTorch beside torchlens",
    "adapter": "The debug adapter",
    "screen": "The terminal UI",
    "query": "Tables of 10,000,000 events, and the questions of the how-to",
    "ranks": "Ranks of a run with 100,000 events each, one of which parts from the others",
}
DRAWN: Final = {f"compiled {name}": f"{name}: {workload.title}" for name, workload in WORKLOADS.items()}
"""The groups of the picture, and what stands above their bars."""
PICTURE: Final = PAGE.parent / "images" / "compiled.svg"
ALT: Final = "Time of a step as a multiple of NumPy by hand, on a logarithmic scale: graphscope and its peers"
NOTES: Final = {
    "planning": "Loss and gradients: tracing, the passes, and the first run; the processor's time, the least of three. "
    "`found on disk`: an earlier run has kept the machine code.",
    "overhead": "The engine against the same engine with every recording branch cut out of its source. "
    "`share` is what the branches add; the empty fields that rows of the log would go to remain "
    "in both. `noise` is the same for two copies of the same engine.",
    "ops": "`forward` with nothing that needs a gradient; `both` is forward and backward, gradients adding up in every "
    "input. 1M is 1024x1024.",
    "networks": "One layer of an LSTM of 32 inputs and 64 hidden, forward and backward; and what "
    "`samples/transformer.py` does in a step.",
    "memory": "Above what is there before the step (parameters, data). Ours is all that Python and NumPy allocate "
    "(tracemalloc); PyTorch's is the bytes of the tensors alive at once, nothing else of its memory.",
    "append": "`bare pack` is `struct.pack_into` of the same 96 bytes, field by field, into one hot page of mapped "
    "memory. The rows of the log go to disk, segments made on the way, values copied.",
    "open": "`import graphscope`, open, find the first non-finite value (it lies near the end), list node 500,000 with "
    "inputs and users. `bytes` is private memory (Private_Clean + Private_Dirty of `smaps_rollup`; pages of the log "
    "that were looked at count, as no other process maps them), `written` is Private_Dirty alone. `cold`: the log was "
    "evicted from the page cache before.",
    "doctor": "`graphscope doctor LOG` of PyTorch trainings of a perceptron and of a transformer with AdamW and a "
    "scheduler, recorded with statistics of large values: the processor's time of the whole process, Python's start "
    "included, and the most memory that it held, pages of the log among it; the least of three.",
    "long": "A training of a small perceptron, recorded with statistics of large values; near its end a NaN is born. "
    "The processor's time of the whole process, Python's start included, the time on the clock, and the most memory "
    "that it held, pages of the log among it; of the first picture it is private memory (see above). "
    "The least of three.",
    "deep": "Products with a number, one after the other, and back; a step of SGD of a model of so many parameters. "
    "`record` is the program itself under a recording, the commands are as above. `us a node`: by op of the chain, or "
    "by leaf; where the cost is linear it does not grow with the length.",
    "diff": "`graphscope diff A B` of two trainings that part in the last tenth, where one clips to another limit; "
    "values are kept whole up to the budget of a log. `another structure`: one of the two has its layers written out. "
    "`GPT-2 small`: a step of training transformers' own and a port of it, in which one norm has another eps. "
    "The processor's time of the whole process, Python's start included, and the most memory that it held, pages of "
    "the logs among it; the least of three.",
    "recorders": "PyTorch programs as they are, under `gs.record`: time as a multiple of the same step alone, with "
    "statistics of large values (`summary`), no values, and every value and gradient kept on disk (`full`). ENC is a "
    "transformer encoder layer, RES a residual network of 19 convolutions on two small images.",
    "recorders of JAX": "Loss and gradients of a perceptron of four layers, 256 wide, on 256 examples, jitted, under "
    "`gs.record`: as a multiple of the same jitted step alone, and of the same step without `jit`. "
    "`jax_debug_nans` and `disable_jit` are what JAX itself has to look into a step. `steps left out`: those that "
    "`--every` does not record, whose losses are known all the same, beside the same step with its update alone.",
    "recorders of TensorFlow": "A training step of a perceptron of four layers, 256 wide, on 256 examples, by a tape, "
    "under `gs.record`: as a multiple of the same eager step alone, and of the same step in a `tf.function`. "
    "`enable_check_numerics` and `enable_dump_debug_info` (FULL_HEALTH) are TensorFlow's own means.",
    "models": "Models of transformers with random weights, one text of 128 tokens or one picture of 224x224, and an "
    "LSTM of 100 cells in plain ops, 64 wide, batch 32: forward, backward and AdamW under `gs.record` as a multiple of "
    "the same step alone, by the processor's time. `full` keeps what it keeps where nobody says how much: values up to "
    "1 MiB. Beside it stands what that takes at least: bytes of values that a step has in the log, and as shares of "
    "the step alone, what it takes to write them through a reserved file, and to copy them in memory.",
    "models on CUDA": "On one NVIDIA H200 and PyTorch 2.11, by the clock: three steps, and then the device is waited "
    "for. A perceptron of ten layers of 256, an LSTM of 100 cells in plain ops, GPT-2 small on 8 texts of 512 tokens "
    "and ResNet-50 on 64 pictures, both in bfloat16; AdamW. A row costs the processor about what an op of PyTorch "
    "does, which is what such programs wait for. `left out` are steps that a flight recorder leaves out. Measured "
    "ahead of two changes, for which no device was at hand: values of 8 KiB and more are no longer waited for under "
    "`full`, and of steps left out the losses are told.",
    "left out": "One step of a hundred is recorded, values and all. Those between, with their optimizer, as a multiple "
    "of the same steps without a recording, by the processor's time: the median of the ratios within a round, and the "
    "quickest round of the one to that of the other. `interrupted` is the floor: no recording, but where that has a "
    "step, the program does something else for as long as three, and finds less in the processor's caches after it.",
    "long run": "A tiny PyTorch model, every step recorded and the newest 10 kept, or one of 100 and the newest 3: "
    "the processor's time of a step, private memory and disk, by the median of five points in a quarter of the run. "
    "In step 73,456 a NaN is born; what is held from then on comes on top. [The picture](how-to/leave-it-on.md).",
    "cold start": "The first five steps of W3 in a fresh process, imports done and nothing run before, by the "
    "processor's time, the median of nine; the start of the recording is not in it. Below, the whole of a short "
    "PyTorch program, the least of nine by turns.",
    "observers": "torchlens traces the forward pass and logs the backward pass, with values and gradients "
    "(`save_grads=True`), as `full` keeps them; it is no part of the extras: `pip install torchlens`. "
    "What it wraps stays wrapped in its process, where the bare steps take longer therefore.",
    "adapter": "A client, the adapter and the program are three processes. A step is `next` in the digits sample, from "
    "the request to the event; a page is 100 rows of a tensor of 1000x10000, with its stack and scopes. The run makes "
    "26,000 events; it is compared with `graphscope record`, the least of 15 runs each.",
    "screen": "`graphscope open` in a pseudo-terminal of 120x40 that reads all it writes. The first picture is the "
    "fastest of five and has Python's start and Textual's in it. A key's time ends with the last byte of its picture. "
    "`small steps` and `large steps` are trainings of a model with modules, `folding` and `modules` what is shown of "
    "them folded and as a map. "
    "`bytes` is private memory (see above) after all these keys.",
    "pictures": "From a recorded log. SVG includes the layout.",
    "query": "Two ranks of 5,000,000 events each of a training of a small perceptron. The doctor judges each for the "
    "table of findings, which takes most of the export. Questions are asked of DuckDB with two threads, the second "
    "time.",
    "ranks": "`graphscope ranks DIR` on two cores finds one rank whose learning rate changes in step 1,500. "
    "Two ranks are recorded, the others are copies of one: rows and tables are files of each, values are shared. "
    "The estimate leaves comparing where it is and spreads reading, as `--with ray` does; the network is not in it.",
}
METHOD: Final = """\
All candidates of a table run in one process and on one thread, interleaved round by round in shuffled order, with
Python's collector on, which looks at what they make, not at what was loaded before; a time is the median of the rounds,
a ratio the median of the ratios within a round. Only ratios carry over to other machines. `hand` is the forward pass
and the derived backward pass written straight in NumPy (in Python floats for scalars); the tests check every
candidate's gradients against it. `graphscope, recording` keeps every node, edge, site, value and gradient in a log on
disk.
"""
UNITS: Final = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))

Row = tuple[str, ...]


def spoken(column: str, number: float) -> str:
    """A number with its unit."""
    if column.startswith("seconds"):
        size, unit = next(((size, unit) for size, unit in UNITS if abs(number) >= size), UNITS[-1])
        return f"{number / size:.3g} {unit}"
    if column.startswith("bytes"):
        return f"{number / 1e6:.3g} MB"
    if column in ("share", "noise"):
        return f"{number:+.1%}"
    return f"{number:.3g}"


def rows(measurements: list[Measurement]) -> tuple[Row, list[Row]]:
    """Head and body of a group's table; what was not measured is left to `missing`."""
    columns = list(dict.fromkeys(column for one in measurements for column in one.numbers))
    body = [
        (one.name, *(spoken(column, one.numbers[column]) if column in one.numbers else "" for column in columns))
        for one in measurements
        if one.numbers
    ]
    return ("", *(column.removeprefix("seconds, ").removeprefix("bytes, ") for column in columns)), body


def missing(measurements: list[Measurement]) -> str:
    """Who was not measured, and why."""
    return "; ".join(f"{one.name}: {one.note}" for one in measurements if not one.numbers)


def verdicts(groups: Groups) -> tuple[Row, list[Row]]:
    """Every bar that was measured, and whether it is met."""
    found = [(bar, number_of(groups, bar)) for bar in BARS]
    return ("", "measured", "at most", ""), [
        (described(bar), spoken(bar.column, number), spoken(bar.column, bar.limit), verdict(number, bar))
        for bar, number in found
        if number is not None
    ]


def verdict(number: float, bar: Bar) -> str:
    return "met" if number <= bar.limit else "NOT MET"


def described(bar: Bar) -> str:
    return f"{bar.group} {bar.name}, {bar.column}"


def show(groups: Groups, names: list[str]) -> None:
    """Print the tables of the named groups, and all bars."""
    console = Console()
    for name in names:
        head, body = rows(groups[name])
        console.print(table(TITLES[name], head, body))
        if left := missing(groups[name]):
            console.print(f"Not measured: {left}.", style="dim", markup=False)
    console.print(table("Bars", *verdicts(groups)))


def table(title: str, head: Row, body: list[Row]) -> Table:
    made = Table(title=title, title_justify="left")
    for column in head:
        made.add_column(column, justify="left" if column == "" else "right")
    for row in body:
        made.add_row(*row)
    return made


def markdown(head: Row, body: list[Row]) -> str:
    """A table in Markdown."""
    lines = [head, ("---", *("---:" for _ in head[1:])), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def write_page(groups: Groups) -> None:
    """Write the page of the documentation."""
    described_machine = ", ".join(f"{key} {value}" for key, value in machine().items())
    parts = [
        "# Benchmarks\n",
        "Made by `python -m benchmarks`; not to be edited by hand. The numbers as data: `benchmarks/results.json`.\n",
        f"Machine: {described_machine}.\n",
        METHOD,
        "## Bars\n",
        markdown(*verdicts(groups)),
    ]
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    for name in TITLES:
        if name in groups:
            if name == next(iter(DRAWN)):
                PICTURE.write_text(plot(groups, DRAWN), encoding="utf-8")
                parts.append(f"![{ALT}]({PICTURE.relative_to(PAGE.parent).as_posix()})\n")
            parts += [f"## {TITLES[name]}\n", *([NOTES[name] + "\n"] if name in NOTES else [])]
            parts.append(markdown(*rows(groups[name])))
            if left := missing(groups[name]):
                parts.append(f"Not measured: {left}.\n")
    PAGE.write_text("\n".join(parts), encoding="utf-8")
