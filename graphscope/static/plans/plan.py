"""The plan of NumPy calls: a graph as one straight function, whose calls compute into memory that was planned ahead."""

from __future__ import annotations

import itertools
import linecache
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from graphscope.errors import StaticError
from graphscope.static.graphs.graph import Graph, Node, Value
from graphscope.static.plans.lowering import SOURCES, Lowered, Step, lower
from graphscope.static.plans.memory import Memory, plan_memory
from graphscope.static.plans.numpy_calls import is_stack


def _place(node: Node) -> str:
    """A node by its name, and where the program has it."""
    return node.name if node.site is None else f"{node.name}, {Path(node.site.file).name}:{node.site.line}"


_numbers: Final = itertools.count(1)


class Plan:
    """A graph that is ready to run on arrays.

    Args:
        graph: An optimised graph, all of whose shapes are known.

    Attributes:
        source: The function as text, a line for each call, with the node that it is of and its line in the program.
        memory: Where its values lie.
        run: The function: as `__call__`.
    """

    backend = "numpy"

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.lowered: Lowered = lower(graph)
        self.memory: Memory = self._planned()
        self._names: dict[Value, str] = {}
        self._space: dict[str, Any] = {}
        self._views: list[tuple[str, Any, list[str]]] = []
        self._given: list[tuple[str, Any]] = []  # the name, and the sample that tells the layout
        self._staged: dict[int, Any] = {}
        self._tensors = [node.attributes["tensor"] for node in graph.nodes if node.op == "variable"]
        self.source = self._written()
        name = f"<plan {next(_numbers)} of {graph.name}>"
        exec(compile(self.source, name, "exec"), self._space)  # noqa: S102 - the text above
        # So that warnings and tracebacks show the call, and behind it the node and its line.
        linecache.cache[name] = len(self.source), None, self.source.splitlines(keepends=True), name
        weakref.finalize(self, linecache.cache.pop, name, None)
        self.run = self._space["run"]

    def __str__(self) -> str:
        memory = self.memory
        return (
            f"{self.source}# {memory.size:,} bytes of buffers ({memory.unshared:,} if none were used twice), "
            f"{len(memory.in_place)} of the results written over what they are made of"
        )

    def __call__(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """Run it; `plan.run` is the same without this step between.

        Args:
            arrays: The inputs of the graph, of the shapes and dtypes that it says.

        Returns:
            The outputs: arrays of their own.

        Raises:
            StaticError: An array is of another shape or dtype.
        """
        return self.run(arrays)  # type: ignore[no-any-return]

    # Making ----------------------------------------------------------------------------------------------------------

    def _planned(self) -> Memory:
        return plan_memory(self.lowered)

    def _written(self) -> str:
        arrays = self.memory.arrays()
        sources = [node for node in self.graph.nodes if node.op in SOURCES]
        given = [value.node for value in self.graph.inputs] + [node for node in sources if node.op == "variable"]
        for number, node in enumerate(given):
            self._names[node.outputs[0]] = f"a{number}"
            self._given.append((f"a{number}", self.lowered.samples[node.outputs[0]]))
        for number, node in enumerate(node for node in sources if node.op == "constant"):
            self._names[node.outputs[0]] = f"c{number}"
            self._space[f"c{number}"] = self.lowered.samples[node.outputs[0]]
        lines = self._lines(arrays)
        outputs = ", ".join(self._output(value) for value in self.graph.outputs)
        inputs = [f"i{number}" for number in range(len(self.graph.inputs))]
        tensors = [f"x{number}.array" for number in range(len(self._tensors))]
        arguments = [*inputs, *tensors]
        self._space |= dict(zip((name.partition(".")[0] for name in tensors), self._tensors, strict=True))
        self._space |= {"bind": self._bind, "staged": self._staged, "copy": np.array}
        tests = " or ".join(f"{name} is not b{number}" for number, name in enumerate(arguments))
        self._space |= {f"b{number}": None for number in range(len(arguments))}
        begin = [f"{', '.join(inputs)}, = given"] if inputs else []
        if arguments:
            begin += [f"if {tests}:", "    bind(given)", "if staged:", "    for place, room in staged.items():"]
            begin += [f"        room[...] = ({', '.join(arguments)},)[place]"]
        written = "".join(f"    {line}\n" for line in [*begin, *lines])
        return f"def run(given):\n{written}    return ({outputs}{',' if outputs else ''})\n"

    def _lines(self, arrays: dict[Value, Any]) -> list[str]:
        return [line for number, step in enumerate(self.lowered.steps) for line in self._line(number, step, arrays)]

    def _output(self, value: Value) -> str:
        root = self.lowered.roots[value]
        name = self._names[value]
        return name if root in self.lowered.fresh and value is root else f"copy({name})"

    def _line(self, number: int, step: Step, arrays: dict[Value, Any]) -> list[str]:
        names, space = self._names, self._space
        outs = step.node.outputs
        if step.view:
            (value,) = outs
            names[value] = f"v{number}"
            source = names[step.inputs[0]]
            assert not isinstance(step.function, str)
            if value in self.lowered.fresh:
                space[f"f{number}"] = step.function
                return [f"v{number} = f{number}({source})"]
            if value in self.lowered.bound:
                self._views.append((f"v{number}", step.function, [source]))
            else:
                space[f"v{number}"] = step.function(space[source])
            return []
        note = f"  # {_place(step.node)}"
        call = step.call
        fixed = call is not None and outs[0] not in self.lowered.fresh
        given = [names[value] if isinstance(value, Value) else self._number(value) for value in step.inputs]
        if call is not None and fixed:
            names[outs[0]] = f"s{number}"
            space[f"s{number}"] = arrays[outs[0]]
            given.append(f"s{number}")
            if is_stack(step.node) and not any(value in self.lowered.fresh for value in step.node.values):
                space["concatenate"] = np.concatenate  # of rows that lie at the same place in each run
                sources = [names[value] for value in step.node.values]
                self._views.append((f"p{number}", lambda *rows: [row[None] for row in rows], sources))
                return [f"concatenate(p{number}, 0, s{number}){note}"]
            return [self._called(call.into, given, number) + note]
        for slot, value in enumerate(outs):
            names[value] = f"r{number}_{slot}"
        if not outs:
            return [self._called(step.function, given, number) + note]
        left = ", ".join(names[value] for value in outs) + ("," if step.several else "")
        return [f"{left} = {self._called(call.fresh if call else step.function, given, number)}{note}"]

    def _called(self, function: Any, given: list[str], number: int) -> str:
        if isinstance(function, str):
            return f"{given[0]}.{function}({', '.join(given[1:])})"
        name = function.__name__ if isinstance(function, np.ufunc) else f"f{number}"
        self._space[name] = function
        return f"{name}({', '.join(given)})"

    def _number(self, value: Any) -> str:
        if isinstance(value, bool | int | None) or (isinstance(value, float) and value - value == 0):
            return repr(value)
        name = f"n{len(self._space)}"
        self._space[name] = value
        return name

    # Running ---------------------------------------------------------------------------------------------------------

    def _bind(self, inputs: Sequence[Any]) -> None:
        """Let the function look at these arrays; one that lies otherwise than planned is copied at each run."""
        self._staged.clear()
        space = self._space
        given = [*inputs, *(tensor.array for tensor in self._tensors)]
        for place, ((name, sample), array) in enumerate(zip(self._given, given, strict=True)):
            if sample is not None and (np.shape(array) != sample.shape or array.dtype != sample.dtype):
                raise StaticError(
                    f"input {place} of the plan of {self.graph.name!r} is {array.dtype} of shape {np.shape(array)}, "
                    f"planned was {sample.dtype} of shape {sample.shape}",
                    hint="give arrays of the planned types, or compile for these",
                )
            if isinstance(array, np.ndarray) and (sample is None or array.strides == sample.strides):
                space[name] = array
            elif sample is None or not isinstance(array, np.ndarray):
                space[name] = np.asarray(array)
            else:
                self._staged[place] = space[name] = np.empty_like(sample)
        for name, function, sources in self._views:
            space[name] = function(*[space[source] for source in sources])
        space.update((f"b{number}", array) for number, array in enumerate(given))
