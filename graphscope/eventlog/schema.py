"""What a log can say: every event is one fixed-width row; every field is explained here and nowhere else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import IntEnum, IntFlag
from typing import Final

import numpy as np

FORMAT: Final = 2
"""Version of the format; a reader refuses what is newer and reads what is older."""

INLINE_INPUTS: Final = 3
"""So many inputs lie in the row itself; longer lists lie together in `edges.npy`."""

SLOT_SHIFT: Final = 48
"""An input in a row is `slot << SLOT_SHIFT | row`; of a GRAD node, slot `k` is the gradient of its op's input `k`."""

ROW_MASK: Final = (1 << SLOT_SHIFT) - 1
"""What remains of an input when its slot is taken away: the row."""

INLINE_BYTES: Final = 8
"""A value of so many bytes or fewer lies in the row itself."""

ALIGNMENT: Final = 16
"""Every value in `values.npy` begins at a multiple of this many bytes."""


class Kind(IntEnum):
    """What a row says. It is the last byte written of a row: 0 means that the row is not committed."""

    UNWRITTEN = 0
    LEAF = 1
    """A tensor appears that no recorded op made (once in each segment that uses it)."""
    OP = 2
    """An op ran forward; its value is what it returned."""
    GRAD = 3
    """A backward rule is due: the cotangent of its output has arrived whole and is this row's value."""
    ACCUMULATE = 4
    """One contribution was added: to the `grad` of a leaf, or to a cotangent that several users feed."""
    BACKWARD_BEGIN = 10
    """A backward pass begins; its input is the node that it starts from. Where no values are kept, that node's is this
    row's, if it is one number: the loss. Where the program gave `gradients` to begin with, `attrs` says which numbers
    behind the inputs are their rows."""
    BACKWARD_END = 11
    SCOPE_ENTER = 12
    """A module or composite op is entered; `scope` is the scope entered."""
    SCOPE_EXIT = 13
    """It is left. Where it is the forward function of a custom one, the inputs are what that gives, and `attrs` says if
    it `reads` numbers out of tensors."""
    STEP = 14
    """A training step ended. `attrs` names the `counters` of the loops around the line that ended it, the outermost
    first, and has their `numbers`, as the program prints them. In a log that lets go of steps, or leaves some out, one
    number more tells which step it was, counted from 1; where several optimizers end one, each of their rows tells the
    same. Where another one is to come, as far as was known then, the row tells that the step `goes_on`. Where the step
    was `left_out`, its row tells that recording goes on here."""
    PRINT = 15
    """A message of the program; its text is in `attrs`."""
    ASSERTION = 16
    """An assertion of the program failed; its text is in `attrs`."""
    EDIT = 17
    """A person replaced the value (or cotangent) of the node that is this row's input by this row's value."""
    EXCEPTION = 18
    """An exception left an op or the program; its text is in `attrs`, its input the node that failed, if any."""
    WAIT = 19
    """The program comes to something that other processes must come to as well; `op` and `attrs` are those of the node
    that follows when they have."""
    ASSIGN = 20
    """The program set what is no value: `attrs` names the `tensors` by the rows of their first versions, what was `set`
    and `to` what. A gradient became None, or the tensor that is this row's input."""
    CALL = 21
    """The program called what is no op and decides how it trains: `attrs` says what was called, on which `object`, and
    what that was told (`graph/training.py` reads all of it)."""
    RANDOM = 22
    """The value is the state of the framework's random generator, as ops behind it find it up to the next such row."""
    COMPILE = 23
    """The framework's compiler was at work: `attrs` says if it has `compiled` the `function` (because of which guards
    that `failed` it did so again), if the graph has a `break` at this line, or if the function was `skipped`, and the
    `reason`; and in which `compilation`."""


NODES: Final = (Kind.LEAF, Kind.OP, Kind.GRAD, Kind.ACCUMULATE)
"""The kinds that are nodes of a graph; all other kinds are marks."""


class Flag(IntFlag):
    """Facts about a row; several may hold."""

    NONFINITE = 1
    """The value has a NaN or an Inf. Where `log.json` says `"nonfinite": "flagged"`, set on every such row; else only
    where the value is not kept whole, and readers derive it elsewhere."""
    IN_PLACE = 2
    """The op wrote into its first input: the row makes a new version of the same tensor."""
    VIEW = 4
    """The output shares memory with its first input."""
    EDGES = 8
    """The inputs lie in `edges.npy`: `inputs[1]` rows of it from row `inputs[0]` on; behind them lie, each as a `node`,
    the numbers that vary."""
    INLINE = 16
    """The value is the first bytes of the field `value` itself."""
    SUMMARY = 32
    """Only the statistics of the value were kept: a `SUMMARY` record lies at `value`."""
    KEPT = 64
    """The whole value lies at `value` in `values.npy`, in C order."""
    FRESH = 128
    """Of an ACCUMULATE row: the gradient was None (or zeroed) before this contribution."""
    REQUIRES_GRAD = 256
    """Gradients flow to this tensor."""
    PARAMETER = 512
    """The leaf is a parameter of a module or optimizer."""
    CREATE_GRAPH = 2048
    """Of a GRAD or OP row: ran as tensors inside a backward pass, so that it can itself be differentiated."""
    FAILED = 4096
    """The op raised: the row has inputs but no value, and an EXCEPTION row follows that names it."""
    NO_GRAD = 8192
    """Of an OP row of the forward pass: gradients were off, so that the op has no way back whatever its inputs are."""


