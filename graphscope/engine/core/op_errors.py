"""What went wrong in an op, in the words of the person whose tensors do not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphscope.engine.core.op import Op


def explain_failure(op: Op, arrays: Any, attrs: dict[str, Any] | None, error: Exception) -> Exception:
    """The error to raise in the place of NumPy's: the op, the shapes of its operands, and the dims that disagree."""
    shapes = [tuple(array.shape) for array in arrays if hasattr(array, "shape")]
    shown = " and ".join(str(shape) for shape in shapes) or "no tensors"
    said = str(error).splitlines()[0]
    why = (
        _mismatch(op.name, shapes) if "broadcast" in said or "aligned" in said or "mismatch" in said else None
    ) or said
    if "invalid index to scalar" in said or "array is 0-dimensional, but" in said:
        return IndexError(
            f"{op.name}: invalid index of a 0-dim tensor. Use tensor.item() to convert a 0-dim tensor to a number"
        )
    if "read-only" in said:
        return RuntimeError(f"{op.name}: {_unwritable(arrays[0])}")
    shown_attrs = [f"{name}={value!r}" for name, value in (attrs or {}).items() if not name.startswith("_")]
    described = f" with {', '.join(shown_attrs)}" if shown_attrs else ""
    kind = IndexError if isinstance(error, IndexError) else RuntimeError
    return kind(f"{op.name}: operands of shape {shown}{described} do not fit: {why}")


def _unwritable(array: Any) -> str:
    shape = tuple(array.shape)
    if all(step or size <= 1 for step, size in zip(array.strides, shape, strict=True)):
        return (
            f"the array of shape {shape} that the tensor was made from is read-only: clone() it before writing into it"
        )
    return (
        f"unsupported operation: more than one element of the written-to tensor of shape {shape} refers to a single "
        "memory location, as after expand(): clone() it before writing into it"
    )


def _mismatch(name: str, shapes: list[tuple[int, ...]]) -> str | None:
    if len(shapes) != 2 or not shapes[0] or not shapes[1]:
        return None
    left, right = shapes
    if name in ("mm", "matmul", "bmm", "addmm"):
        inner = right[-2] if len(right) > 1 else right[0]
        if left[-1] != inner:
            return f"the last dim of the first is {left[-1]}, dim {max(len(right) - 2, 0)} of the second is {inner}"
        return None
    for back in range(1, min(len(left), len(right)) + 1):
        if left[-back] != right[-back] and 1 not in (left[-back], right[-back]):
            return f"dim {-back} is {left[-back]} in the first and {right[-back]} in the second, and neither is 1"
    return None
