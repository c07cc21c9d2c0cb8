"""Training programs of other frameworks, as people write them, and what they do without graphscope.

A folder beside this file holds the programs of one framework: `jax_programs`, `tensorflow_programs` (TensorFlow 2 and
Keras) and `tensorflow1_programs` (sessions; `import tensorflow.compat.v1 as tf` is the line to change to run one under
another package of the same names). Each program runs alone, trains two to four steps of a small model, and prints its
numbers with all their digits. Lines `grad NAME SUM NORM` are the gradients of its first step, summed up in float64 by
NumPy: what a log says of these leaves is compared with them.

`expected.json` in each folder is what the programs print, and how they exit, when they are run bare; numbers of
another processor may differ in the last digits, so compare bits with a bare run of the same machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path


def programs(folder: Path) -> list[Path]:
    """The programs of a folder, by name."""
    return sorted(folder.glob("*.py"))


def bare(path: Path) -> tuple[int, str]:
    """Exit code and printed output of a program that is run by itself, in an empty directory."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    with tempfile.TemporaryDirectory() as directory:
        run = subprocess.run(
            [sys.executable, str(path.resolve())],
            cwd=directory,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=False,
        )
    return run.returncode, run.stdout
