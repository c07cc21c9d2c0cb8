"""`tf.function`: while a program is recorded its functions run as they are written, line by line and turn by turn."""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType
from typing import Any, Final

import numpy as np
import tensorflow as tf
from tensorflow.python.data.ops import structured_function
from tensorflow.python.eager import context
from tensorflow.python.eager.polymorphic_function import polymorphic_function
from tensorflow.python.util import tf_decorator

from graphscope.adapters.kit.notices import say
from graphscope.adapters.kit.patches import Patches
from graphscope.adapters.tensorflow.session import Session
from graphscope.adapters.tensorflow.variables import Variable

_FOLDER: Final = str(Path(tf.__file__).parent)
_OF_GRAPHS: Final = frozenset({"gradients", "hessians", "get_default_graph"})
"""What TensorFlow does not do while it runs eagerly; a function that calls it stays compiled."""


class Here(threading.local):
    """What a thread knows of the function that it runs."""

    seeds: Iterator[int] | None = None
    """The seeds of its random ops, as a graph numbers them; None where no function runs."""


class Functions:
    """Opens functions."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._here = Here()
        self._told = False
        """Whether it was said that functions of tf.data stay compiled."""

    def install(self, patches: Patches) -> None:
        """Run functions as they are written; only here, so that what TensorFlow itself compiles stays so."""
        owner = polymorphic_function.Function
        patches.replace(owner, "__call__", self._opening(owner.__call__))
        wrapper = structured_function.StructuredFunctionWrapper
        patches.replace(wrapper, "__init__", self._telling(wrapper.__init__))
        patches.replace(context, "internal_operation_seed", self._seeding(context.internal_operation_seed))

    def _opening(self, original: Callable[..., Any]) -> Callable[..., Any]:
        session, tape, here = self.session, self.session.tape, self._here

        @functools.wraps(original)
        def __call__(function: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807 - it stands in its place
            if session.is_left_out:
                return session.steps.left_out(function, functools.partial(original, function, *args, **kwargs))
            if not tape.is_recording or not tf.executing_eagerly() or not _is_program(function._python_function):
                return original(function, *args, **kwargs)
            args, kwargs = tf.nest.map_structure(_given, (args, kwargs))
            code = _code(function._python_function)
            is_program = code is None or tape.session.frames.is_program(code)
            seeds, here.seeds = here.seeds, itertools.count()
            with session.steps.recorded(function) as has_returned:
                try:
                    with tape.scope(function.__name__, "function") if is_program else contextlib.nullcontext():
                        result = tf.nest.map_structure(_returned, function._python_function(*args, **kwargs))
                finally:
                    here.seeds = seeds
                has_returned(result)
            return result

        return __call__

    def _telling(self, original: Callable[..., None]) -> Callable[..., None]:
        """What tf.data makes of a function of the program's: it stays compiled, which is said once."""

        @functools.wraps(original)
        def __init__(wrapper: Any, func: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - it stands in its place
            tape, code = self.session.tape, _code(func)
            if tape.is_recording and not self._told and code is not None and tape.session.frames.is_program(code):
                self._told = True
                where = f"{code.co_name} at {Path(code.co_filename).name}:{code.co_firstlineno}"
                say(f"what functions that tf.data runs compute ({where}) is not recorded: they stay compiled")
            original(wrapper, func, *args, **kwargs)

        return __init__

    def _seeding(self, original: Callable[[], int]) -> Callable[[], int]:
        """The seed of a random op: in a function it is the number of the op, as in a graph."""
        here = self._here

        def internal_operation_seed() -> int:
            return original() if here.seeds is None else next(here.seeds)

        return internal_operation_seed


def _is_program(function: Any) -> bool:
    """Whether a function can run as it is written: it is none of TensorFlow's own, and calls nothing of graphs'."""
    code = _code(function)
    return code is None or not (code.co_filename.startswith(_FOLDER) or _is_of_graphs(code))


def _is_of_graphs(code: CodeType) -> bool:
    """Whether a function, or one that it defines, calls what there is in graphs alone."""
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return not _OF_GRAPHS.isdisjoint(code.co_names) or any(map(_is_of_graphs, inner))


def _code(function: Any) -> CodeType | None:
    """The code of a function as it was written, without what others have put around it."""
    code = getattr(inspect.unwrap(tf_decorator.unwrap(function)[1]), "__code__", None)
    return code if isinstance(code, CodeType) else None


def _given(value: Any) -> Any:
    """An argument as a function has it: arrays are tensors."""
    return tf.convert_to_tensor(value) if isinstance(value, np.ndarray) else value


def _returned(value: Any) -> Any:
    """A result as a function returns it: numbers and variables are tensors."""
    is_number = isinstance(value, (int, float, np.ndarray, np.generic, Variable))
    return tf.convert_to_tensor(value) if is_number else value
