"""Loading kept kernels without what numba makes ready for compiling new ones.

Before numba looks for a kept kernel it registers all functions that it can compile calls of and compiles its
own run-time system, a fifth of a second; with a kernel it reads the code that its callers would take in when
they are compiled. Here all of that waits until something is compiled. Nor is a file written for each kernel,
to see whether the folder can be: `kernels.cache` has seen to that.
"""

from pathlib import Path
from typing import Any

from llvmlite import binding
from numba.core.caching import FunctionCache, UserProvidedCacheLocator
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.runtime import _nrt_python

from kernels.late_signals import handled_afterwards

KIND = "kept"  # beside numba's own kinds of what is in a file, "object" and "bitcode"


class KeptLibrary(JITCodeLibrary):
    """A kernel's machine code, and its bitcode, which is parsed when a caller is compiled."""

    _bitcode: bytes | None = None

    def serialize_using_object_code(self) -> Any:
        """numba's, and with it the names that the code defines."""
        name, _, (object_code, bitcode) = super().serialize_using_object_code()
        functions = self._get_module_for_linking().functions
        defined = [each.name for each in functions if not each.is_declaration]
        return name, KIND, (object_code, bitcode, defined)

    @classmethod
    def _unserialize(cls, codegen: Any, state: Any) -> Any:
        name, kind, data = state
        if kind != KIND:
            return super()._unserialize(codegen, state)
        library = codegen.create_library(name)
        object_code, library._bitcode, defined = data
        library.enable_object_caching()
        library._set_compiled_object(object_code)
        library._finalize_final_module()
        codegen._engine._defined_symbols.update(defined)
        return library

    def _finalize_specific(self) -> None:
        """numba's: machine code is made, or taken from where it is kept, which LLVM asks and tells Python."""
        with handled_afterwards():
            super()._finalize_specific()

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None and self._bitcode is not None:
            self._shared_module = binding.parse_bitcode(self._bitcode)
        return super()._get_module_for_linking()


def load_kept_alone() -> None:
    """Make numba load kept kernels so; to be called before its first decorator."""
    for name, address in _nrt_python.c_helpers.items():  # what kernels call of the run-time system
        binding.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)
    JITCPUCodegen._library_class = KeptLibrary
    FunctionCache.load_overload = _load_overload
    UserProvidedCacheLocator.ensure_cache_path = _make_folder


def _load_overload(cache: Any, signature: Any, target_context: Any) -> Any:
    """numba's, without refreshing the context: what compiles does that, too."""
    return cache._load_overload(signature, target_context)


def _make_folder(locator: Any) -> None:
    Path(locator.get_cache_path()).mkdir(parents=True, exist_ok=True)
