"""What PyTorch has and the engine lacks: one sentence says so and what to do, whichever way it is asked for."""

from __future__ import annotations

import difflib
import functools
import json
import linecache
import opcode
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, Final, NoReturn

from graphscope.eventlog import record as recording

HOME: Final = "graphscope.engine"
ELSEWHERE: Final = "run the program with PyTorch, which graphscope records as well"

INSTEAD: Final[Mapping[str, str]] = {
    "Tensor.fill_diagonal_": "x.diagonal().fill_(value)",
    "addbmm": "x + bmm(a, b).sum(0)",
    "addmv": "x + mv(a, b)",
    "addr": "x + outer(a, b)",
    "aminmax": "amin and amax",
    "atleast_3d": "reshape",
    "block_diag": "cat and zeros",
    "broadcast_tensors": "x.expand(broadcast_shapes(x.shape, y.shape))",
    "bucketize": "(x[..., None] > boundaries).sum(-1)",
    "cartesian_prod": "stack(meshgrid(...), -1).reshape(...)",
    "chain_matmul": "a @ b @ c",
    "diagonal_scatter": "y = x.clone(); y.diagonal().copy_(part)",
    "dsplit": "tensor_split(dim=2)",
    "dstack": "cat(dim=2)",
    "eig": "linalg.eig",
    "embedding": "nn.functional.embedding",
    "fliplr": "flip(1)",
    "flipud": "flip(0)",
    "float_power": "x.double() ** y",
    "frobenius_norm": "linalg.norm",
    "ger": "outer",
    "heaviside": "where",
    "hsplit": "tensor_split(dim=1)",
    "index_copy": "y = x.clone(); y[index] = part",
    "kthvalue": "sort(dim)",
    "ldexp": "x * 2.0 ** y",
    "linalg.cholesky_ex": "linalg.cholesky",
    "linalg.cond": "linalg.norm(x, 2) * linalg.norm(linalg.inv(x), 2)",
    "linalg.inv_ex": "linalg.inv",
    "linalg.lstsq": "linalg.pinv(a) @ b",
    "linalg.matrix_power": "x @ x",
    "linalg.matrix_rank": "(linalg.svdvals(x) > tolerance).sum()",
    "linalg.multi_dot": "a @ b @ c",
    "linalg.solve_ex": "linalg.solve",
    "linalg.vander": "x[:, None] ** arange(n)",
    "linalg.vecdot": "(x * y).sum(-1)",
    "logaddexp2": "logaddexp",
    "logspace": "10 ** linspace(...)",
    "matrix_power": "x @ x",
    "moveaxis": "movedim",
    "msort": "sort(0)",
    "nanmean": "mean of x[~x.isnan()]",
    "nanmedian": "median of x[~x.isnan()]",
    "nn.NLLLoss2d": "nn.NLLLoss",
    "nn.UpsamplingBilinear2d": "nn.Upsample",
    "nn.UpsamplingNearest2d": "nn.Upsample",
    "nn.functional.upsample": "nn.functional.interpolate",
    "nn.functional.upsample_bilinear": "nn.functional.interpolate",
    "nn.functional.upsample_nearest": "nn.functional.interpolate",
    "nn.utils.clip_grad_norm": "nn.utils.clip_grad_norm_",
    "nuclear_norm": "linalg.norm",
    "optim.lr_scheduler.ChainedScheduler": "step() of each scheduler",
    "optim.lr_scheduler.PolynomialLR": "optim.lr_scheduler.LambdaLR",
    "pinverse": "linalg.pinv",
    "range": "arange",
    "rot90": "x.transpose(0, 1).flip(0)",
    "row_stack": "vstack",
    "searchsorted": "(values[..., None] > boundaries).sum(-1)",
    "select_scatter": "y = x.clone(); y.select(dim, i).copy_(part)",
    "slice_scatter": "y = x.clone(); y[a:b] = part",
    "solve": "linalg.solve",
    "std_mean": "std and mean",
    "sum_to_size": "sum(dim, keepdim=True)",
    "swapdims": "transpose",
    "symeig": "linalg.eigh",
    "take_along_dim": "gather",
    "vander": "x[:, None] ** arange(n)",
    "var_mean": "var and mean",
    "vsplit": "tensor_split(dim=0)",
}
"""What does the same, by the names after `torch.`; methods of tensors have it under the name of the function."""


@functools.cache
def torch_names() -> dict[str, frozenset[str]]:
    """The public names of PyTorch's modules, and of `torch.Tensor`."""
    text = (Path(__file__).parent / "assets" / "torch_names.json").read_text(encoding="utf-8")
    known = json.loads(text)
    modules = {*known["names"], *known["others"]}
    return {name: frozenset(known["names"].get(name, ())) | set(known["others"].get(name, ())) for name in modules}


