"""Python's bytecode of what a proof imports.

Where an installer does not compile packages and PYTHONDONTWRITEBYTECODE is set, as often in images, Python
compiles every module again in every process: a second and more for all that a proof needs.
"""

import sys
from compileall import compile_file
from importlib import import_module


def keep_bytecode() -> None:
    """Write what is missing, beside the modules, where that can be written; the rest stays as it is."""
    for each in ("engine.single", "engine.one_proof"):
        import_module(each)
    for module in list(sys.modules.values()):
        spec = getattr(module, "__spec__", None)
        if spec is not None and spec.has_location and spec.origin.endswith(".py"):
            compile_file(spec.origin, quiet=2)
