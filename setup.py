"""The one part of the build that needs Python to say it: optional compiled modules, some built against NumPy.

Without a compiler everything works the same way and takes longer.
"""

import numpy as np
from setuptools import Extension, setup

APPENDING = "graphscope/eventlog/_append.h"
ENGINE = "graphscope/engine/_engine.h"
MODULES = {
    "graphscope/eventlog/_append": [APPENDING],
    "graphscope/eventlog/_measure": [],
    "graphscope/engine/_calls": [APPENDING, ENGINE],
    "graphscope/engine/_backward": [APPENDING, ENGINE],
    "graphscope/adapters/torch/_calls": [],
}
"""Each compiled module, and the headers that it is made of."""

setup(
    ext_modules=[
        Extension(
            path.replace("/", "."), [f"{path}.c"], depends=headers, include_dirs=[np.get_include()], optional=True
        )
        for path, headers in MODULES.items()
    ]
)
