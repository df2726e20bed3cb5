"""The loader that ``nomp run`` installs: modules with nomp pragmas are imported with their loops launched.

In: the files of modules.  Out: modules that run as their text says, but for the annotated loops.  Called by
`driver.run`.  No bytecode of such a module is read or written: it would be another program's.
"""

from __future__ import annotations

import re
import sys
from importlib import machinery, util
from types import CodeType, ModuleType
from typing import Any

from nomp.frontend import python, python_source
from nomp.frontend.python_pragmas import PRAGMA
from nomp.runtime.jit import install

_PRAGMA = re.compile(PRAGMA.pattern.encode())


class Loader(machinery.SourceFileLoader):
    """Imports one file."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the module; `NompError` for what is wrong with its pragmas."""
        data = self.get_data(self.path)
        if _PRAGMA.search(data):
            execute(self.path, data, vars(module))
        else:
            super().exec_module(module)


def execute(path: str, data: bytes, namespace: dict[str, Any]) -> None:
    """Run the Python text *data* of file *path* in *namespace*."""
    exec(_code(path, data, namespace), namespace)


def _code(path: str, data: bytes, namespace: dict[str, Any]) -> CodeType:
    if not _PRAGMA.search(data):
        return compile(data, path, "exec", dont_inherit=True)
    program = python.rewritten(python_source.parsed(path, util.decode_source(data)))
    install(namespace, program.loops).files.add(path)
    return compile(program.tree, path, "exec", dont_inherit=True)


def enable() -> None:
    """Import source files with `Loader`, from now on."""
    kinds = (
        (machinery.ExtensionFileLoader, machinery.EXTENSION_SUFFIXES),
        (Loader, machinery.SOURCE_SUFFIXES),
        (machinery.SourcelessFileLoader, machinery.BYTECODE_SUFFIXES),
    )
    sys.path_hooks.insert(0, machinery.FileFinder.path_hook(*kinds))
    sys.path_importer_cache.clear()
