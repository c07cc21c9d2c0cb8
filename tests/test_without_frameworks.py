"""`make test` needs no framework: every test module can be collected where there is none."""

from __future__ import annotations

import subprocess
import sys

import pytest

COLLECT = """
import sys
sys.modules.update(dict.fromkeys(["torch", "jax", "tensorflow", "ml_dtypes", "safetensors", "onnx"]))
import pytest
sys.exit(pytest.main(["-q", "--collect-only", "-m", "not torch and not slow", "-p", "no:cacheprovider"]))
"""


@pytest.mark.slow
def test_all_tests_are_collected_where_no_framework_is() -> None:
    done = subprocess.run([sys.executable, "-c", COLLECT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "error" not in done.stdout.splitlines()[-1]