class Pass(IntEnum):
    """The pass that a node belongs to."""

    FORWARD = 0
    BACKWARD = 1


EVENT: Final = np.dtype(
    [
        # What is the same each time a call site runs: packed once, copied as one field.
        ("kind", "<u1"),  # Kind; committed last
        ("dtype", "<u1"),  # index in DTYPES, of slot 0
        ("flags", "<u2"),  # Flag bits
        ("op", "<u4"),  # entry of the table `ops`
        ("site", "<u4"),  # entry of the table `sites`: the line of the user's program
        ("scope", "<u4"),  # entry of the table `scopes`: the innermost module or composite op
        ("shape", "<u4"),  # entry of the table `shapes`, of slot 0
        ("attrs", "<u4"),  # entry of the table `attrs`: names and texts, operands and attributes of a call
        ("version", "<u4"),  # of the tensor that it made: 0, or one more for each in-place write
        ("thread", "<u1"),  # entry of the table `threads`
        ("graph_pass", "<u1"),  # Pass
        ("input_count", "<u1"),  # number of inputs in the row itself: 0 to INLINE_INPUTS
        ("several", "<u1"),  # 1 when the node has several slots: then `value` is the first row in `outputs.npy`
        # What differs each time.
        ("tensor", "<u8"),  # the tensor that it made, named by the row of its first version
        ("time", "<u8"),  # end of the event: nanoseconds of the monotonic clock (`log.json` ties it to the date)
        ("duration", "<u8"),  # nanoseconds that the op ran, without recording it
        ("value", "<u8"),  # byte offset in `values.npy`, or the value itself (Flag.INLINE)
        ("forward", "<u8"),  # of a GRAD row, its forward node; of ACCUMULATE, the node (leaf) whose gradient grows;
        #                      of an OP row in a backward pass, the GRAD row it is part of
        ("inputs", "<u8", (INLINE_INPUTS,)),  # node of each input: its row, and its slot shifted by SLOT_SHIFT; behind
        #                      them the 64 bits of each number that `attrs` says varies from row to row
    ]
)
"""A row of `events.npy`."""

EDGE: Final = np.dtype([("node", "<u8"), ("slot", "<u4"), ("argument", "<u4")])
"""A row of `edges.npy`: the input comes from this slot of that node (row number), as this argument."""

OUTPUT: Final = np.dtype(
    [("dtype", "<u1"), ("storage", "<u1"), ("count", "<u2"), ("shape", "<u4"), ("value", "<u8"), ("tensor", "<u8")]
)
"""A row of `outputs.npy`: one slot of a node that has several. `storage` holds the bits INLINE, SUMMARY or KEPT,
`count` the number of slots (the slots of a node lie together)."""

SUMMARY: Final = np.dtype(
    [
        ("minimum", "<f8"),
        ("maximum", "<f8"),
        ("mean", "<f8"),
        ("std", "<f8"),
        ("nan", "<u8"),
        ("inf", "<u8"),
        ("zero", "<u8"),
    ]
)
"""Statistics kept in place of a value; minimum, maximum, mean and std are those of the finite elements."""

BYTE: Final = np.dtype("u1")
"""An element of `values.npy`."""

ROW_NUMBER: Final = np.dtype("<u8")
"""An element of `rare.npy`: a row number plus 1."""

DTYPES: Final[tuple[str, ...]] = (
    "",
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
    "complex64",
    "complex128",
    "object",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "complex32",
    "qint8",
    "quint8",
    "qint32",
    "float4_e2m1fn_x2",
    "float4_e2m1fn",
    *(f"int{bits}" for bits in range(1, 8)),
    *(f"uint{bits}" for bits in range(1, 8)),
    *("bits8", "bits16", "bits1x8", "bits2x4", "bits4x2"),
)
"""Names of dtypes in the order of their codes; new ones are added at the end."""

MEASURED: Final = frozenset(DTYPES[DTYPES.index("object") + 1 : DTYPES.index("float4_e2m1fn_x2")])
"""Dtypes of which statistics alone are kept."""

NAMED: Final = frozenset(DTYPES[DTYPES.index("float4_e2m1fn_x2") :])
"""Dtypes of which the name alone is kept: frameworks themselves compute nothing with them. None has a NaN or an Inf."""

