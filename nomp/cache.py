"""The kernel cache: what compiling has made before, by all that it was made from.

In: the inputs of a stage, as plain data.  Out: the files that the stage made of the same inputs at some time, or None.
`source_cache` keeps sources of kernels here, `runtime.program` what the device's compiler makes of them.  A cache makes
programs start faster and changes nothing else: where it cannot be read or written, they do without.

Entries are looked for in the folder beside the program that ``nomp cc --prebuild`` has filled, and in the user's own,
where new ones go.  What happened is told by remarks (N530 to N532), and by `statistics`.  Other files in the user's
folder, of the tuner for example, are written by `write_whole`.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from nomp.cache_entries import Damaged, Entries, digest
from nomp.config import Settings
from nomp.diagnostics import Diagnostic, Span

Inputs = Mapping[str, Any]
"""All that decides what a stage makes: JSON's types; the names are shown to people."""

Outcome = Literal["hit", "miss", "damaged", "unkept", "unusable"]

PREBUILT = ".nomp"
"""What follows a program's name in that of the folder with its kernels."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What an entry is of: the *kind* (``region``, ``source``, ``binary``), the kernel's *name*, and where that stands.
    """

    kind: str
    name: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """What happened to a look-up, and why."""

    subject: Subject
    outcome: Outcome
    reason: str


_events: deque[Event] = deque(maxlen=1000)
_counts: Counter[tuple[str, Outcome]] = Counter()


def statistics() -> dict[str, dict[str, int]]:
    """How often this process has found what it looked for (``hit``), or not (``miss``), by the kind of entry.

    ``damaged`` entries, which count as misses too, were of no use; what is ``unkept`` could not be written down;
    ``unusable`` are folders.
    """
    found: dict[str, dict[str, int]] = {}
    for (kind, outcome), count in _counts.items():
        found.setdefault(kind, {})[outcome] = count
    return found


def events() -> tuple[Event, ...]:
    """The last 1000 things that `statistics` counts, with reasons; the oldest first."""
    return tuple(_events)


def folder_of(settings: Settings) -> Path | None:
    """The user's cache: the setting, ``$XDG_CACHE_HOME/nomp``, ``~/.cache/nomp``, or None where there is no home."""
    if settings.cache_dir is not None:
        return settings.cache_dir
    above = os.environ.get("XDG_CACHE_HOME", "")
    try:
        return (Path(above) if os.path.isabs(above) else Path.home() / ".cache") / "nomp"
    except RuntimeError:
        return None


def subfolder(settings: Settings, name: str) -> Path | None:
    """Where *name*, which is no kernels, is kept in the user's cache; None where there is no home."""
    found = folder_of(settings)
    return found / name if found else None


def tuning_folder(settings: Settings) -> Path | None:
    """Where what `nomp tune` measures is: ``tuning-dir``, else ``tuned`` in the user's cache."""
    return settings.tuning_dir if settings.tuning_dir is not None else subfolder(settings, "tuned")


