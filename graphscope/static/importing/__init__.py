"""Models of others as graphs: TorchScript (`.pt`), programs of `torch.export` (`.pt2`) and ONNX (`.onnx`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np

from graphscope.errors import StaticError
from graphscope.eventlog import record
from graphscope.eventlog.reader import Log
from graphscope.static.importing.model import Examples, Model


@dataclass(frozen=True)
class Format:
    """A kind of file.

    Attributes:
        module: What reads it, with `load` and `model_of`.
        package: What that needs.
        called: What such a file is.
        written: How one is made.
    """

    module: str
    package: str
    called: str
    written: str


FORMATS: Final[dict[str, Format]] = {
    ".onnx": Format("onnx_models", "onnx", "ONNX model", "torch.onnx.export writes one"),
    ".pt2": Format("torch_export", "torch", "program of torch.export", "torch.export.save writes one"),
    ".pt": Format("torchscript", "torch", "TorchScript", "torch.jit.trace(model, x).save(FILE)"),
}
"""The formats that are read, by the ending of a file."""

__all__ = ["FORMATS", "Model", "arrays_of", "load_model", "recorded_run"]


def load_model(path: str | Path, examples: Examples | None = None) -> Model:
    """Read a model as a graph; torch or onnx is needed for it, and not for what comes after.

    Args:
        path: The file.
        examples: For inputs, by name, an array, or a shape of floating numbers, where the file tells neither
            (TorchScript) or leaves dims open.

    Raises:
        StaticError: The file is none of these, can't be read, or has an op that the engine lacks; the message names it.
    """
    file = Path(path)
    known = FORMATS.get(file.suffix)
    if known is None:
        raise StaticError(f"{file} is no model that can be read", hint=f"its name ends in {', '.join(FORMATS)}")
    if not file.is_file():
        raise StaticError(f"there is no file {file}", hint="name the file of a model")
    if find_spec(known.package) is None:
        raise StaticError(
            f"{file} is read with {known.package}, which is not installed", hint=f"pip install {known.package}"
        )
    reader = import_module(f"{__name__}.{known.module}")
    try:
        read = reader.load(file)
    except Exception as error:  # noqa: BLE001 - whatever reading it raises, the file is none of these
        said = str(error).partition("\n")[0]
        raise StaticError(f"{file} is no {known.called}: {said}", hint=known.written) from None
    model: Model = reader.model_of(read, examples)
    return model


def arrays_of(path: Path) -> dict[str, Any]:
    """The arrays of an `.npz` file, by name.

    Raises:
        StaticError: It is none.
    """
    try:
        with np.load(path) as file:
            return dict(file)
    except (ValueError, TypeError, AttributeError, EOFError, BadZipFile):
        hint = "numpy.savez(FILE, NAME=array) writes one, with the names of the model's inputs"
        raise StaticError(f"{path} holds no arrays by name", hint=hint) from None


def recorded_run(path: str | Path, feeds: Mapping[str, Any] | None = None, log: Path | None = None) -> Log:
    """Run a model once and record it: with what is fed, by input name, or with random numbers of fitting shapes.

    Args:
        path: The model.
        feeds: Arrays for its inputs.
        log: Where to record; in memory unless it is given.

    Raises:
        StaticError: As `load_model`, or an input that is fed is unknown.
    """
    model = load_model(path, feeds)
    numbers = np.random.default_rng(0)
    given = dict(feeds or {})
    unknown = set(given) - {symbol.name for symbol in model.inputs}
    if unknown:
        known = ", ".join(symbol.name for symbol in model.inputs)
        raise StaticError(f"{path} has no input {min(unknown)!r}", hint=f"it has {known or 'none'}")
    for symbol in model.inputs:
        if symbol.name not in given:
            shape = [1 if size is None else size for size in symbol.output.shape or ()]
            dtype = symbol.output.dtype or np.dtype("float32")
            drawn = numbers.standard_normal(shape) if dtype.kind == "f" else np.zeros(shape)
            given[symbol.name] = drawn.astype(dtype)
    with record.record(log) as recorded:
        model.run(**given)
    return recorded
