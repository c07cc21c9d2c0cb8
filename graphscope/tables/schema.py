"""What query engines find: every table, and every column with its type and unit, is explained here and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

FORMAT: Final = 2
"""Version of these tables; it is in `_graphscope.json` beside them. In those of version 1, DuckDB 2 sees no NaN."""

Type = Literal["int32", "int64", "double", "bool", "text", "moment", "texts", "lengths"]

TYPES: Final[dict[Type, str]] = {
    "int32": "integer of 32 bits",
    "int64": "integer of 64 bits",
    "double": "floating point of 64 bits",
    "bool": "true or false",
    "text": "text in UTF-8, written as a dictionary",
    "moment": "a moment in UTC, to the microsecond, without a time zone",
    "texts": "list of texts",
    "lengths": "list of integers of 64 bits",
}
"""What each type of a column is."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    name: str
    type: Type
    doc: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table; each of its rows is of one log, whose `run` and `rank` the folders say."""

    name: str
    doc: str
    columns: tuple[Column, ...]


_STEP: Final = Column(
    "step", "int32", "which training step of the program's, from 1 on; null of what is in none", "steps"
)
_ROW: Final = Column("row", "int64", "the row of the log, which names the node in every command: `#7`")
_SITE: Final = Column("site", "int32", "the line of the program: a row of `sites`; null where it is not known")
_ELEMENTS: Final = Column("elements", "int64", "how many elements it has")
_DTYPE: Final = Column("dtype", "text", "its dtype: `float32`")

SCHEMA: Final = (
    Table(
        "nodes",
        "The nodes of the graph, in the order in which they ran.",
        (
            _STEP,
            _ROW,
            Column("pass", "text", "`forward` or `backward`"),
            Column("kind", "text", "`leaf`, `op`, `grad` (a backward rule) or `accumulate` (a gradient grows)"),
            Column(
                "op", "text",
                "the op that ran; of a rule that of its forward node; of a leaf the function that made it, else `leaf`",
            ),
            Column("name", "text", "what the log says that it is called, or the tensor that it wrote into: `0.weight`"),
            Column("module", "text", "the path of the innermost module around it: `encoder.1`"),
            _SITE,
            _DTYPE,
            Column("shape", "lengths", "its shape, of the first output"),
            _ELEMENTS,
            Column("tensor", "int64", "the tensor that it made, named by the row of its first version"),
            Column("version", "int32", "of that tensor: 0, or one more for each write in place"),
            Column(
                "forward", "int64",
                "of a rule its forward node; of a gradient that grows the leaf; of an op in a backward pass its rule",
            ),
            Column("ended", "moment", "when it ended"),
            Column("duration", "int64", "how long it ran, without recording it", "ns"),
            Column("nonfinite", "bool", "its value holds NaN or Inf"),
            Column("in_place", "bool", "it wrote into its first input"),
            Column("view", "bool", "it shares memory with its first input"),
            Column("requires_grad", "bool", "gradients flow to it"),
            Column("parameter", "bool", "it is a parameter of a module or an optimizer"),
            Column("failed", "bool", "the op raised"),
        ),
    ),
    Table(
        "edges",
        "What each node takes: a row for each input.",
        (
            _STEP,
            Column("target", "int64", "the node that takes it: a `row` of `nodes`"),
            Column("argument", "int32", "the place among its inputs, from 0 on"),
            Column("source", "int64", "the node that it comes from: a `row` of `nodes`"),
            Column("slot", "int32", "which of that node's outputs, from 0 on"),
        ),
    ),
    Table(
        "values",
        "Statistics of the outputs of nodes, as far as the log has the value or its statistics; of complex numbers, of "
        "their magnitudes.",
        (
            _STEP,
            _ROW,
            Column("slot", "int32", "which of the node's outputs, from 0 on"),
            Column("minimum", "double", "of the finite elements; null where there are none"),
            Column("maximum", "double", "of the finite elements; null where there are none"),
            Column("mean", "double", "of the finite elements; null where there are none"),
            Column("std", "double", "of the finite elements, the population's; null where there are none"),
            Column("norm", "double", "2-norm; infinite where elements are not finite"),
            Column("nan", "int64", "how many elements are NaN"),
            Column("inf", "int64", "how many are infinite"),
            Column("zero", "int64", "how many are 0"),
            Column("size", "int64", "how many elements there are"),
        ),
    ),
    Table(
        "steps",
        "The training steps.",
        (
            _STEP,
            Column("name", "text", "what the program calls it: `epoch 2, batch 3`; its loops may begin at 0, or again"),
            Column("first_row", "int64", "its first row"),
            Column("last_row", "int64", "its last row; of one that has not ended the last that there is"),
            Column("ended", "moment", "when its last row ended"),
            Column("duration", "int64", "from the end of the row ahead of it to that of its last", "ns"),
            Column("backward_passes", "int32", "how many of them began in it"),
            Column("loss", "double", "what its last backward pass began from; null where that is not known"),
            Column("loss_row", "int64", "the node that it began from"),
        ),
    ),
    Table(
        "series",
        "The training steps of a recording that leaves out steps or lets them go, these among them; of a long run each "
        "second, fourth or eighth one. A recording that keeps all of its steps has none here.",
        (
            _STEP,
            Column("step_name", "text", "what the program calls it: `step 150`; null where no other step tells"),
            Column("seconds", "double", "from the end of the first one to its end", "s"),
            Column(
                "loss",
                "double",
                "what its last backward pass began from, or one before it that is not finite; null where not known",
            ),
            Column("learning_rate", "double", "that of the first group of parameters; null where that is not known"),
            Column(
                "gradient_norm",
                "double",
                "2-norm of all gradients that its optimizer took; of a model in pieces, that of the pieces on this "
                "rank; null where unknown",
            ),
        ),
    ),
    Table(
        "sites",
        "The lines of the program.",
        (
            Column("site", "int32", "its number in this log; another rank may have another"),
            Column("file", "text", "the file"),
            Column("line", "int32", "the line, from 1 on"),
            Column("column", "int32", "where the expression begins, from 0 on", "bytes"),
            Column("end_line", "int32", "the line where it ends"),
            Column("end_column", "int32", "where it ends", "bytes"),
            Column("function", "text", "the function that it is in"),
            Column("caller", "int32", "of a line in a library, the program's own line that led there: a `site`"),
            Column("source", "text", "the line as it stood there"),
        ),
    ),
    Table(
        "optimizers",
        "The optimizers, a row for each group of parameters, as they were made.",
        (
            Column("optimizer", "int64", "its number in this log"),
            Column("type", "text", "its class: `AdamW`"),
            _SITE,
            Column("group", "int32", "the place of the group, from 0 on"),
            Column("learning_rate", "double", "the setting `lr` that it was made with"),
            Column("settings", "text", "all settings that it was made with, as JSON"),
            Column("parameters", "int32", "how many parameters the group was made with"),
            Column("names", "texts", "what the program calls them, as far as it does"),
        ),
    ),
    Table(
        "updates",
        "What each update did to one parameter.",
        (
            _STEP,
            _ROW,
            Column("parameter", "text", "what the program calls the parameter; null where it has no name"),
            Column("tensor", "int64", "the parameter, named by the row of its first version"),
            Column("gradient_row", "int64", "the row of its gradient: the last part of it"),
            _SITE,
            _ELEMENTS,
            Column("learning_rate", "double", "the learning rate"),
            Column(
                "gradient_norm",
                "double",
                "2-norm of its gradient; of a parameter in pieces, that of the piece on this rank, as for all norms "
                "here; infinite where elements are not finite",
            ),
            Column("weight_norm", "double", "2-norm of the parameter ahead of it; infinite likewise"),
            Column("update_norm", "double", "2-norm of what was added to it; infinite likewise"),
            Column("update_ratio", "double", "the norm of the update by that of the parameter"),
            Column("moved", "double", "share of the elements with a gradient that changed, from 0 to 1"),
        ),
    ),
    Table(
        "findings",
        "What `graphscope doctor` finds in each log by itself.",
        (
            Column("number", "int32", "the place among the findings of the log, the most important first, from 0 on"),
            Column("kind", "text", "the check that found it"),
            Column("severity", "text", "`error` or `warning`"),
            Column("confidence", "text", "`certain` or `likely`"),
            Column("first_step", "int32", "the training step in which it shows first, counted from 1", "steps"),
            Column("step_name", "text", "what the program calls that step, and `graphscope doctor`: `step 150`"),
            _ROW,
            Column("node", "int64", "the node to blame"),
            Column("file", "text", "where the program says what is to blame"),
            Column("line", "int32", "the line of that"),
            Column("source", "text", "the line as it stood there"),
            Column("names", "texts", "the tensors that it is about, as the program calls them"),
            Column("cause", "text", "the kind of cause in a word or two"),
            Column("verdict", "text", "what is wrong and where, as one sentence"),
            Column("cure", "text", "what to do about it"),
            Column("count", "int32", "how many times it was found"),
            Column("evidence", "text", "what was measured, as JSON"),
            Column("consequence_of", "int32", "the `number` of the finding that it came of; null of what came of none"),
        ),
    ),
)  # fmt: skip
"""All tables."""

PARTITIONS: Final = (
    Column("run", "text", "the name of the run: its log's, with the folder where several runs have that name"),
    Column("rank", "int32", "the rank of the process among those of the run; 0 of one alone"),
)
"""The folders within that of a table, each of which is a column to query engines: `nodes/run=train/rank=0/`."""

BY_NAME: Final = {table.name: table for table in SCHEMA}
