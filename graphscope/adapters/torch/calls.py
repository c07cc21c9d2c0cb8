"""What is known of a function of torch: what the log calls it, whether it writes in place, whether it is an op."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import torch

from graphscope.adapters.kit.op_entries import Argument, op_entry
from graphscope.adapters.torch import compiled
from graphscope.adapters.torch.derivatives import derivative, derivative_of
from graphscope.adapters.torch.function_names import name_of
from graphscope.adapters.torch.signatures import holds_input, overload
from graphscope.formulas.formula import Formula
from graphscope.formulas.table import formula

KEY_SHIFT: Final = 48
"""The key of a call lies above the address of any code."""

ALIASING: Final = frozenset({"detach", "data", "detach_", "as_subclass", "alias", "view_as", "_neg_view"})
"""Their results share memory, though torch does not count them as views."""

VIEWING: Final = ALIASING | frozenset(
    {
        "view", "t", "T", "mT", "H", "mH", "transpose", "permute", "movedim", "moveaxis", "swapaxes", "swapdims",
        "expand", "expand_as", "squeeze", "unsqueeze", "chunk", "split", "tensor_split", "hsplit", "vsplit", "dsplit",
        "unbind", "narrow", "select", "diagonal", "unfold", "unflatten", "as_strided", "broadcast_to",
    }
)  # fmt: skip
"""Their results are views, whatever they are given: an accelerator has nothing to do for them."""

ZEROING: Final = frozenset({"zero_", "_foreach_zero_", "fill_"})
"""They may set a gradient to 0."""

GETTERS: Final = frozenset({"T", "mT", "H", "mH", "real", "imag", "data"})
"""Properties that compute a tensor."""

SPELLINGS: Final = {
    "__rpow__": "pow", "__ipow__": "pow_", "__truediv__": "div", "__rtruediv__": "div", "__itruediv__": "div_",
    "__div__": "div", "__rdiv__": "div", "__idiv__": "div_", "__rsub__": "sub", "__getitem__": "getitem",
    "__setitem__": "setitem_", "__invert__": "bitwise_not", "__floordiv__": "floor_divide",
    "__rfloordiv__": "floor_divide", "__ifloordiv__": "floor_divide_", "__mod__": "remainder",
    "__rmod__": "remainder", "__and__": "bitwise_and", "__or__": "bitwise_or", "__xor__": "bitwise_xor",
    "rsub": "sub", "subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div", "negative": "neg",
}  # fmt: skip
"""Names that the log writes otherwise than by taking the underscores away."""

NO_OPS: Final = frozenset(
    {
        "backward", "register_hook", "retain_grad", "size", "dim", "numel", "stride", "is_complex",
        "is_floating_point", "item", "tolist", "numpy", "element_size", "data_ptr", "storage_offset", "__len__",
        "__bool__", "__repr__", "__format__", "__hash__", "__iter__", "is_contiguous", "get_device", "type",
        "_set_grad_enabled", "__contains__", "__index__", "__int__", "__float__", "nelement", "ndimension",
        "untyped_storage", "is_same_size", "register_post_accumulate_grad_hook", "__delete__",
        "is_neg", "is_conj", "__reduce_ex__", "__deepcopy__", "_is_view",
        "has_names", "storage", "is_inference", "is_set_to",
    }
)  # fmt: skip
"""Functions that ask or arrange something and compute no tensor."""

READING: Final = frozenset(
    {"item", "tolist", "numpy", "__float__", "__complex__", "__array__", "data_ptr", "__dlpack__"}
)
"""Of these, those that hand out the numbers of a tensor."""


_ASSIGNING: Final = {
    ("__set__", "grad"): "grad",
    ("__delete__", "grad"): "grad",
    ("__set__", "requires_grad"): "requires_grad",
    ("requires_grad_", ""): "requires_grad",
    ("register_hook", ""): "hook",
}
"""Functions, by name and property, that set what is no value."""


class Call(compiled.Call):
    """One function of torch."""

    __slots__ = (
        "aliasing", "assigns", "custom", "doc", "formula", "function", "in_place", "name", "parameters", "random",
        "reads", "setter", "swapped",
    )  # fmt: skip

    key: int
    ignored: bool

    def __init__(self, function: Callable[..., Any], number: int) -> None:
        raw, owner = spelled(function)
        self.key = number << KEY_SHIFT
        self.name = SPELLINGS.get(raw) or plain(raw)
        self.function = name_of(function)
        """What the function is found by."""
        self.custom = False
        """Whether the program wrote it."""
        self.gradient = raw == "__get__" and owner == "grad"
        self.setter = raw == "__set__" and owner == "data"
        self.assigns = _ASSIGNING.get((raw, owner), "")
        """What of a tensor it sets that is no value."""
        self.assigns_gradient = self.assigns == "grad"
        if raw == "__get__":
            self.name = owner
        self.ignored = not self.assigns and (
            raw in NO_OPS
            or raw.startswith("_record_function_")
            or (raw == "__get__" and owner not in GETTERS and owner != "grad")
            or (raw == "__set__" and owner != "data")
        )
        self.in_place = self.name.endswith("_") and not self.name.endswith("__") and not self.assigns
        self.aliasing = self.name in ALIASING
        self.views = self.name in VIEWING
        """Whether no device works for it: the host tells how long it takes."""
        self.plain = not (self.gradient or self.in_place or self.setter or self.aliasing or self.assigns)
        """Whether its result is a new tensor, or none at all."""
        self.writes = self.in_place and not self.aliasing and self.name not in ZEROING
        """Whether it writes into its first argument, which is all that is to be noted of it."""
        self.swapped = raw == "rsub" or (raw[:3] == "__r" and raw[3:-2] in _OPERATORS)
        """Whether its operands stand the other way round."""
        self.random = False
        """Whether it may draw random numbers, and the log is to tell how they come."""
        self.reads = False
        """Whether it makes numbers of a tensor that the program computes with unseen, and the log is to tell."""
        self.doc = first_sentence(function)
        self.parameters = parameters(function)
        self.formula: Formula | None = None
        """What it computes, where that is no matter of its name."""
        if isinstance(function, torch._ops.OpOverload):
            self._take_schema(function)

    def _take_schema(self, op: torch._ops.OpOverload) -> None:
        """What is known of an op of ATen, or of a library of the program's."""
        library, _, name = op._schema.name.partition("::")
        self.name = name if library == "aten" else f"{library}.{name}"
        self.gradient = False
        self.in_place = name.endswith("_") and not name.endswith("__")
        self.aliasing = name in ALIASING
        self.plain = not (self.in_place or self.aliasing)
        self.writes = self.in_place and not self.aliasing and name not in ZEROING
        self.parameters = {each.name: each.default_value for each in op._schema.arguments}

    def arguments(self, operands: Sequence[Any], named: Mapping[str, Any]) -> tuple[Argument, ...]:
        """Its parameters in order, for a call with these operands and what was given by name; () where not known."""
        if not self.parameters:
            return overload(self.name, operands, named)
        return tuple(Argument(name, default) for name, default in self.parameters.items())

    def describe(self, operands: Sequence[Any], named: Mapping[str, Any], node: str = "") -> dict[str, Any]:
        """The entry in the log's table of ops, for a call with these operands and what was given by name.

        Args:
            operands: What was given by position.
            named: What was given by name.
            node: What torch calls the backward node that it made.
        """
        arguments = self.arguments(operands, named)
        given = [each.name for place, each in enumerate(arguments) if place < len(operands) or each.name in named]
        if not any(map(holds_input, (*operands, *named.values()))):  # it makes a tensor of none
            return op_entry(self.name, self.doc, arguments, formula(self.name, given))
        names = [each.name for each in arguments]
        known = self.formula or formula(self.name, given) or derivative(self.name, names)
        known = known or (derivative_of(self.name, node) if node else None)
        known = known or Formula("")
        if node and not known.rules:
            shown = map(known.name, names)
            known = replace(known, rules={each: f"the vjp of {self.name} by {each}, at g" for each in shown})
        return op_entry(self.name, self.doc, arguments, known)


