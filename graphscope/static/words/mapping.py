"""Functions run over the rows of a tensor, and one of several run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphscope.errors import StaticError
from graphscope.static.graphs.trees import leaves_of, with_leaves
from graphscope.static.sessions.control_flow import cond, while_loop
from graphscope.static.sessions.tensor_arrays import TensorArray
from graphscope.static.words.offering import offer, offered


def _call(name: str, *args: Any, **kwargs: Any) -> Any:
    return offered(name)(*args, **kwargs)  # type: ignore[misc]


def _rows(elems: Any) -> tuple[list[TensorArray], Any]:
    """The rows of each tensor in a nest, and how many there are."""
    tensors = [_call("convert_to_tensor", each) for each in leaves_of(elems)]
    count = _call("shape", tensors[0])[0]
    return [TensorArray(each.dtype, size=count).unstack(each) for each in tensors], count


def _nested(function: Callable[..., Any], like: Any, rows: Any) -> Any:
    return function(with_leaves(like, rows))


@offer("map_fn", alone=True, named=False)
def map_fn(
    fn: Any, elems: Any, dtype: Any = None, parallel_iterations: Any = None, back_prop: bool = True,
    swap_memory: bool = False, infer_shape: bool = True, name: Any = None, fn_output_signature: Any = None,
) -> Any:  # fmt: skip
    """What a function makes of each row, along a new first dim."""
    arrays, count = _rows(elems)
    kinds = dtype if fn_output_signature is None else fn_output_signature
    like = elems if kinds is None else kinds
    dtypes = [array.dtype for array in arrays] if kinds is None else leaves_of(kinds)
    made = [TensorArray(each, size=count) for each in dtypes]

    def turn(step: Any, *out: Any) -> Any:
        found = leaves_of(_nested(fn, elems, [array.read(step) for array in arrays]))
        return (step + 1, *(array.write(step, each) for array, each in zip(out, found, strict=True)))

    _, *last = while_loop(lambda step, *_: step < count, turn, [0, *made])
    return with_leaves(like, [array.stack() for array in last])


def _scanned(fn: Any, elems: Any, initializer: Any, reverse: bool, keep: bool) -> Any:
    """A function of what came of the rows so far and of the next one, run over all; each, or the last."""
    arrays, count = _rows(elems)
    first = 0
    if initializer is None:
        start = with_leaves(elems, [array.read(count - 1 if reverse else 0) for array in arrays])
        first = 1
    else:
        start = with_leaves(initializer, [_call("convert_to_tensor", each) for each in leaves_of(initializer)])
    carried = leaves_of(start)
    made = [TensorArray(each.dtype, size=count) for each in carried] if keep else []
    if first and keep:
        places = count - 1 if reverse else 0
        made = [array.write(places, each) for array, each in zip(made, carried, strict=True)]

    def turn(step: Any, *more: Any) -> Any:
        place = count - 1 - step if reverse else step
        state, out = more[: len(carried)], more[len(carried) :]
        row = with_leaves(elems, [array.read(place) for array in arrays])
        found = leaves_of(fn(with_leaves(start, state), row))
        return (step + 1, *found, *(array.write(place, each) for array, each in zip(out, found, strict=False)))

    _, *last = while_loop(lambda step, *_: step < count, turn, [first, *carried, *made])
    if keep:
        return with_leaves(start, [array.stack() for array in last[len(carried) :]])
    return with_leaves(start, last)


@offer("scan", alone=True, named=False)
def scan(
    fn: Any, elems: Any, initializer: Any = None, parallel_iterations: int = 10, back_prop: bool = True,
    swap_memory: bool = False, infer_shape: bool = True, reverse: bool = False, name: Any = None,
) -> Any:  # fmt: skip
    """What a function makes of the rows so far and the next one, for each row."""
    return _scanned(fn, elems, initializer, reverse, keep=True)


@offer("foldl", alone=True, named=False)
def foldl(
    fn: Any, elems: Any, initializer: Any = None, parallel_iterations: int = 10, back_prop: bool = True,
    swap_memory: bool = False, name: Any = None,
) -> Any:  # fmt: skip
    """As `scan`; the last alone."""
    return _scanned(fn, elems, initializer, reverse=False, keep=False)


@offer("foldr", alone=True, named=False)
def foldr(
    fn: Any, elems: Any, initializer: Any = None, parallel_iterations: int = 10, back_prop: bool = True,
    swap_memory: bool = False, name: Any = None,
) -> Any:  # fmt: skip
    """As `foldl`, from the last row to the first."""
    return _scanned(fn, elems, initializer, reverse=True, keep=False)


@offer("case", alone=True, named=False)
def case(
    pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, strict: bool = False, name: Any = "case"
) -> Any:
    """What the function of the first condition that holds gives."""
    if exclusive or default is None:
        raise StaticError("case needs a default, and takes no exclusive here", hint="tf.case(pairs, default=f)")
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)

    def first_of(rest: list[Any]) -> Any:
        if not rest:
            return default()
        (pred, function), *others = rest
        return cond(pred, function, lambda: first_of(others), strict=strict)

    return first_of(pairs)
