"""The one part of the build that needs Python to say it: optional compiled modules, some built against NumPy.

Without a compiler everything works the same way and takes longer. How rows lie in memory, the compiled parts learn from
`_layout.h`, which is made here of `schema.py`.
"""

import runpy
from pathlib import Path

import numpy as np
from setuptools import Extension, setup

SCHEMA = "graphscope/eventlog/schema.py"
LAYOUT = "graphscope/eventlog/_layout.h"
APPENDING = "graphscope/eventlog/_append.h"
RECENT = "graphscope/eventlog/_recent_values.h"
HOLDING = "graphscope/eventlog/_holding.h"
INTERRUPTION = "graphscope/eventlog/_interruption.h"
ENGINE = "graphscope/engine/core/_engine.h"
PROCESSORS = "graphscope/eventlog/_processors.h"
HALVES = "graphscope/eventlog/_halves.h"
TYPES = [PROCESSORS, "graphscope/engine/core/_types.h", "graphscope/engine/core/_exponential.h"]
TORCH = "graphscope/adapters/torch/"
MODULES = {
    "graphscope/eventlog/_append": [LAYOUT, APPENDING, HOLDING, RECENT, PROCESSORS],
    "graphscope/eventlog/_measure": [PROCESSORS, HALVES],
    "graphscope/eventlog/_repeated": [],
    "graphscope/eventlog/_samples": [PROCESSORS, HALVES],
    "graphscope/engine/core/_calls": [APPENDING, INTERRUPTION, LAYOUT, ENGINE, "graphscope/engine/core/_general.h"],
    "graphscope/engine/core/_backward": [LAYOUT, APPENDING, ENGINE],
    "graphscope/engine/core/_loops": [PROCESSORS],
    "graphscope/engine/core/_formulas": [HOLDING, *TYPES, "graphscope/engine/core/_formulas.h"],
    "graphscope/engine/core/_layers": [*TYPES, "graphscope/engine/core/_layers.h"],
    "graphscope/engine/core/_along": [PROCESSORS],
    "graphscope/adapters/torch/_calls": [
        LAYOUT,
        APPENDING,
        HOLDING,
        INTERRUPTION,
        HALVES,
        TORCH + "_adapter.h",
        TORCH + "_known_tensors.c",
        TORCH + "_tensor_access.c",
        TORCH + "_handler.h",
        TORCH + "_handler.c",
        TORCH + "_several_results.c",
        TORCH + "_rules.c",
        TORCH + "_slots.c",
        TORCH + "_updates.c",
        TORCH + "_promises.c",
        TORCH + "_freeing.c",
        TORCH + "_backward_graph.c",
        TORCH + "_entry.c",
        TORCH + "_methods.c",
        TORCH + "_op_entry.c",
        TORCH + "_passed_steps.c",
        TORCH + "_loss_scales.c",
    ],
}
"""Each compiled module, and the headers and further sources that it is made of."""

TYPES_IN_C = {"u1": "uint8_t", "u2": "uint16_t", "u4": "uint32_t", "u8": "uint64_t", "f8": "double"}
STRUCTURES = {"EventRow": "EVENT", "EdgeRow": "EDGE", "OutputRow": "OUTPUT", "SummaryRecord": "SUMMARY"}
"""What C calls the rows that the schema defines."""


def structure(name: str, dtype: np.dtype) -> str:
    """A structure of C whose fields lie as those of a dtype."""
    fields = ((field, *dtype[field].shape, dtype[field].base.str[1:]) for field in dtype.names)
    lines = [
        f"    {TYPES_IN_C[code]} {field}{''.join(f'[{size}]' for size in sizes)};\n" for field, *sizes, code in fields
    ]
    return f"typedef struct {{\n{''.join(lines)}}} {name};\n"


def layout() -> str:
    """The header that tells C what the schema says."""
    schema = runpy.run_path(SCHEMA)
    numbers = {name: schema[name] for name in ("INLINE_INPUTS", "SLOT_SHIFT")}
    numbers |= {f"FLAG_{flag.name}": flag.value for flag in schema["Flag"]}
    return "".join(
        [
            "/* Made by setup.py of schema.py. */\n#ifndef GRAPHSCOPE_LAYOUT_H\n#define GRAPHSCOPE_LAYOUT_H\n\n",
            "#include <stdint.h>\n\n#pragma pack(push, 1)\n",
            *(structure(name, schema[dtype]) for name, dtype in STRUCTURES.items()),
            "#pragma pack(pop)\n\n",
            *(f"#define {name} {value}\n" for name, value in numbers.items()),
            "#define ROW_MASK (((int64_t)1 << SLOT_SHIFT) - 1)\n#endif\n",
        ]
    )


if not Path(LAYOUT).exists() or Path(LAYOUT).read_text() != layout():
    Path(LAYOUT).write_text(layout())

setup(
    ext_modules=[
        Extension(
            path.replace("/", "."),
            [f"{path}.c", *(each for each in parts if each.endswith(".c"))],
            depends=parts,
            include_dirs=[np.get_include()],
            optional=True,
        )
        for path, parts in MODULES.items()
    ]
)
