"""LLVM's assembly as text: names, loops, loads and stores."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

TYPES: Final = {"f4": "float", "f8": "double", "b1": "i8"}
"""LLVM's types by NumPy's names: a boolean is a byte in memory."""


def type_of(dtype: Any) -> str:
    """LLVM's name of a dtype."""
    return TYPES[np.dtype(dtype).str[1:]]


def literal(value: float, kind: str) -> str:
    """A number as LLVM writes it: the bits of a double."""
    number = float(np.float32(value)) if kind == "float" else float(value)
    return "0x" + struct.pack(">d", number).hex().upper()


class Code:
    """The body of one function.

    Args:
        single: Whether it computes a single element: then what counts is how long one waits for it, not how many fit
            in a vector.
    """

    def __init__(self, single: bool = False) -> None:
        self.single = single
        self.slots: list[str] = []
        self.lines: list[str] = []
        self._numbers = itertools.count()

    def name(self) -> str:
        """A name that nothing has yet."""
        return f"%v{next(self._numbers)}"

    def put(self, text: str) -> str:
        """An instruction; the name of what it gives."""
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        """An instruction that gives nothing."""
        self.lines.append(f"  {text}")

    def slot(self, kind: str) -> str:
        """Room on the stack."""
        name = self.name()
        self.slots.append(f"  {name} = alloca {kind}")
        return name

    def at(self, pointer: str, kind: str, index: str) -> str:
        """The address of an element."""
        return pointer if index == "0" else self.put(f"getelementptr inbounds {kind}, ptr {pointer}, i64 {index}")

    def load(self, pointer: str, kind: str, index: str = "0", align: int | None = None) -> str:
        """An element."""
        where = self.at(pointer, kind, index)
        return self.put(f"load {kind}, ptr {where}" + (f", align {align}" if align else ""))

    def store(self, value: str, pointer: str, kind: str, index: str = "0", align: int | None = None) -> None:
        """Write an element."""
        where = self.at(pointer, kind, index)
        self.do(f"store {kind} {value}, ptr {where}" + (f", align {align}" if align else ""))

    def times(self, index: str, stride: int) -> str:
        """An index times a stride."""
        if stride == 0 or index == "0":
            return "0"
        return index if stride == 1 else self.put(f"mul nuw nsw i64 {index}, {stride}")

    def plus(self, one: str, other: str) -> str:
        """The sum of two indices."""
        if one == "0":
            return other
        return one if other == "0" else self.put(f"add nuw nsw i64 {one}, {other}")

    @contextmanager
    def loop(self, count: int, step: int = 1) -> Iterator[str]:
        """Run what is written inside for 0, step, 2·step, ... below `count`; gives the counter."""
        if count <= step:
            yield "0"
            return
        counter, label = self.slot("i64"), next(self._numbers)
        self.do(f"store i64 0, ptr {counter}")
        self.do(f"br label %loop{label}")
        self.lines.append(f"loop{label}:")
        here = self.put(f"load i64, ptr {counter}")
        yield here
        after = self.put(f"add nuw nsw i64 {here}, {step}")
        self.do(f"store i64 {after}, ptr {counter}")
        more = self.put(f"icmp ult i64 {after}, {count}")
        self.do(f"br i1 {more}, label %loop{label}, label %done{label}")
        self.lines.append(f"done{label}:")

    def function(self, name: str, arguments: str, how: str = "internal") -> str:
        """The whole function."""
        body = "\n".join([*self.slots, *self.lines])
        return f"define {how} void @{name}({arguments}) #0 {{\nentry:\n{body}\n  ret void\n}}\n"
