"""States of torch's random generator, told ahead of the ops that draw, so that these can run again."""

from __future__ import annotations

from typing import Final

import torch

from graphscope.eventlog.schema import Kind
from graphscope.eventlog.writer import Writer

DRAWING: Final = frozenset(
    {
        "alpha_dropout", "alpha_dropout_", "bernoulli", "bernoulli_", "binomial", "cauchy_", "dropout", "dropout1d",
        "dropout2d", "dropout3d", "dropout_", "exponential_", "feature_alpha_dropout", "feature_alpha_dropout_",
        "feature_dropout", "feature_dropout_", "fractional_max_pool2d", "fractional_max_pool2d_with_indices",
        "fractional_max_pool3d", "fractional_max_pool3d_with_indices", "geometric_", "gru", "gumbel_softmax",
        "log_normal_", "lstm", "multi_head_attention_forward", "multinomial", "native_dropout", "normal", "normal_",
        "poisson", "rand_like", "randint_like", "randn_like", "random_", "rnn_relu", "rnn_tanh", "rrelu", "rrelu_",
        "scaled_dot_product_attention", "uniform_",
    }
)  # fmt: skip
"""Ops that may draw random numbers."""

_SAME: Final = torch._C.TensorBase.equal


class RandomStates:
    """Appends the RANDOM rows of a log that keeps values."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._state: torch.Tensor | None = None
        self._row = -1

    def note(self) -> None:
        """Tell the state as it is, unless the last row does."""
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
            state = torch.default_generator.get_state()
            if self._state is not None and self._row >= self._writer.low and _SAME(self._state, state):
                return
            self._state = state
            self._row = self._writer.mark(Kind.RANDOM, value=state.numpy())
