"""Scripts as files: where a script's module is, and the module itself.

In: a module's name as a pragma has it, the annotated source's file and the settings.  Out: the script's path (or the
name of an installed module), and what Python makes of it.  Called by `script`.

A script is looked for beside the source, in ``scripts-dir``, in the current folder, in `nomp_transforms`, among the
entry points ``nomp.transforms``, and last among all that Python can import.  A script that is a file becomes a module
of a private name, so that two ``transform.py`` in two folders do not meet; it is read again when it, or a helper module
that it imported from its own folder, has changed.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from types import ModuleType

from nomp import plugins
from nomp.config import Settings
from nomp.diagnostics import register_source
from nomp.region import INDEPENDENT, Region

GROUP = "nomp.transforms"
PACKAGE = "nomp_transforms"


def modules(region: Region, settings: Settings) -> tuple[str, ...]:
    """The modules of the scripts to run for *region*: the annotations', if it has some, then the transforms'."""
    annotated = settings.annotations_script and words(region)
    return (*((settings.annotations_script,) if annotated else ()), *(s.module for s in region.clauses.transforms))


def words(region: Region) -> list[tuple[str, str]]:
    """The annotations that are for scripts."""
    return [(key, value) for key, value in region.clauses.annotations if key != INDEPENDENT]


def folders(source_file: str, settings: Settings) -> tuple[Path, ...]:
    """Where script files are looked for, in order."""
    found = (Path(source_file).parent, settings.scripts_dir, Path())
    return tuple(dict.fromkeys(folder.absolute() for folder in found if folder is not None))


def locate(module: str, source_file: str, settings: Settings) -> Path | str | None:
    """The file of script *module*, or the name of the installed module that it is; None if there is none."""
    parts = module.split(".")
    if not all(part.isidentifier() for part in parts):
        return None
    for folder in folders(source_file, settings):
        base = folder.joinpath(*parts)
        for file in (base.with_name(f"{base.name}.py"), base / "__init__.py"):
            if file.is_file():
                return file
    entries = {name: value.partition(":")[0] for name, value in plugins.registered(GROUP).items()}
    candidates = (f"{PACKAGE}.{module}", entries.get(module), module)
    return next((name for name in candidates if name and _importable(name)), None)


def _importable(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):  # a parent that does not exist, a module without a spec
        return False


def known(source_file: str, settings: Settings) -> tuple[str, ...]:
    """Names of scripts that `locate` would find, for a suggestion."""
    files = [file.stem for folder in folders(source_file, settings) for file in folder.glob("*.py")]
    package = importlib.util.find_spec(PACKAGE)
    shipped = [file.stem for place in (package and package.submodule_search_locations) or () for file in
               Path(place).glob("*.py")]  # fmt: skip
    return tuple(dict.fromkeys([*files, *shipped, *plugins.registered(GROUP)]))


@dataclass(slots=True)
class Script:
    """A script's *module*.  If it is a file: its *folder* too, the *helpers* from there, and the files' digests."""

    module: ModuleType
    folder: Path | None = None
    helpers: dict[str, ModuleType] = field(default_factory=dict)
    digests: dict[Path, bytes] = field(default_factory=dict)

    def unchanged(self) -> bool:
        """Whether the files are what they were when they were read."""
        return all(file.is_file() and _digest(file) == digest for file, digest in self.digests.items())

    @contextmanager
    def importable(self) -> Iterator[None]:
        """While the script runs, the modules of its folder can be imported; afterwards they are out of others' way."""
        if self.folder is None:
            yield
            return
        shadowed = {name: sys.modules[name] for name in self.helpers if name in sys.modules}
        no_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        sys.modules.update(self.helpers)
        before = set(sys.modules)
        sys.path.insert(0, str(self.folder))
        importlib.invalidate_caches()
        try:
            yield
        finally:
            sys.path.remove(str(self.folder))
            sys.dont_write_bytecode = no_bytecode
            self._keep_helpers(set(sys.modules) - before)
            for name in self.helpers:
                sys.modules.pop(name, None)
            sys.modules.update(shadowed)

    def _keep_helpers(self, names: set[str]) -> None:
        """Take over those of the newly imported modules *names* that come from the script's folder."""
        assert self.folder is not None
        for name in names:
            module = sys.modules[name]
            base = self.folder.joinpath(*name.split("."))
            files = (base.with_name(f"{base.name}.py"), base / "__init__.py")
            origin = getattr(module, "__file__", None)
            file = Path(origin) if origin else None
            if file in files:
                self.digests[file] = _digest(file)
            if file in files or (file is None and str(base) in getattr(module, "__path__", ())):
                self.helpers[name] = module


