"""The instrumented core: tensors, the one place where an op runs, the one place where a rule runs backward."""

import numpy as np

from graphscope.errors import EngineError

if int(np.__version__.partition(".")[0]) < 2:
    raise EngineError(
        f"graphscope's own engine and graphscope.static take NumPy 2 or newer, and this is NumPy {np.__version__}",
        hint="`pip install -U numpy`; programs of other frameworks are recorded and debugged with either",
    )
