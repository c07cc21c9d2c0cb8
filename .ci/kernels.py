"""Make the PTX of the kernels that recording runs on CUDA devices: `make kernels`.

It takes no device and no compiler but NVIDIA's library for it, of an old release: its PTX runs on whatever is newer.
"""

from __future__ import annotations

import ctypes
import hashlib
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ASSETS = Path(__file__).parents[1] / "graphscope" / "adapters" / "torch" / "assets"
OPTIONS = (b"--gpu-architecture=compute_60", b"--std=c++14", b"--fmad=false")
"""The oldest devices that add up doubles atomically; and no sum that is rounded in another way than NumPy's."""


def library() -> Any:
    """NVRTC, as `pip install nvidia-cuda-nvrtc-cu11==11.8.89` brings it."""
    found = find_spec("nvidia.cuda_nvrtc")
    if found is None or found.submodule_search_locations is None:
        sys.exit("install it first: pip install nvidia-cuda-nvrtc-cu11==11.8.89")
    folder = Path(found.submodule_search_locations[0], "lib")
    ctypes.CDLL(str(next(folder.glob("libnvrtc-builtins.so*"))), ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(str(next(folder.glob("libnvrtc.so*"))))


def compiled(source: bytes) -> bytes:
    """The PTX of a source."""
    nvrtc, program, size = library(), ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"statistics.cu", 0, None, None)
    failed = nvrtc.nvrtcCompileProgram(program, len(OPTIONS), (ctypes.c_char_p * len(OPTIONS))(*OPTIONS))
    what = "ProgramLog" if failed else "PTX"
    getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f"nvrtcGet{what}")(program, text)
    if failed:
        sys.exit(text.value.decode())
    return text.value


if __name__ == "__main__":
    for path in ASSETS.glob("*.cu"):
        content = path.read_bytes()
        mark = f"// of {path.name} {hashlib.sha256(content).hexdigest()}\n".encode()
        path.with_suffix(".ptx").write_bytes(mark + compiled(content))