_loaded: dict[Path, Script] = {}


def load(place: Path | str) -> Script:
    """The script at *place* (what `locate` gave).  Raises whatever its code raises, SyntaxError included."""
    if isinstance(place, str):
        script = Script(importlib.import_module(place))
        imported(place)
        return script
    if place in _loaded and _loaded[place].unchanged():
        return _loaded[place]
    _loaded.pop(place, None)
    _loaded[place] = script = _load_file(place)
    return script


def _load_file(file: Path) -> Script:
    """Compile and run *file*; its bytecode is neither read nor written, which may be older than the text."""
    package = file.name == "__init__.py"
    text = file.read_bytes()
    register_source(str(file), text.decode("utf-8", errors="replace"))
    name = f"nomp_script_{sha256(str(file).encode()).hexdigest()[:12]}"
    places = [str(file.parent)] if package else None
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=places)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    script = Script(module, root(file), digests={file: sha256(text).digest()})
    sys.modules[name] = module  # dataclasses and pickle look a class's module up by its name
    with script.importable():
        exec(compile(text, str(file), "exec"), module.__dict__)
    return script


def root(place: Path | str) -> Path | None:
    """The folder that the script at *place* imports its own helpers from; None for one that is in no file."""
    if isinstance(place, Path):
        return place.parent.parent if place.name == "__init__.py" else place.parent
    top = source_of(place.partition(".")[0])
    return top and (top.parent.parent if top.name == "__init__.py" else top.parent)


_as_imported: dict[Path, bytes] = {}
"""Digests of installed modules: of what was in the file when it was imported, for they are not imported again."""


def imported(place: Path | str) -> dict[str, str]:
    """The files below its `root` that the script at *place* has been made of so far, with their digests.

    Of an installed script these are all modules of its package.
    """
    folder = root(place)
    if isinstance(place, Path):
        digests = _loaded[place].digests if place in _loaded else {}
    else:
        top = place.partition(".")[0]
        names = [name for name in list(sys.modules) if name == top or name.startswith(f"{top}.")]
        origins = (getattr(sys.modules[name], "__file__", None) for name in names)
        files = [Path(origin) for origin in origins if origin and origin.endswith(".py")]
        digests = {file: _as_imported[file] if file in _as_imported else _digest(file) for file in files}
        _as_imported.update(digests)
    return {file.relative_to(folder).as_posix(): found.hex() for file, found in digests.items()
            if folder and file.is_relative_to(folder)}  # fmt: skip


def source_of(place: Path | str) -> Path | None:
    """The file of the script at *place*, if it is Python text."""
    if isinstance(place, Path):
        return place
    spec = importlib.util.find_spec(place)
    return Path(spec.origin) if spec and spec.origin and spec.has_location else None


def owns(place: Path | str, file: str) -> bool:
    """Whether *file* is the script at *place* or, of a script that is a file, one that stands beside it or helps it."""
    if isinstance(place, str):
        return Path(file) == source_of(place)
    return Path(file).parent == place.parent or (place in _loaded and Path(file) in _loaded[place].digests)


def _digest(file: Path) -> bytes:
    return sha256(file.read_bytes()).digest()