def spelled(function: Callable[..., Any]) -> tuple[str, str]:
    """The name of a function, and that of the property whose getter or setter it is."""
    name = getattr(function, "__name__", None) or type(function).__name__
    owner = getattr(getattr(function, "__self__", None), "__name__", "")
    return name, owner if name in ("__get__", "__set__", "__delete__") else ""


def plain(name: str) -> str:
    """The name of an op without the underscores of a method of Python."""
    if name.startswith("__") and name.endswith("__"):
        inner = name[2:-2]
        if inner[:1] == "i" and inner[1:] in _OPERATORS:
            return f"{inner[1:]}_"
        return inner[1:] if inner[:1] == "r" and inner[1:] in _OPERATORS else inner
    return name


_OPERATORS: Final = frozenset(
    {"add", "sub", "mul", "matmul", "pow", "and", "or", "xor", "lshift", "rshift", "div", "truediv", "floordiv", "mod"}
)


def parameters(function: Callable[..., Any]) -> dict[str, Any]:
    """The names and defaults of a function's parameters, where it is written in Python and takes them by name."""
    try:
        found = inspect.signature(function).parameters
    except (ValueError, TypeError):
        return {}
    if any(each.kind is each.VAR_POSITIONAL for each in found.values()):
        return {}
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {
        name: ... if each.default is each.empty else each.default for name, each in found.items() if each.kind in named
    }


def first_sentence(function: Callable[..., Any]) -> str:
    """What the documentation of a function says first."""
    lines = [line.strip() for line in (inspect.getdoc(function) or "").splitlines()]
    for line in lines:
        if line and "(" not in line and not line.startswith((".", ":")):
            return line
    return ""
