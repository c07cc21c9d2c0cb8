"""Formulas of ops that move elements: views, joins, splits, and what picks or puts by an index."""

from __future__ import annotations

from typing import Final

from graphscope.formulas.formula import Formula, of

_RESHAPED: Final = "reshape(g, x)"

FORMULAS: Final[dict[str, Formula]] = {
    "t": of("out[i, j] = x[j, i]", x="g.T", element="x[j, i]"),
    "T": of("out[i, j] = x[j, i]", x="g.T", element="x[j, i]"),
    "mT": of("out[.., i, j] = x[.., j, i]", x="g.mT", element="x[j, i]"),
    "transpose": of("out = x with dims dim0 and dim1 swapped", x="transpose(g, dim0, dim1)"),
    "permute": of("out = x with its dims in the order dims", x="permute(g, inverse(dims))"),
    "movedim": of("out = x with dim source at destination", x="movedim(g, destination, source)"),
    "reshape": of("out = reshape(x, shape)", {"size": "shape"}, x=_RESHAPED),
    "view": of("out = reshape(x, shape)", {"size": "shape"}, x=_RESHAPED),
    "view_as": of("out = x in the shape of y", x=_RESHAPED),
    "flatten": of("out = x with dims start_dim to end_dim joined", x=_RESHAPED),
    "unflatten": of("out = x with dim split in parts", x=_RESHAPED),
    "squeeze": of("out = x without its dims of size 1", x=_RESHAPED),
    "unsqueeze": of("out = x with a dim of size 1 at dim", x=_RESHAPED),
    "expand": of("out = broadcast(x, shape)", {"size": "shape"}, x="g"),
    "expand_as": of("out = x broadcast to the shape of y", x="g"),
    "broadcast_to": of("out = broadcast(x, shape)", {"size": "shape"}, x="g"),
    "repeat": of("out = [x, x, ...]", x="sum_of_copies(g, x)"),
    "tile": of("out = [x, x, ...]", x="sum_of_copies(g, x)"),
    "repeat_interleave": of("out = [x[0], x[0], ..., x[1], ...]"),
    "cat": of("out = [x[0]; x[1]; ...]", x="part(g, x, i, dim)"),
    "stack": of("out = [x[0], x[1], ...]", x="select(g, dim, i)"),
    "hstack": of("out = [x[0]; x[1]; ...]", x="part(g, x, i, dim) where dim = 1 if g.dim() > 1 else 0"),
    "vstack": of("out = [x[0]; x[1]; ...]", x="reshape(part(g, rows(x), i, 0), x[i])"),
    "split": of("out[k] = part k of x, all of one length", x="cat(g, dim)"),
    "chunk": of("out[k] = part k of x, of so many chunks", x="cat(g, dim)"),
    "unbind": of("out[k] = x[k]", x="stack(g, dim)"),
    "getitem": of("out = x[index]", inputs="x index", x="put(x, index, g)"),
    "setitem_": of("x[index] ← y", inputs="x index y", x="where(at(x, index), 0, g)", y="g[index]"),
    "select": of("out = x at index of dim", x="put_along(x, dim, index, g)"),
    "narrow": of("out = x from start, length long, of dim", x="put_range(x, dim, start, length, g)"),
    "index_select": of("out[i] = x[index[i]]", x="index_add(zeros(x), dim, index, g)"),
    "gather": of("out[i, j] = x[i, index[i, j]]", x="scatter_add(zeros(x), dim, index, g)"),
    "take_along_dim": of("out[i, j] = x[i, indices[i, j]]", x="scatter_add(zeros(x), dim, indices, g)"),
    "scatter": of(
        "out = x; out[i, index[i, j]] = src[i, j]", x="scatter(g, dim, index, 0)", src="gather(g, dim, index)"
    ),
    "scatter_add": of("out = x; out[i, index[i, j]] += src[i, j]", x="g", src="gather(g, dim, index)"),
    "index_add": of("out = x; out[index[i]] += alpha · source[i]", x="g", source="alpha * index_select(g, dim, index)"),
    "masked_select": of("out = x[mask]", x="put(x, mask, g)"),
    "flip": of("out[i] = x[n-1-i]", x="flip(g, dims)"),
    "roll": of("out[i] = x[i - shifts mod n]", x="roll(g, -shifts, dims)"),
    "diagonal": of("out[i] = x[i, i + offset]", x="put_diagonal(x, offset, dim1, dim2, g)"),
    "diag": of("out[i] = x[i, i + diagonal], or the other way round", x="diag(g, diagonal)"),
    "pad": of("out = [value, x, value]", x="inner(g, pad)"),
    "one_hot": of("out[i, n] = 1 if x[i] = n else 0"),
    "unfold": of("out[:, k] = elements of window k of x"),
    "copy_": of("x ← src", x="0", src="g"),
    "zero_": of("x ← 0", x="0"),
    "fill_": of("x ← value", x="0", value="sum(g)"),
    "copy_slices": of("out = x; the view that was written = y", inputs="x y"),
    "take_view": of("out = the view x of y, after y was written", inputs="x y"),
    "accumulate_grad": of("x ← x + y", inputs="x y"),
    "changed": of("x ← what was written into its memory", inputs="x"),
}
