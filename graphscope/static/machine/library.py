"""Machine code from LLVM's assembly, kept on disk so that it is made once."""

from __future__ import annotations

import ctypes
import hashlib
import os
import threading
from pathlib import Path
from typing import Any, Final

from graphscope.errors import StaticError

_lock = threading.Lock()


def available() -> bool:
    """Whether the extra `compile` is installed."""
    try:
        _llvm()
    except StaticError:
        return False
    return True


def _llvm() -> Any:
    try:
        import llvmlite.binding as llvm
    except ImportError:
        raise StaticError(
            "machine code needs the package llvmlite",
            hint="pip install 'graphscope-debugger[compile]', or use backend='numpy'",
        ) from None
    return llvm


def cache_folder() -> Path:
    """Where machine code is kept: a folder that only its owner may write to."""
    root = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(root) / "graphscope" / "machine-code"


class Library:
    """Functions of machine code. They live as long as the library.

    Args:
        text: LLVM's assembly.
    """

    def __init__(self, text: str) -> None:
        llvm = _llvm()
        self._definitions: list[_Definition] = []
        with _lock:
            llvm.initialize_native_target()
            llvm.initialize_native_asmprinter()
            machine = _machine(llvm)
            key = hashlib.sha256("\n".join([text, machine.triple, *_host(llvm), str(llvm.llvm_version_info)]).encode())
            file = cache_folder() / f"{key.hexdigest()}.o"
            code = _read(file)
            self.cached = code is not None
            if code is None:
                code = _compiled(llvm, machine, text)
                _write(file, code)
            empty = llvm.parse_assembly("")
            self._engine = llvm.create_mcjit_compiler(empty, machine)
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            self._engine.finalize_object()

    def function(self, name: str, own: Any) -> Any:
        """A function of machine code as a function of Python that takes objects.

        Args:
            name: Its name: `ptr NAME(ptr self, ptr arguments, i64 count)`, as Python calls its own.
            own: The object that it gets as `self`.
        """
        definition = _Definition(name.encode(), self._engine.get_function_address(name), _FASTCALL, None)
        self._definitions.append(definition)
        make = ctypes.pythonapi.PyCFunction_NewEx
        make.restype, make.argtypes = ctypes.py_object, [ctypes.POINTER(_Definition), ctypes.py_object, ctypes.c_void_p]
        return make(ctypes.byref(definition), own, None)


class _Definition(ctypes.Structure):
    """Python's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p), ("address", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p),
    )  # fmt: skip


_FASTCALL: Final = 0x80


def _host(llvm: Any) -> tuple[str, str]:
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def _machine(llvm: Any) -> Any:
    cpu, features = _host(llvm)
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=cpu, features=features, opt=2, jit=True, reloc="static", codemodel="jitdefault"
    )


def _compiled(llvm: Any, machine: Any, text: str) -> bytes:
    module = llvm.parse_assembly(text)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = True
    options.slp_vectorization = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return machine.emit_object(module)  # type: ignore[no-any-return]


def _read(file: Path) -> bytes | None:
    try:
        about = file.stat()
        ours = not hasattr(os, "getuid") or about.st_uid == os.getuid()
        return file.read_bytes() if ours else None
    except OSError:
        return None


def _write(file: Path, code: bytes) -> None:
    """Keep machine code; where that can't be, it is made again next time."""
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        made = file.with_suffix(f".{os.getpid()}")
        made.write_bytes(code)
        made.replace(file)
    except OSError:
        return