def torch_has(dotted: str) -> bool:
    """Whether PyTorch has what is written so, `torch.nn.Linear`; of inner modules it is enough that an outer has it."""
    module, _, name = dotted.rpartition(".")
    while module and module not in torch_names():
        module = module.rpartition(".")[0]
    return name in torch_names().get(module, ())


def answer_for(name: str, shown: str | None = None) -> None:
    """Let a module answer for what it lacks of PyTorch's module of the same name.

    Args:
        name: The module's.
        shown: What people call it; None: `graphscope.nn` is `graphscope.engine.nn`.
    """
    shown = shown or name.replace(HOME, "graphscope", 1)
    module = sys.modules[name]

    def lacking(name: str) -> NoReturn:
        raise missing(shown, module, name, sys._getframe(1))

    module.__dict__["__getattr__"] = lacking


def missing(shown: str, module: ModuleType, name: str, frame: FrameType) -> Exception:
    """The error for a name that a module lacks: an ImportError where it is imported, else an AttributeError.

    Args:
        shown: The module as people write it, `graphscope.nn` or `torch.nn`.
        module: The module.
        name: The name.
        frame: Who asks.
    """
    imported = frame.f_lasti >= 0 and frame.f_code.co_code[frame.f_lasti] == opcode.opmap["IMPORT_FROM"]
    if torch_has(_in_torch(f"{shown}.{name}")):
        message = sentence(f"{shown}.{name}", frame)
        return ImportError(message, name=shown) if imported else AttributeError(message, name=name)
    if not imported:
        return AttributeError(f"module {shown!r} has no attribute {name!r}", name=name, obj=module)
    close = difflib.get_close_matches(name, dir(module), 1)
    hint = f". Did you mean: {close[0]!r}?" if close else ""
    return ImportError(f"cannot import name {name!r} from {shown!r}{hint}", name=shown)


def missing_module(name: str) -> ModuleNotFoundError | None:
    """The error for a module that PyTorch has, and the engine lacks; None where it is no module of PyTorch's."""
    if not torch_has(_in_torch(name)) and not name.rpartition(".")[2].startswith("_"):
        return None
    frame = recording.user_frame(2)
    while frame is not None and "importlib" in frame.f_code.co_filename:
        frame = frame.f_back
    return ModuleNotFoundError(sentence(name, frame, whole=True), name=name)


def sentence(dotted: str, frame: FrameType | None, *, whole: bool = False) -> str:
    """What is lacking, where it is asked for, and what to do.

    Args:
        dotted: What PyTorch has, `torch.nn.LPPool1d`, as it is asked for.
        frame: Who asks.
        whole: Whether all that is asked for is in `dotted`; else the line may go on, `torch.sparse` with `.mm(x)`.
    """
    place = "" if frame is None else f" (asked for at {_file(frame)}:{frame.f_lineno})"
    written = dotted if frame is None or whole else f"{dotted}{_rest(frame)}"
    name = dotted.partition(".")[2]
    instead = INSTEAD.get(name) or INSTEAD.get(name.removeprefix("Tensor.").removesuffix("_"))
    advice = f"use {instead}, or {ELSEWHERE}" if instead else ELSEWHERE
    return f"{written}: graphscope's engine does not have it{place}; {advice}"


def _in_torch(dotted: str) -> str:
    return f"torch.{dotted.partition('.')[2]}"


class AbsentMethod:
    """In the place of a method that PyTorch's tensors have: who asks for it is told, `hasattr` finds nothing."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> NoReturn:
        message = sentence(f"torch.Tensor.{self._name}", sys._getframe(1))
        raise AttributeError(message, name=self._name)


def answer_for_methods(tensor: Any) -> None:
    """Let tensors answer for the methods that they lack of PyTorch's."""
    absent = {name for name in torch_names()["torch.Tensor"] if not hasattr(tensor, name)}
    for name in absent:
        setattr(tensor, name, AbsentMethod(name))

    def names(self: Any) -> list[str]:
        return sorted(set(object.__dir__(self)) - absent)

    tensor.__dir__ = names


def _file(frame: FrameType) -> str:
    return frame.f_code.co_filename.replace("\\", "/").rsplit("/", 1)[-1]


def _rest(frame: FrameType) -> str:
    """What follows on the line: `.rfft`, where `torch.fft` was looked up of `torch.fft.rfft(x)`."""
    for index, place in enumerate(frame.f_code.co_positions()):
        if index * 2 == frame.f_lasti and place[1] is not None and place[3] is not None:
            line = linecache.getline(frame.f_code.co_filename, place[1])
            found = re.match(r"(?:\.\w+)*", line.encode()[place[3] :].decode("utf-8", "replace"))
            return found[0] if found else ""
    return ""
