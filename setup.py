"""The one part of the build that needs Python to say it: optional compiled modules, some built against NumPy.

Without a compiler everything works the same way and takes longer.
"""

import numpy as np
from setuptools import Extension, setup

APPENDING = "graphscope/eventlog/_append.h"
HOLDING = "graphscope/eventlog/_holding.h"
INTERRUPTION = "graphscope/eventlog/_interruption.h"
ENGINE = "graphscope/engine/core/_engine.h"
PROCESSORS = "graphscope/eventlog/_processors.h"
TYPES = [PROCESSORS, "graphscope/engine/core/_types.h", "graphscope/engine/core/_exponential.h"]
TORCH = "graphscope/adapters/torch/"
MODULES = {
    "graphscope/eventlog/_append": [APPENDING, HOLDING, PROCESSORS],
    "graphscope/eventlog/_measure": [PROCESSORS],
    "graphscope/engine/core/_calls": [APPENDING, INTERRUPTION, ENGINE, "graphscope/engine/core/_general.h"],
    "graphscope/engine/core/_backward": [APPENDING, ENGINE],
    "graphscope/engine/core/_loops": [PROCESSORS],
    "graphscope/engine/core/_formulas": [HOLDING, *TYPES, "graphscope/engine/core/_formulas.h"],
    "graphscope/engine/core/_layers": [*TYPES, "graphscope/engine/core/_layers.h"],
    "graphscope/engine/core/_along": [PROCESSORS],
    "graphscope/adapters/torch/_calls": [
        APPENDING,
        HOLDING,
        INTERRUPTION,
        TORCH + "_adapter.h",
        TORCH + "_table.c",
        TORCH + "_looking.c",
        TORCH + "_handler.c",
        TORCH + "_rules.c",
        TORCH + "_walk.c",
        TORCH + "_entry.c",
        TORCH + "_methods.c",
    ],
}
"""Each compiled module, and the headers and further sources that it is made of."""

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
