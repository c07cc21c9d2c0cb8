"""The one part of the build that needs Python to say it: optional compiled modules, one built against NumPy."""

import numpy as np
from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "graphscope.eventlog._append",
            ["graphscope/eventlog/_append.c"],
            include_dirs=[np.get_include()],
            optional=True,  # without a compiler, recording works the same way and takes longer
        ),
        Extension("graphscope.adapters.torch._calls", ["graphscope/adapters/torch/_calls.c"], optional=True),
        Extension("graphscope.eventlog._measure", ["graphscope/eventlog/_measure.c"], optional=True),
    ]
)
