"""Sequences of different lengths: padded to one length, or packed step by step without the padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.joining import cat, stack


class PackedSequence(NamedTuple):
    """Sequences packed step by step, the longest first; recurrent layers take and return it."""

    data: Any
    """The steps of all sequences: of each step those that are that long."""
    batch_sizes: Any
    """How many sequences each step has."""
    sorted_indices: Any = None
    """Where each sequence was before they were sorted by length; None if they were."""
    unsorted_indices: Any = None
    """Where each is now."""


def _lengths(lengths: Any) -> np.ndarray:
    return np.asarray(lengths.array if isinstance(lengths, Tensor) else lengths, np.int64)


def pack_padded_sequence(
    input: Any, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack sequences that were padded to one length.

    Args:
        input: (steps, batch, ...), or (batch, steps, ...) with `batch_first`.
        lengths: The length of each.
        batch_first: Whether the batch is the first dim.
        enforce_sorted: Whether they are sorted by length already, the longest first.

    Raises:
        RuntimeError: They are not, or a length is not positive, or there are more or fewer lengths than sequences.
    """
    counts = _lengths(lengths)
    if batch_first:
        input = input.transpose(0, 1)
    if len(counts) != input.shape[1]:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(counts)} (batch_size={input.shape[1]})"
        )
    if counts.min() <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    places = back = None
    if not enforce_sorted:
        order = np.argsort(-counts, kind="stable")
        places, back = Tensor(order), Tensor(np.argsort(order))
        counts = counts[order]
        input = input[:, places]
    elif (np.diff(counts) > 0).any():
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence to sidestep this requirement."
        )
    sizes = (counts[:, None] > np.arange(counts[0])).sum(0)
    data = cat([input[step, : int(size)] for step, size in enumerate(sizes)], 0)
    return PackedSequence(data, Tensor(sizes), places, back)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Any, Tensor]:
    """Padded sequences and their lengths, from packed ones.

    Raises:
        ValueError: `total_length` is less than the longest.
    """
    sizes = _lengths(sequence.batch_sizes)
    steps = len(sizes) if total_length is None else total_length
    if steps < len(sizes):
        raise ValueError(
            f"Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {len(sizes)}"
        )
    data = sequence.data
    rest = tuple(data.shape[1:])
    pieces = []
    for piece in data.split([int(size) for size in sizes]):
        missing = int(sizes[0]) - piece.shape[0]
        filling = Tensor(np.full((missing, *rest), padding_value, data.dtype))
        pieces.append(cat([piece, filling], 0) if missing else piece)
    filling = Tensor(np.full((int(sizes[0]), *rest), padding_value, data.dtype))
    output = stack(pieces + [filling] * (steps - len(sizes)), 0)
    lengths = (sizes[:, None] > np.arange(sizes[0])).sum(0)
    if sequence.unsorted_indices is not None:
        output = output[:, sequence.unsorted_indices]
        lengths = lengths[_lengths(sequence.unsorted_indices)]
    return (output.transpose(0, 1) if batch_first else output), Tensor(lengths)


def pad_sequence(
    sequences: Sequence[Any], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Any:
    """Sequences of different lengths in one tensor, padded to the longest."""
    longest = max(sequence.shape[0] for sequence in sequences)
    padded = []
    for sequence in sequences:
        missing = longest - sequence.shape[0]
        filling = Tensor(np.full((missing, *sequence.shape[1:]), padding_value, sequence.dtype))
        pair = [sequence, filling] if padding_side == "right" else [filling, sequence]
        padded.append(cat(pair, 0) if missing else sequence)
    return stack(padded, 0 if batch_first else 1)


def pack_sequence(sequences: Sequence[Any], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences of different lengths."""
    return pack_padded_sequence(
        pad_sequence(sequences), [sequence.shape[0] for sequence in sequences], enforce_sorted=enforce_sorted
    )


def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list[Any]:
    """The sequences that were padded."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [sequence[: int(length)] for sequence, length in zip(padded_sequences, _lengths(lengths), strict=True)]


def unpack_sequence(packed_sequences: PackedSequence) -> list[Any]:
    """The sequences that were packed."""
    return unpad_sequence(*pad_packed_sequence(packed_sequences, batch_first=True), batch_first=True)


_answer_for(__name__)
