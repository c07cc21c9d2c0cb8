"""A plan whose loops are machine code; what LLVM has no business with stays a call of NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from graphscope.static.graphs.graph import Graph, Value
from graphscope.static.machine.fusion import Group, groups_of
from graphscope.static.machine.kernel_text import kernel_of
from graphscope.static.machine.kernels import Operand
from graphscope.static.machine.library import Library
from graphscope.static.machine.math_functions import prelude
from graphscope.static.plans.lowering import Step
from graphscope.static.plans.memory import Memory, plan_memory
from graphscope.static.plans.plan import Plan

_DATA: Final = object.__basicsize__
"""The byte of an array object at which NumPy keeps the address of its elements."""


class MachinePlan(Plan):
    """As `Plan`, in machine code.

    Attributes:
        assembly: What LLVM was given.
        cached: Whether the machine code was there already, from an earlier run.
    """

    backend = "machine"

    def __init__(self, graph: Graph) -> None:
        self._kernels: dict[str, str] = {}
        self._mains: list[str] = []
        self._slots: dict[Value | None, int] = {None: 0}
        super().__init__(graph)
        self.assembly = "\n".join([prelude(), *self._kernel_texts(), *self._mains, _ATTRIBUTES])
        self.cached = True
        if self._mains:
            self._library = Library(self.assembly)
            self.cached = self._library.cached
        self._table = np.zeros(len(self._slots), np.uintp)
        for number in range(len(self._mains)):
            self._space[f"m{number}"] = self._library.function(f"main{number}", self._table)
        self._table[0] = self.memory.room.ctypes.data
        for value, slot in self._slots.items():
            if value is not None and value.node.op == "constant":
                self._table[slot] = self._space[self._names[value]].ctypes.data

    def _planned(self) -> Memory:
        self._groups = groups_of(self.lowered)
        self._by_step = {id(step): (number, group) for number, group in enumerate(self._groups) for step in group.steps}
        moments, now = [], 0
        for step in self.lowered.steps:
            now = self._by_step[id(step)][0] if id(step) in self._by_step else now
            moments.append(now)
        return plan_memory(self.lowered, moments)

    def _kernel_texts(self) -> list[str]:
        """The kernels; one that is called often is not written out at each place."""
        texts = []
        for text, name in self._kernels.items():
            often = sum(main.count(f"@{name}(") for main in self._mains) > _OFTEN
            made = text.replace("@NAME", f"@{name}", 1)
            texts.append(made.replace(" #0 {", " #2 {" if often else " #1 {", 1))
        return texts

    # Python around it ------------------------------------------------------------------------------------------------

    def _lines(self, arrays: dict[Value, Any]) -> list[str]:
        lines: list[str] = []
        waiting: list[Group] = []
        for number, step in enumerate(self.lowered.steps):
            if step.view:
                lines += self._line(number, step, arrays)
                continue
            _, group = self._by_step[id(step)]
            if group.kind == "call":
                lines += self._main(waiting)
                waiting = []
                lines += [*self._line(number, step, arrays), *self._laid_out(step)]
                continue
            if step is group.steps[0]:
                waiting.append(group)
            lines += self._room_for(step, number, arrays)
        return lines + self._main(waiting)

    def _laid_out(self, step: Step) -> list[str]:
        """Let results of Python lie as machine code takes them: NumPy gives scalars, and keeps the order of inputs."""
        names = [self._names[value] for value in step.node.outputs if step.into and value in self.lowered.fresh]
        self._space["asarray"] = np.asarray
        return [f"{name} = asarray({name}, None, 'C')" for name in names]

    def _room_for(self, step: Step, number: int, arrays: dict[Value, Any]) -> list[str]:
        """The name of a result that machine code computes; what a run gives away is made by Python."""
        (value,) = step.node.outputs
        if value not in self.lowered.fresh:
            self._names[value] = f"s{number}"
            self._space[f"s{number}"] = arrays[value]
            return []
        name = self._names[value] = f"r{number}_0"
        self._space["empty"] = np.empty
        self._space[f"d{number}"] = value.dtype
        return [f"{name} = empty({value.shape}, d{number})"]

    def _main(self, groups: Sequence[Group]) -> list[str]:
        """A function of machine code that runs these groups, and the line that calls it."""
        if not groups:
            return []
        number = len(self._mains)
        addresses = _Addresses()
        calls = []
        for group in groups:
            for kernel, values in kernel_of(self.lowered, group, self._operand):
                name = self._kernels.setdefault(kernel, f"kernel{len(self._kernels)}")
                pointers = [f"ptr {self._pointer(addresses, value, more)}" for value, more in values]
                calls.append(f"  call void @{name}({', '.join(pointers)})")
        text = "\n".join([*addresses.lines, *calls])
        self._mains.append(
            f"define ptr @main{number}(ptr %self, ptr %args, i64 %count) #0 {{\nentry:\n"
            f"  %tabled = getelementptr i8, ptr %self, i64 {_DATA}\n  %table = load ptr, ptr %tabled\n"
            f"{text}\n  call void @Py_IncRef(ptr @_Py_NoneStruct)\n  ret ptr @_Py_NoneStruct\n}}"
        )
        names = ", ".join(step.node.name for group in groups for step in group.steps[:1])
        return [f"m{number}({', '.join(addresses.objects)})  # {names[:100]}"]

    # Where things lie ------------------------------------------------------------------------------------------------

    def _operand(self, value: Value) -> Operand:
        """How a value lies in memory."""
        sample = self.lowered.samples[value]
        strides = tuple(stride // sample.itemsize for stride in sample.strides)
        return Operand(sample.shape, strides, sample.dtype.str[1:])

    def _pointer(self, addresses: _Addresses, value: Value, more: int) -> str:
        """The address of a value: an offset from a slot of the table, or from the elements of an array object."""
        samples, root = self.lowered.samples, self.lowered.roots[value]
        offset = samples[value].__array_interface__["data"][0] - samples[root].__array_interface__["data"][0] + more
        if root in self.memory.offsets:
            return addresses.of_slot(0, offset + self.memory.offsets[root])
        if root in self.lowered.fresh:
            return addresses.of_object(self._names[root], offset)
        return addresses.of_slot(self._slots.setdefault(root, len(self._slots)), offset)

    def _bind(self, given: Sequence[Any]) -> None:
        super()._bind(given)
        for value, slot in self._slots.items():
            if value is not None and value.node.op != "constant":
                self._table[slot] = self._space[self._names[value]].ctypes.data


class _Addresses:
    """The addresses that a function of machine code works with, each found once."""

    def __init__(self) -> None:
        self.objects: list[str] = []
        self.lines: list[str] = []
        self._known: dict[Any, str] = {}

    def of_slot(self, slot: int, offset: int) -> str:
        """So many bytes behind the address in a slot of the table."""
        return self._behind(("%table", slot * 8), offset)

    def of_object(self, name: str, offset: int) -> str:
        """So many bytes behind the first element of an array object that the function is given."""
        if name not in self.objects:
            self.objects.append(name)
        return self._behind((self._loaded(("%args", self.objects.index(name) * 8)), _DATA), offset)

    def _behind(self, place: tuple[str, int], offset: int) -> str:
        base = self._loaded(place)
        return base if offset == 0 else self._once((base, offset), f"getelementptr i8, ptr {base}, i64 {offset}")

    def _loaded(self, place: tuple[str, int]) -> str:
        base, offset = place
        where = self._once((base, offset), f"getelementptr i8, ptr {base}, i64 {offset}")
        return self._once(("load", where), f"load ptr, ptr {where}")

    def _once(self, key: Any, text: str) -> str:
        if key not in self._known:
            self._known[key] = f"%q{len(self._known)}"
            self.lines.append(f"  {self._known[key]} = {text}")
        return self._known[key]


_OFTEN: Final = 3

_ATTRIBUTES: Final = """
attributes #0 = { nounwind }
attributes #1 = { nounwind alwaysinline }
attributes #2 = { nounwind noinline }
attributes #3 = { nounwind noinline cold }
@_Py_NoneStruct = external global i8
declare void @Py_IncRef(ptr)
"""