def write_whole(path: Path, text: str) -> None:
    """Put *text* into *path* at once, for whoever reads it meanwhile.  Raises OSError, and leaves nothing then.

    The folder, and the one above it, which may be the cache's own, are made if need be: for this user alone, or the
    cache would be refused (N532).
    """
    path.parent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # a mode is not that of parents
    path.parent.mkdir(mode=0o700, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".")
    try:
        with open(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


class Cache:
    """The entries that a program finds, and keeps.  Without folders it finds nothing."""

    def __init__(
        self, own: Entries | None = None, prebuilt: Entries | None = None, limit: int = 0,
        tell: Callable[[Diagnostic], None] | None = None,
    ) -> None:  # fmt: skip
        """*limit* is in bytes; 0 is none.  *tell* gets the remarks; None: nobody wants to read them."""
        self._limit, self._tell = limit, tell
        self._useless: set[str] = set()
        self._own = self._usable(own)
        self._places = [place for place in (self._usable(prebuilt), self._own) if place is not None]

    @property
    def is_on(self) -> bool:
        """Whether anything can be found or kept."""
        return bool(self._places)

    def _usable(self, entries: Entries | None) -> Entries | None:
        refusal = entries.refusal() if entries is not None else None
        if refusal is not None:
            step = "give NOMP_CACHE_DIR a folder of your own that only you may write to"
            self._unusable(f"the kernel cache is not used: {refusal}", step)
            return None
        return entries

    def obtain(self, subject: Subject, inputs: Inputs, make: Callable[[], Mapping[str, bytes]]) -> Mapping[str, bytes]:
        """The files for *inputs*: those that were kept, or what *make* makes, which is kept then unless it is nothing.
        """
        found = self.find(subject, inputs)
        if found is not None:
            return found
        with self.making(inputs):
            found = self.find(subject, inputs)  # another process may have made it meanwhile
            if found is not None:
                return found
            self.missed(subject, inputs)
            made = make()
            if made:
                self.keep(subject, inputs, made)
        return made

    def find(self, subject: Subject, inputs: Inputs) -> dict[str, bytes] | None:
        """The files that were kept for *inputs*; None if there are none."""
        files = self.look(subject, inputs)
        if files is not None:
            self._happened(Event(subject, "hit", f"entry {digest(inputs)[:12]}"))
        return files

    def look(self, subject: Subject, inputs: Inputs) -> dict[str, bytes] | None:
        """The same, for what does not count by itself."""
        key = digest(inputs)
        for place in self._places if key not in self._useless else ():
            try:
                files = place.read(key)
            except Damaged as reason:
                self._damaged(subject, key, str(reason))
                place.remove(key)
                continue
            if files is not None:
                return files
        return None

    def missed(self, subject: Subject, inputs: Inputs) -> None:
        """Tell that nothing was found for *inputs*, and why, before it is made."""
        if self._places:
            self._happened(Event(subject, "miss", self._why(subject, inputs)))

    def keep(self, subject: Subject, inputs: Inputs, files: Mapping[str, bytes], replace: bool = False) -> None:
        """Keep *files* for *inputs*, unless something is kept for them, which *replace* removes."""
        if self._own is None:
            return
        self._useless.discard(digest(inputs))
        if replace:
            self._own.remove(digest(inputs))
        try:
            self._own.write(inputs, {"kind": subject.kind, "kernel": subject.name}, files)
        except OSError as reason:
            self._own = None  # and not once a kernel
            self._unusable(f"nothing more is kept in the kernel cache: {reason}", "make room, or set NOMP_CACHE=off")
            return
        if self._limit and digest(inputs).endswith("0"):  # now and then: it looks at all entries
            self._own.shrink(self._limit)

    def drop(self, subject: Subject, inputs: Inputs, reason: str) -> None:
        """Remove what is kept for *inputs*, which is of no use; what cannot be removed is not looked at any more."""
        key = digest(inputs)
        self._damaged(subject, key, reason)
        self._useless.add(key)
        for place in self._places:
            place.remove(key)

    def unkept(self, subject: Subject, reason: str) -> None:
        """Tell that what was made is not kept, for this *reason*."""
        self._happened(Event(subject, "unkept", reason))

    def _damaged(self, subject: Subject, key: str, reason: str) -> None:
        self._happened(Event(subject, "damaged", f"entry {key[:12]} is made again: {reason}"))

    def making(self, inputs: Inputs) -> AbstractContextManager[None]:
        """A block in which only this process makes what is to be kept for *inputs*."""
        return self._own.locked(digest(inputs)) if self._own else nullcontext()

    def _why(self, subject: Subject, inputs: Inputs) -> str:
        """Why nothing was found, if somebody wants to know: what is different in the entry that comes nearest."""
        if self._tell is None:
            return "not kept"
        others = (entry for place in self._places for entry in place)
        kept = [entry.inputs for entry in others if entry.words == {"kind": subject.kind, "kernel": subject.name}]
        if not kept:
            return "nothing is kept for a kernel of this name"
        asked = json.loads(json.dumps(inputs))  # as what is kept was read
        same = ({name: other.get(name) for name in asked} for other in kept)
        nearest = min((list(_different("", asked, other)) for other in same), key=len)
        return f"what is kept differs in {', '.join(nearest[:4])}{' and more' if len(nearest) > 4 else ''}"

    def _happened(self, event: Event) -> None:
        _record(event)
        what = f"{event.subject.kind} of kernel '{event.subject.name}'"
        if event.outcome == "damaged":
            step = "if this happens often, look after the file system of the cache: 'nomp cache path' says where it is"
            self._say(Diagnostic("N531", f"cached {what}: {event.reason}", event.subject.span, "remark", help=step))
        else:
            message = f"cache {event.outcome}: {what}: {event.reason}"
            self._say(Diagnostic("N530", message, event.subject.span, "remark"))

    def _unusable(self, message: str, step: str) -> None:
        _record(Event(Subject("folder", ""), "unusable", message))
        self._say(Diagnostic("N532", message, None, "remark", help=step))

    def _say(self, remark: Diagnostic) -> None:
        if self._tell is not None:
            self._tell(remark)


def _record(event: Event) -> None:
    _events.append(event)
    _counts[event.subject.kind, event.outcome] += 1


def opened(settings: Settings, tell: Callable[[Diagnostic], None]) -> Cache:
    """The cache that *settings* ask for; *tell* shows remarks."""
    if not settings.cache:
        return Cache()
    folder = folder_of(settings)
    own = Entries(folder, frozenset({os.geteuid()})) if folder is not None else None
    return Cache(own, _beside_program(), settings.cache_size << 20, tell if settings.verbose > 2 else None)


def _beside_program() -> Entries | None:
    """The entries that were built with the program that runs: whoever may replace that may replace them."""
    with contextlib.suppress(OSError):
        program = Path("/proc/self/exe").readlink()
        folder = program.with_name(program.name + PREBUILT)
        if folder.is_dir():
            return Entries(folder, frozenset({os.geteuid(), program.stat().st_uid}))
    return None


def _different(name: str, one: Any, other: Any) -> Iterator[str]:
    """The names of what is not the same in two inputs."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in sorted({*one, *other}):
            yield from _different(f"{name}.{key}" if name else key, one.get(key), other.get(key))
    elif one != other:
        yield name
