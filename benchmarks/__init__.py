"""What is measured, against whom, and what came out: `python -m benchmarks`."""

import os
import sys
from typing import Final

ONE_THREAD: Final = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
}

# Read once, when NumPy loads its BLAS: so before anything here imports NumPy.
if "numpy" not in sys.modules:
    os.environ.update(ONE_THREAD)
