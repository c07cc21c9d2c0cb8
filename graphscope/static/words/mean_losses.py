"""Losses over a whole batch, as `tf.losses` has them: weighted, averaged, and kept in a collection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from graphscope.errors import StaticError
from graphscope.static.graphs import dynamic_shapes
from graphscope.static.graphs.symbols import Symbol, twin
from graphscope.static.sessions.default_graph import builder, get_default_graph
from graphscope.static.words.elementwise import smaller
from graphscope.static.words.losses import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
)
from graphscope.static.words.offering import offer, shown
from graphscope.static.words.operands import of_kinds, op, tensor

LOSSES: Final = "losses"
"""The collection that losses enter."""


def _both(labels: Any, predictions: Any) -> tuple[Any, Any]:
    guess = op("to", tensor(predictions), np.dtype(np.float32))
    truth = op("to", tensor(labels), np.dtype(np.float32))
    if tuple(guess.shape) != tuple(truth.shape) and None not in (*guess.shape, *truth.shape):
        raise StaticError(
            f"labels of shape {tuple(truth.shape)} do not fit predictions of shape {tuple(guess.shape)}",
            hint="give both the same shape: tf.reshape, tf.squeeze",
        )
    return truth, guess


def mean_squared_error(labels: Any, predictions: Any) -> Any:
    """(labels - predictions)²."""
    truth, guess = _both(labels, predictions)
    away = op("sub", guess, truth)
    return op("mul", away, away)


def absolute_difference(labels: Any, predictions: Any) -> Any:
    """|labels - predictions|."""
    truth, guess = _both(labels, predictions)
    return op("abs", op("sub", guess, truth))


def log_loss(labels: Any, predictions: Any, epsilon: Any = 1e-7) -> Any:
    """-labels · log(predictions) - (1 - labels) · log(1 - predictions)."""
    truth, guess = _both(labels, predictions)
    yes = op("mul", truth, op("log", op("add", guess, epsilon)))
    no = op("mul", op("sub", 1, truth), op("log", op("add", op("sub", 1, guess), epsilon)))
    return op("sub", op("neg", yes), no)


def huber_loss(labels: Any, predictions: Any, delta: Any = 1.0) -> Any:
    """Half the square near 0, and a line beyond `delta`."""
    truth, guess = _both(labels, predictions)
    far = op("abs", op("sub", guess, truth))
    near = smaller(far, delta)
    return op("add", op("mul", op("mul", near, near), 0.5), op("mul", op("sub", far, near), delta))


def hinge_loss(labels: Any, logits: Any) -> Any:
    """What is missing to a distance of 1 on the right side, of labels 0 and 1."""
    truth, guess = _both(labels, logits)
    return op("relu", op("sub", 1, op("mul", op("sub", op("mul", truth, 2), 1), guess)))


def sigmoid_cross_entropy(multi_class_labels: Any, logits: Any, label_smoothing: Any = 0) -> Any:
    """The cross entropy of independent yes-or-no answers."""
    guess = of_kinds(logits, "f")
    truth = op("to", tensor(multi_class_labels), guess.dtype)
    if label_smoothing:
        truth = op("add", op("mul", truth, 1 - label_smoothing), 0.5 * label_smoothing)
    return sigmoid_cross_entropy_with_logits(truth, guess)


def softmax_cross_entropy(onehot_labels: Any, logits: Any, label_smoothing: Any = 0) -> Any:
    """The cross entropy of classes, of one-hot labels."""
    guess = of_kinds(logits, "f")
    truth = op("to", tensor(onehot_labels), guess.dtype)
    if label_smoothing:
        truth = op("add", op("mul", truth, 1 - label_smoothing), label_smoothing / guess.shape[-1])
    return softmax_cross_entropy_with_logits_v2(op("detach", truth), guess)


def sparse_softmax_cross_entropy(labels: Any, logits: Any) -> Any:
    """The cross entropy of classes, of their numbers."""
    return sparse_softmax_cross_entropy_with_logits(labels, logits)


def _mean(each: Any, weights: Any) -> Any:
    """The weighted losses over the number of those whose weight is not 0."""
    if isinstance(weights, int | float):
        total = each if weights == 1 else op("mul", each, float(weights))
        return op("mean", total) if weights else op("mul", op("sum", each), 0.0)
    weight = op("to", tensor(weights), each.dtype)
    if weight.ndim == each.ndim - 1:
        weight = op("unsqueeze", weight, -1)
    elif weight.ndim not in (0, each.ndim):
        raise StaticError(
            f"weights of shape {tuple(weight.shape)} do not fit losses of shape {tuple(each.shape)}",
            hint="one number, one for each, or one for each row",
        )
    counted = op("sum", op("to", op("ne", op("add", weight, op("mul", each, 0)), 0), each.dtype))
    total = op("sum", op("mul", each, weight))
    return op("where", op("eq", counted, 0), op("mul", total, 0.0), op("div", total, op("clamp", counted, 1.0)))


_REDUCTIONS: Final = {
    "none": lambda each: each,
    "weighted_sum": lambda each: op("sum", each),
}

_LOSSES: Final[dict[str, tuple[Callable[..., Any], str, str]]] = {
    "mean_squared_error": (mean_squared_error, "labels, predictions", ""),
    "absolute_difference": (absolute_difference, "labels, predictions", ""),
    "log_loss": (log_loss, "labels, predictions", "epsilon=1e-7"),
    "huber_loss": (huber_loss, "labels, predictions", "delta=1.0"),
    "hinge_loss": (hinge_loss, "labels, logits", ""),
    "sigmoid_cross_entropy": (sigmoid_cross_entropy, "multi_class_labels, logits", "label_smoothing=0"),
    "softmax_cross_entropy": (softmax_cross_entropy, "onehot_labels, logits", "label_smoothing=0"),
    "sparse_softmax_cross_entropy": (sparse_softmax_cross_entropy, "labels, logits", ""),
}
"""The function of each element or row, its operands, and what it is told besides."""


def _in_graph(function: Callable[..., Any], *args: Any) -> Any:
    """What a function gives for tensors of a graph."""
    return dynamic_shapes.or_deferred(twin(function), function, args, {}, Symbol, by_value=True)


def _offer_loss(name: str, function: Callable[..., Any], operands: str, setting: str) -> None:
    # TensorFlow has the setting behind the weights, but for the scope that these stand before in two of them.
    order = ["weights=1.0"]
    tail = ["scope=None", f"loss_collection={LOSSES!r}", "reduction='weighted_sum_by_nonzero_weights'"]
    between = [setting] if setting else []
    arguments = ", ".join([operands, *order, *between, *tail])

    def call(one: Any, other: Any, weights: Any, *more: Any) -> Any:
        *settings, _scope, collection, reduction = more
        each = _in_graph(function, one, other, *settings)
        how = getattr(reduction, "value", reduction)
        if how == "weighted_sum_by_nonzero_weights":
            found = _in_graph(_mean, each, weights)
        elif how in _REDUCTIONS and isinstance(weights, int | float):
            found = twin(_REDUCTIONS[how])(twin(op)("mul", each, float(weights)))
        else:
            raise StaticError(
                f"reduction={reduction!r} is not here", hint="leave it out, or average with tf.reduce_mean yourself"
            )
        if collection is not None:
            get_default_graph().add_to_collection(collection, shown(found))
        return found

    call.__doc__ = f"{function.__doc__} Averaged, and kept in the collection `losses`."
    offer(f"losses.{name}", type="Mul", node=name, arguments=arguments, alone=True)(call)


for _name, (_function, _operands, _setting) in _LOSSES.items():
    _offer_loss(_name, _function, _operands, _setting)


@offer("losses.add_loss", alone=True, named=False)
def add_loss(loss: Any, loss_collection: Any = LOSSES) -> None:
    """Keep a loss in the collection."""
    get_default_graph().add_to_collection(loss_collection, shown(loss))


@offer("losses.get_losses", alone=True, named=False)
def get_losses(scope: Any = None, loss_collection: Any = LOSSES) -> Any:
    """The losses of the collection."""
    return get_default_graph().get_collection(loss_collection, scope)


@offer("losses.get_regularization_losses", alone=True, named=False)
def get_regularization_losses(scope: Any = None) -> Any:
    """The losses that regularizers made."""
    return get_default_graph().get_collection("regularization_losses", scope)


@offer("losses.get_total_loss", type="AddN", node="total_loss", alone=True)
def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss", scope: Any = None) -> Any:
    """The sum of all losses."""
    found = get_losses(scope) + (get_regularization_losses(scope) if add_regularization_losses else [])
    if not found:
        raise StaticError("there are no losses", hint="tf.losses.mean_squared_error(...) keeps one")
    total = None
    for each in found:
        total = shown(each).output if total is None else twin(op)("add", _plain(total), _plain(each)).output
    return _plain(total)


def _plain(each: Any) -> Any:
    return Symbol.of(each.output if isinstance(each, Symbol) else each, builder())
