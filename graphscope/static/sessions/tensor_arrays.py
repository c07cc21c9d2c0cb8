"""Arrays of tensors that are written and read one by one, as loops do."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core.op import OPS
from graphscope.engine.core.tensor import Tensor as Eager
from graphscope.errors import StaticError
from graphscope.static.graphs import dynamic_shapes
from graphscope.static.graphs.symbols import Symbol, plain, twin
from graphscope.static.words.offering import offered, shown
from graphscope.static.words.operands import of_dtype, tensor
from graphscope.static.words.tensors import Tensor, as_shape

# All rows lie in one tensor, whose first dim is theirs. As long as none is written it has no columns: what shape rows
# have is seen when the first one comes.


def _started(rows: Any, row: Any) -> Any:
    """The rows, with room for those of this shape."""
    if rows.ndim == 2 and rows.shape[1] == 0 and tuple(row.shape) != (0,):
        return Eager(np.zeros((rows.shape[0], *row.shape), row.dtype))
    return rows


def _write(rows: Any, index: Any, row: Any, grows: bool) -> Any:
    """The rows, with another at a place."""
    place, rows = int(index.item()), _started(rows, row)
    if place >= rows.shape[0] and grows:
        more = Eager(np.zeros((place + 1 - rows.shape[0], *rows.shape[1:]), rows.dtype))
        rows = OPS["cat"].call([rows, more], 0)
    if not 0 <= place < rows.shape[0]:
        raise StaticError(
            f"row {place} is written to a TensorArray of {rows.shape[0]}", hint="TensorArray(..., dynamic_size=True)"
        )
    here = Eager((np.arange(rows.shape[0]) == place).reshape(-1, *[1] * (rows.ndim - 1)))
    return OPS["where"].call(here, OPS["unsqueeze"].call(row, 0), rows)


def _read(rows: Any, index: Any) -> Any:
    place = int(index.item())
    if not 0 <= place < rows.shape[0] or (rows.ndim == 2 and rows.shape[1] == 0):
        raise StaticError(
            f"row {place} of a TensorArray of {rows.shape[0]} has not been written", hint="write it first"
        )
    return rows[place]


def _whole(rows: Any) -> Any:
    return OPS["clone"].call(rows)


def _count(rows: Any) -> Any:
    return Eager(np.int32(rows.shape[0]))


def _of_size(size: Any, dtype: Any) -> Any:
    return Eager(np.zeros((int(size.item()), 0), dtype))


def _gathered(rows: Any, indices: Any) -> Any:
    return OPS["index_select"].call(rows, 0, OPS["to"].call(indices, np.dtype(np.int64)))


def _joined(rows: Any) -> Any:
    return OPS["reshape"].call(rows, (-1, *rows.shape[2:]))


class TensorArray:
    """Tensors of one shape, by number. Each write gives the array as it is then.

    Args:
        dtype: Of the tensors.
        size: How many there are.
        dynamic_size: Whether a write behind the end makes it longer.
        clear_after_read: Accepted for TensorFlow's sake.
        tensor_array_name: Accepted.
        handle: Not here.
        flow: Not here.
        infer_shape: Accepted.
        element_shape: What is known of the shape of each.
        colocate_with_first_write_call: Accepted.
        name: Of its nodes.
    """

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: Any = None,
        clear_after_read: Any = None,
        tensor_array_name: Any = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        self.dtype = dtype
        self.dynamic_size = bool(dynamic_size)
        self.element_shape = as_shape(element_shape)
        count = twin(tensor)(plain(size) if isinstance(size, Symbol) else (0 if size is None else size))
        self.rows = self._node("TensorArrayV3", _of_size, count, of_dtype(dtype).name)
        self.rows.output.shape = None

    @property
    def flow(self) -> Tensor:
        """What carries it from node to node."""
        return self.rows

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array with another tensor at a place."""
        row = _symbol(value, self.dtype)
        if self.element_shape is None:
            self.element_shape = row.output.shape
        return self.with_rows(
            self._node("TensorArrayWriteV3", _write, self.rows, _symbol(index), row, self.dynamic_size)
        )

    def read(self, index: Any, name: str | None = None) -> Tensor:
        """The tensor at a place."""
        return self._node("TensorArrayReadV3", _read, self.rows, _symbol(index), shape=self.element_shape)

    def stack(self, name: str | None = None) -> Tensor:
        """All, along a new first dim."""
        inner = None if self.element_shape is None else (None, *self.element_shape)
        return self._node("TensorArrayStack", _whole, self.rows, shape=inner)

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        """Those at these places, along a new first dim."""
        inner = None if self.element_shape is None else (None, *self.element_shape)
        return self._node("TensorArrayGatherV3", _gathered, self.rows, _symbol(indices), shape=inner)

    def concat(self, name: str | None = None) -> Tensor:
        """All, one behind the other."""
        inner = None if self.element_shape is None else (None, *self.element_shape[1:])
        return self._node("TensorArrayConcatV3", _joined, self.rows, shape=inner)

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """An array of the slices of a tensor along its first dim."""
        rows = _symbol(value, self.dtype)
        if self.element_shape is None and rows.output.shape is not None:
            self.element_shape = rows.output.shape[1:]
        return self.with_rows(self._node("TensorArrayUnstack", _whole, rows))

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array with the slices of a tensor at these places."""
        found = self
        for number, index in enumerate(np.ravel(indices).tolist()):
            found = found.write(index, shown(_symbol(value, self.dtype))[number])
        return found

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """Always refused."""
        raise StaticError("a TensorArray has no split here", hint="TensorArray.unstack(value), of rows of one shape")

    def size(self, name: str | None = None) -> Tensor:
        """How many there are."""
        return self._node("TensorArraySizeV3", _count, self.rows, shape=())

    def identity(self) -> TensorArray:
        """The same."""
        return self

    def with_rows(self, rows: Tensor) -> TensorArray:
        """An array of the same kind that holds other rows."""
        made = object.__new__(TensorArray)
        made.dtype, made.dynamic_size, made.element_shape = self.dtype, self.dynamic_size, self.element_shape
        made.rows = rows
        return made

    def _node(self, type: str, function: Any, *args: Any, shape: Any = None) -> Tensor:
        given = [plain(each) if isinstance(each, Symbol) else each for each in args]
        found = dynamic_shapes.call(function, given, {}, Symbol)
        node = found.output.node
        found.builder.graph.types[node] = type
        found.output.shape = shape
        found.output.dtype = np.dtype(np.int32) if function is _count else of_dtype(self.dtype)
        return Tensor.of(found.output, found.builder)


def _symbol(value: Any, dtype: Any = None) -> Any:
    made = offered("convert_to_tensor")(value, dtype)  # type: ignore[misc]
    return plain(made)
