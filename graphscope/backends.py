"""What programs ask of `torch.backends`, and set there: answers, and switches that nothing depends on."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Final

mps: Final = SimpleNamespace(is_available=lambda: False, is_built=lambda: False)
cuda: Final = SimpleNamespace(is_built=lambda: False, matmul=SimpleNamespace(allow_tf32=False))
cudnn: Final = SimpleNamespace(
    is_available=lambda: False,
    version=lambda: None,
    enabled=False,
    deterministic=True,
    benchmark=False,
    allow_tf32=False,
)
mkldnn: Final = SimpleNamespace(is_available=lambda: False, enabled=False)
mkl: Final = SimpleNamespace(is_available=lambda: False)
openmp: Final = SimpleNamespace(is_available=lambda: False)
