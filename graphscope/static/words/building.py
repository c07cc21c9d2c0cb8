"""Functions that make nodes of a graph themselves: constants, placeholders, order, gradients, random numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from graphscope.errors import StaticError
from graphscope.static.graphs.symbols import Symbol, twin
from graphscope.static.graphs.trees import leaves_of
from graphscope.static.sessions import functions
from graphscope.static.words.offering import offer
from graphscope.static.words.operands import array_of, listed, of_dtype, op, tensor, whole
from graphscope.static.words.tensors import as_shape
from graphscope.static.words.told_shapes import told

_tensor: Final = twin(tensor)
_op: Final = twin(op)


@offer("placeholder", type="Placeholder", alone=True)
def placeholder(dtype: Any, shape: Any = None, name: Any = None) -> Any:
    """A tensor that each run is fed; a dim that may differ from run to run is None."""
    return functions.placeholder(of_dtype(dtype), as_shape(shape), name)


@offer("placeholder_with_default", type="PlaceholderWithDefault", alone=True)
def placeholder_with_default(input: Any, shape: Any, name: Any = None) -> Any:
    """A tensor that a run may be fed, and is `input` otherwise."""
    return functions.identity(_tensor(input), name)


@offer("constant", type="Const", alone=True)
def constant(value: Any, dtype: Any = None, shape: Any = None, name: Any = "Const", verify_shape: bool = False) -> Any:
    """A tensor that never changes; where `shape` has room for more, the last number fills it."""
    if isinstance(value, Symbol):
        raise StaticError("a constant is made of numbers, not of a tensor", hint="tf.identity(x)")
    array = array_of(value, None if dtype is None else of_dtype(dtype))
    if shape is not None:
        sizes = as_shape(shape)
        if array.size > np.prod(sizes, dtype=int) or (verify_shape and array.shape != sizes):
            raise StaticError(f"{array.size} numbers do not fit shape {sizes}", hint="leave shape out, or tf.reshape")
        flat = np.ravel(array)
        array = np.concatenate([flat, np.repeat(flat[-1:], np.prod(sizes, dtype=int) - flat.size)]).reshape(sizes)
    return functions.constant(array)


@offer("convert_to_tensor", type="Const", alone=True)
def convert_to_tensor(
    value: Any, dtype: Any = None, name: Any = None, preferred_dtype: Any = None, dtype_hint: Any = None
) -> Any:
    """A tensor as it is; anything else as a constant."""
    return _tensor(value, None if dtype is None else of_dtype(dtype))


@offer("identity", type="Identity", alone=True)
def identity(input: Any, name: Any = None) -> Any:
    """The tensor itself, under another name."""
    return functions.identity(_tensor(input), name)


@offer("stop_gradient", type="StopGradient", alone=True)
def stop_gradient(input: Any, name: Any = None) -> Any:
    """The tensor itself, through which no gradient goes."""
    return functions.stop_gradient(_tensor(input), name)


@offer("check_numerics", "debugging.check_numerics", type="CheckNumerics", arguments="tensor, message, name=None")
@offer("verify_tensor_all_finite", "debugging.assert_all_finite", type="Identity", node="VerifyFinite",
       arguments="t=None, msg=None, name=None, x=None, message=None")  # fmt: skip
def _unchecked(*_: Any) -> Any:
    raise StaticError(
        "graphscope.static checks no values itself", hint="`graphscope debug program.py`, and: run -f has_inf_or_nan"
    )


# Gradients ------------------------------------------------------------------------------------------------------------


@offer("gradients", alone=True, named=False)
def gradients(
    ys: Any, xs: Any, grad_ys: Any = None, name: Any = "gradients", colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False, aggregation_method: Any = None, stop_gradients: Any = None,
    unconnected_gradients: Any = "none",
) -> Any:  # fmt: skip
    """Nodes that compute the gradients of the sum of `ys` with respect to each of `xs`; None where there is none."""
    if stop_gradients is not None:
        raise StaticError("gradients takes no stop_gradients here", hint="tf.stop_gradient(x) where x is used")
    seeds = None if grad_ys is None else [None if g is None else _tensor(g) for g in functions._listed(grad_ys)]
    found = functions.gradients(ys, xs, seeds)
    if getattr(unconnected_gradients, "value", unconnected_gradients) == "zero":
        pairs = zip(found, functions._listed(xs), strict=True)
        return [_op("mul", x, 0) if g is None else g for g, x in pairs]
    return found


@offer("hessians", alone=True, named=False)
def hessians(*_: Any, **__: Any) -> Any:
    """Always refused."""
    raise StaticError("graphscope.static has no hessians", hint="tf.gradients of each element of tf.gradients(y, x)[0]")


# What runs, and when --------------------------------------------------------------------------------------------------


@offer("group", type="NoOp", node="group_deps", alone=True, operation=True)
def group(*inputs: Any, **kwargs: Any) -> Any:
    """A node that gives nothing: to run it runs these."""
    flat = [leaf for leaf in leaves_of(list(inputs)) if leaf is not None]
    return functions.group(*flat)


@offer("no_op", type="NoOp", alone=True, operation=True)
def no_op(name: Any = None) -> Any:
    """A node that gives nothing and does nothing."""
    return functions.group()


@offer("tuple", type="Identity", node="tuple", alone=True)
def tuple_(tensors: Any, name: Any = None, control_inputs: Any = None) -> Any:
    """The tensors, none of which is there before all of them (and `control_inputs`) are."""
    return functions.tuple_(tensors, None, control_inputs)


@offer("Print", type="Print", alone=True)
def print_(
    input_: Any, data: Any, message: Any = None, first_n: Any = None, summarize: Any = None, name: Any = None
) -> Any:
    """The tensor itself; when it is computed, `data` is written to stderr, and to the log."""
    return functions.Print(_tensor(input_), data, message, first_n, summarize)


@offer("Assert", "debugging.Assert", type="Assert", alone=True, operation=True)
def assert_(condition: Any, data: Any, summarize: Any = None, name: Any = None) -> Any:
    """A node that stops the run, and says `data`, where the condition does not hold."""
    return functions.Assert(_tensor(condition), data, summarize)


@offer("py_func", type="PyFunc", alone=True)
def py_func(func: Any, inp: Any, Tout: Any, stateful: bool = True, name: Any = None) -> Any:  # noqa: N803 - TensorFlow's
    """What a Python function makes of NumPy arrays; no gradient goes through it."""
    several = isinstance(Tout, list | tuple)
    dtypes = [of_dtype(each) for each in Tout] if several else of_dtype(Tout)
    return functions.py_func(func, [_tensor(each) for each in inp], dtypes)


@offer("numpy_function", type="PyFunc", node="PyFunc", alone=True)
def numpy_function(func: Any = None, inp: Any = None, Tout: Any = None, stateful: bool = True, name: Any = None) -> Any:  # noqa: N803
    """As `py_func`."""
    return py_func(func, inp, Tout)


# Random numbers -------------------------------------------------------------------------------------------------------


def _random(op_name: str, shape: Any, shift: Any, scale: Any, dtype: Any, seed: Any) -> Any:
    """Numbers of a distribution of width 1, stretched and moved; others in each run unless there is a seed."""
    sizes = _static_sizes(shape)
    wanted = of_dtype(dtype)
    if sizes is None:
        return _op_later(op_name, shape, shift, scale, wanted, seed)
    if not isinstance(shift, Symbol) and not isinstance(scale, Symbol):
        return functions._random(op_name, sizes, shift, scale, wanted, seed, None)
    drawn = functions._random(op_name, sizes, 0.0, 1.0, wanted, seed, None)
    return _op("add", _op("mul", drawn, scale), shift)


def _static_sizes(shape: Any) -> Any:
    try:
        return tuple(_listed(shape))
    except StaticError:
        return None


_listed: Final = twin(listed)


def _op_later(op_name: str, shape: Any, shift: Any, scale: Any, dtype: Any, seed: Any) -> Any:
    """Numbers of a shape that is told when the graph runs: one is drawn for each element of zeros of that shape."""
    sizes = _tensor(shape)

    def draw(given: np.ndarray) -> np.ndarray:
        from graphscope.static.graphs.effects import drawn

        return drawn(op_name, tuple(int(size) for size in given), shift, scale, dtype, seed)

    found = functions.py_func(draw, [sizes], dtype)
    found.output.shape = told("shape")({"shape": shape})
    return found


def _offer_random(names: str, op_name: str, type: str, defaults: str) -> None:
    def draw(
        shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = np.float32, seed: Any = None, name: Any = None
    ) -> Any:
        return _random(op_name, shape, mean, stddev, dtype, seed)

    draw.__doc__ = f"Numbers of the distribution `{op_name}`, others in each run unless there is a seed."
    offer(*names.split(), type=type, node=op_name, arguments=defaults, alone=True)(draw)


_ARGUMENTS: Final = "shape, mean=0.0, stddev=1.0, dtype='float32', seed=None, name=None"
_offer_random("random_normal random.normal", "random_normal", "Add", _ARGUMENTS)
_offer_random("truncated_normal random.truncated_normal", "truncated_normal", "Add", _ARGUMENTS)


@offer("random_uniform", "random.uniform", type="AddV2", node="random_uniform", alone=True)
def random_uniform(
    shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = np.float32, seed: Any = None, name: Any = None
) -> Any:
    """Numbers from `minval` to below `maxval`, evenly distributed; whole ones of a dtype of whole numbers."""
    wanted = of_dtype(dtype)
    if wanted.kind in "iu":
        if maxval is None:
            raise StaticError(
                "whole random numbers need a maxval", hint="tf.random_uniform([2], maxval=10, dtype=tf.int32)"
            )
        found = _random("random_uniform", shape, float(minval), float(maxval - minval), np.float64, seed)
        return _op("to", _op("floor", found), wanted)
    top = 1 if maxval is None else maxval
    return _random("random_uniform", shape, minval, top - minval, wanted, seed)


@offer("random_shuffle", "random.shuffle", type="RandomShuffle", alone=True)
def random_shuffle(value: Any, seed: Any = None, name: Any = None) -> Any:
    """The rows in an order that each run draws anew."""
    x = _tensor(value)
    if x.shape[0] is None:
        raise StaticError("random_shuffle takes rows of a known number here", hint="shuffle what is fed, in Python")
    draws = functions._random("random_uniform", (x.shape[0],), 0.0, 1.0, np.dtype(np.float64), seed, None)
    return _op("index_select", x, 0, _op("argsort", draws, 0))


@offer("multinomial", "random.multinomial", type="Multinomial", node="multinomial/Multinomial",
       alone=True)  # fmt: skip
def multinomial(logits: Any, num_samples: Any, seed: Any = None, name: Any = None, output_dtype: Any = None) -> Any:
    """Numbers of classes, drawn for each row by what their logits say."""
    x = _tensor(logits)
    count = whole(num_samples)
    noise = functions._random(
        "random_uniform", (x.shape[0], count, x.shape[1]), 1e-12, 1.0, np.dtype(x.dtype), seed, None
    )
    gumbel = _op("neg", _op("log", _op("neg", _op("log", noise))))
    found = _op("argmax", _op("add", gumbel, _op("unsqueeze", x, 1)), -1)
    return found if output_dtype is None else _op("to", found, of_dtype(output_dtype))


@offer("random.categorical", type="Multinomial", node="categorical/Multinomial", alone=True)
def categorical(logits: Any, num_samples: Any, dtype: Any = None, seed: Any = None, name: Any = None) -> Any:
    """As `multinomial`."""
    return multinomial(logits, num_samples, seed, None, dtype)


@offer("set_random_seed", "random.set_random_seed", alone=True, named=False)
def set_random_seed(seed: int) -> None:
    """Let what is drawn from now on be the same each time; TensorFlow's numbers of the same seed are others."""
    from graphscope.engine.core.generator import manual_seed

    manual_seed(seed)


# What there is nothing to do for --------------------------------------------------------------------------------------


def _nothing(*_: Any, **__: Any) -> None:
    """Nothing: graphs are built and run as TensorFlow 1 does it, on one machine."""


offer(
    "disable_v2_behavior", "disable_eager_execution", "disable_v2_tensorshape", "disable_resource_variables",
    "disable_control_flow_v2", "disable_tensor_equality", "enable_resource_variables", "logging.set_verbosity",
    alone=True, named=False, arguments="*args, **kwargs",
)(_nothing)  # fmt: skip


@offer("device", alone=True, named=False)
@contextmanager
def device(device_name_or_function: Any) -> Iterator[None]:
    """Nothing: there is one machine."""
    yield