_WIDE: Final = {"bfloat16": "u2", "bits16": "u2", "complex32": "u4", "qint32": "u4"}
_BITS: Final = {**dict.fromkeys(("", *MEASURED, *NAMED), "u1"), **_WIDE}
ELEMENTS: Final[tuple[np.dtype, ...]] = tuple(np.dtype(_BITS.get(name, name)) for name in DTYPES)
"""An element of each in memory, in that order: its bits where NumPy does not know the dtype."""

DTYPE_CODES: Final[dict[str, int]] = {name: code for code, name in enumerate(DTYPES)}

TABLES: Final[dict[str, str]] = {
    "ops": "{name, formula, doc, vjp: [text, ...], inputs: [name, ...], defaults: {name: typed value}, element, cited, "
    "framework, function, custom, generated: {compilation, forward: graph, backward: graph}}; a graph is "
    "{nodes: [{name, op, function, of: [node, ...], operands, attributes, shape, dtype, site, "
    "origins: [name, ...], block}, ...], outputs: [node, ...]}",
    "sites": "{file, line, column, end_line, end_column, function, caller}",
    "sources": "{file, text}",
    "scopes": "{name, type, parent, site}",
    "shapes": "[dim, ...]",
    "attrs": "{fact: value, ..., argument: [site, place], operands: [typed value, ...], "
    "attributes: {name: typed value, ...}, measured: {name: number}}; of what ranks do together {group, ranks, number}",
    "threads": "{name, ident}",
    "memory": "[[what, row, storage, detail, ...], ...]: changes in their order, with the row that was next then: what "
    "is `made` by an op, or `met` as one is given it (detail: bytes), `freed`, `saved` for backward (detail: the row "
    "of the op), and what `is` found to be of a kind (parameter, gradient or optimizer, and the row of the leaf)",
    "compilations": "{function, framework, stages: [{name, doc, graph}, ...]}: what was compiled, and what each pass "
    "of the compiler made of it; a graph as in `ops`, null where the pass has changed nothing",
}
"""The interned tables: name and what an entry is, as JSON. Entry 0 of each means "none"."""

RARE_FLAGS: Final = Flag.NONFINITE
"""Rows with one of these flags are listed in `rare.npy`, as are all marks."""

SINCE: Final[dict[str, int]] = {}
"""Fields of an EVENT that not every format has, and the format that brought each."""


def event_of(number: int) -> np.dtype:
    """A row of `events.npy` in a format."""
    return np.dtype([field for field in EVENT.descr if SINCE.get(field[0], 1) <= number])


def widened(events: np.ndarray) -> np.ndarray:
    """Rows of any format with the fields of this one: 0 where theirs had none."""
    if events.dtype == EVENT:
        return events
    found = np.zeros(len(events), EVENT)
    for name in events.dtype.names or ():
        found[name] = events[name]
    return found


FIRST_OF_MOMENT: Final = "tensor"
"""The fields of an EVENT from this one on differ from row to row."""

PREFIX: Final = EVENT.fields[FIRST_OF_MOMENT][1]  # type: ignore[index]
"""So many bytes come before them."""


def packing(dtype: np.dtype, fields: Sequence[str] = (), **others: str) -> str:
    """The `struct` layout of the fields of a row, of all unless some are named; `others` are given in another way."""
    codes = {"u1": "B", "u2": "H", "u4": "I", "u8": "Q"}
    return "<" + "".join(
        others.get(name, codes[dtype[name].base.str[1:]] * math.prod(dtype[name].shape))
        for name in fields or dtype.names or ()
    )


_NAMES: Final = EVENT.names or ()
CONSTANT: Final = _NAMES[: _NAMES.index(FIRST_OF_MOMENT)]
"""The fields of an EVENT that are the same each time a call site runs."""

REPEATED: Final = tuple(name for name in CONSTANT if name not in ("attrs", "version"))
"""Those of which a program has few combinations, as many as it has lines, however long it runs."""

_VALUE_CODES: Final = {"": "Q", "float32": "f4x", "float64": "d", "int64": "q", "bytes": "8s"}
ROW_LAYOUTS: Final[dict[str, str]] = {
    name: f"<{PREFIX}s{packing(EVENT, _NAMES[len(CONSTANT) : _NAMES.index('inputs') + 1], value=code)[1:]}"
    for name, code in _VALUE_CODES.items()
}
"""`struct` layouts of EVENT: the constant bytes, then the fields that differ, up to the inputs.

They differ in how the field `value` is given: as an offset, as a number kept inline, or as raw bytes kept inline."""

SEGMENT_FILES: Final = ("events.npy", "edges.npy", "outputs.npy", "values.npy", "rare.npy")
"""The arrays of a segment; `values.npy` may be gone (dropped by the budget)."""
