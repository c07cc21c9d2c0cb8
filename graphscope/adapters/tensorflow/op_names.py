"""What the log calls TensorFlow's ops and their inputs: the names by which formulas and checks know them."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from tensorflow.core.framework import op_def_pb2
from tensorflow.python.framework import dtypes, op_def_registry

from graphscope.adapters.kit.op_entries import Argument

ROWLESS: Final = re.compile(
    r"Iterator|Dataset|^Optional|^VarHandleOp$|^DestroyResourceOp$|^VarIsInitializedOp$|^VariableShape$|^Print|^StringFormat$"
    r"|Summary|^NoOp$|^DeleteMultiDeviceIterator$|^HashTable|^Merge|^Save|^Restore"
)
"""Ops that are no computation with tensors: they have no rows, and what they give are leaves."""

RUNS_PYTHON: Final = frozenset({"EagerPyFunc", "PyFunc", "PyFuncStateless"})
"""Ops that run functions of the program's inside."""

NAMES: Final[Mapping[str, str]] = {
    "AddV2": "add", "BatchMatMul": "matmul", "BatchMatMulV2": "matmul", "BatchMatMulV3": "matmul", "Cast": "to",
    "ConcatV2": "cat", "DivNoNan": "div_no_nan", "Equal": "eq", "ExpandDims": "unsqueeze", "FloorDiv": "floor_divide",
    "FloorMod": "remainder", "GatherV2": "index_select", "Greater": "gt", "GreaterEqual": "ge", "Identity": "alias",
    "IdentityN": "alias", "Inv": "reciprocal", "L2Loss": "l2_loss", "LeakyRelu": "leaky_relu", "Less": "lt",
    "LessEqual": "le", "MatMul": "matmul", "NotEqual": "ne", "Pack": "stack", "RealDiv": "div",
    "ReadVariableOp": "read_variable", "ResourceGather": "embedding", "SelectV2": "where", "Sum": "sum",
    "Mean": "mean", "Max": "amax", "Min": "amin", "Prod": "prod", "All": "all", "Any": "any", "StopGradient": "detach",
    "Unpack": "unbind", "Transpose": "permute", "Conv2D": "conv2d", "ReverseV2": "flip", "Roll": "roll",
    "SquaredDifference": "squared_difference", "Tile": "tile", "TopKV2": "topk", "ArgMax": "argmax",
    "ArgMin": "argmin", "AddN": "add_n", "LogicalAnd": "logical_and", "Cumsum": "cumsum", "Cumprod": "cumprod",
    "OneHot": "one_hot", "BroadcastTo": "broadcast_to", "MatrixInverse": "linalg_inv",
    "MatrixDeterminant": "linalg_det", "AssignVariableOp": "assign", "AssignAddVariableOp": "assign_add",
    "AssignSubVariableOp": "assign_sub", "Erf": "erf", "Rsqrt": "rsqrt", "MatrixSolve": "linalg_solve",
}  # fmt: skip
"""Names that are not the op's own written with underscores."""

INPUTS: Final[Mapping[str, str]] = {
    "a": "x", "b": "y", "features": "x", "logits": "x", "input": "x", "value": "x", "values": "x", "tensor": "x",
    "params": "x", "axis": "dim", "reduction_indices": "dim", "keep_dims": "keepdim", "perm": "dims",
    "indices": "index", "multiples": "repeats", "filter": "weight", "t": "x", "e": "y", "concat_dim": "dim",
    "labels": "target", "alpha": "negative_slope", "split_dim": "dim", "resource": "x",
}  # fmt: skip
"""What formulas call inputs and attributes that TensorFlow calls otherwise."""

_OWN_INPUTS: Final[Mapping[str, Mapping[str, str]]] = {
    "BiasAdd": {"bias": "bias"}, "ResourceGather": {"resource": "weight", "indices": "x"},
}  # fmt: skip
_IMPLIED: Final[Mapping[str, Mapping[str, Any]]] = {"Softmax": {"dim": -1}, "LogSoftmax": {"dim": -1}}
"""What TensorFlow's op does by itself, and others are told."""
_DULL: Final = re.compile(
    r"^(T\w*|N|num_\w+|grad_[ab]|dtype|Index|container|shared_name|index_type|output_type|out_type|_\w+)$"
)
"""Attributes that values and inputs say anyway."""


class Input(NamedTuple):
    """One input of an op."""

    name: str
    several: bool
    """Whether it is a list of tensors."""


class Op(NamedTuple):
    """One op of TensorFlow's, as the log tells of it."""

    type: str
    name: str
    inputs: tuple[Input, ...]
    defaults: Mapping[str, Any]
    """Attributes that are told where they are others, by TensorFlow's names."""
    recorded: bool

    def attributes(self, given: Sequence[Any]) -> dict[str, Any]:
        """What is told of the attributes of a call, which come as names and values in turn."""
        found = dict(_IMPLIED.get(self.type, {}))
        for name, value in zip(given[::2], given[1::2], strict=True):
            if name in self.defaults and (told := _plain(name, value)) != self.defaults[name]:
                found[INPUTS.get(name, name)] = told
        if {"transpose_a", "transpose_b"} <= found.keys():  # a formula knows one of them
            found["transposed"] = (found.pop("transpose_a"), found.pop("transpose_b"))
        return found


@functools.cache
def op_of(type: str) -> Op:
    """What is known of an op by its name in TensorFlow, which may be that of a function."""
    definition = op_def_registry.get(type)
    if definition is None:
        return Op(type, _function_name(type), (), {}, recorded=True)
    own = _OWN_INPUTS.get(type, {})
    inputs = tuple(
        Input(own.get(each.name) or INPUTS.get(each.name, each.name), bool(each.number_attr or each.type_list_attr))
        for each in definition.input_arg
    )
    defaults = {
        each.name: _default(each) for each in definition.attr if not _DULL.match(each.name) and each.type != "func"
    }
    return Op(type, NAMES.get(type) or _written(type), inputs, defaults, recorded=not ROWLESS.search(type))


@functools.cache
def signature(type: str, attributes: tuple[str, ...]) -> tuple[Argument, ...]:
    """The parameters of an op in order: its inputs, and what attributes are told."""
    inputs = [Argument(each.name, several=each.several) for each in op_of(type).inputs]
    return (*inputs, *(Argument(name, by_name=True) for name in attributes))


def _written(type: str) -> str:
    """`SparseSoftmaxCrossEntropyWithLogits` as `sparse_softmax_cross_entropy_with_logits`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", re.sub(r"V\d+$", "", type))
    return words.lower()


def _function_name(type: str) -> str:
    """What the program calls a function that TensorFlow has compiled: `__inference_step_42` is `step`."""
    return re.sub(r"^__(?:inference|forward)_(?:_?backward_)?(.*?)(?:_\d+)+$", r"\1", type)


def _default(attribute: op_def_pb2.OpDef.AttrDef) -> Any:
    """The default of an attribute as a value of Python's; `...` where it has none."""
    kind = attribute.default_value.WhichOneof("value")
    if kind is None:
        return ...
    value = getattr(attribute.default_value, kind)
    if kind == "list":
        return [each for parts in (value.i, value.f, value.s, value.b) for each in parts]
    return value.decode() if kind == "s" else value


def _plain(name: str, value: Any) -> Any:
    """The value of an attribute as the log tells it."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, dtypes.DType) or name.endswith("T"):
        return dtypes.as_dtype(value).name
    return value
