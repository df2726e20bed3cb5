"""The kernel cache as folders and files: one folder an entry, with its inputs in ``meta.json``.

In: a folder, and the digest of what an entry was made from.  Out: the entry's files, if all of them are what was
written.  `cache` decides what is kept here; nothing else reads or writes the folder.

    FOLDER/v1/entries/3f/3f82...e1/meta.json ...     an entry; it appears, and goes, by a rename
    FOLDER/v1/new                                    what is being written, or thrown away
    FOLDER/v1/lock                                   a byte for each key: locked while its entry is made

Any number of processes may use a folder.  A process that ends leaves no lock, and no entry that is half written; what
it leaves in ``new`` is thrown away a day later.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

_META = "meta.json"
_LONGEST_WAIT = 60.0
"""Seconds after which an entry that another process is making is made once more."""
_A_DAY = 86400.0
_FRESH = 3600.0
"""Seconds for which the time of an entry's last use may be wrong: so hits seldom write."""


class Damaged(Exception):
    """What is in the folder is not what was written; the text says how that shows."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry in *folder*: all that it was made from, and a few *words* for people."""

    folder: Path
    inputs: Mapping[str, Any]
    words: Mapping[str, str]
    size: int
    used: float

    @property
    def key(self) -> str:
        """The digest of the inputs, which is the folder's name."""
        return self.folder.name


def digest(inputs: Mapping[str, Any]) -> str:
    """The key of what was made from *inputs* (plain data)."""
    return sha256(_canonical(inputs)).hexdigest()


def _canonical(data: Any) -> bytes:
    return json.dumps(data, sort_keys=True, separators=(",", ":")).encode()


class Entries:
    """The entries of one *folder*, which need not be there yet.

    *owners*: the users, besides root, whose files may be trusted.  *mode* is that of folders which are made.
    """

    def __init__(self, folder: Path, owners: frozenset[int], mode: int = 0o700) -> None:
        self.folder = folder
        self._root = folder / "v1"
        self._owners, self._mode = owners, mode

    def refusal(self) -> str | None:
        """Why the folder is not to be read: a kernel from it runs with this user's rights."""
        for path in (self.folder, self._root):
            try:
                status = path.stat()
            except FileNotFoundError:
                return None
            except OSError as reason:
                return f"{path}: {reason.strerror}"
            if not stat.S_ISDIR(status.st_mode):
                return f"{path} is no folder"
            if status.st_uid not in (0, *self._owners):
                return f"{path} belongs to another user"
            if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                return f"other users may write to {path}"
        return None

    def read(self, key: str) -> dict[str, bytes] | None:
        """The files of entry *key*; None if there is none.  Raises `Damaged`."""
        folder = self._place(key)
        try:
            meta = _read_meta(folder)
            if digest(meta["inputs"]) != key:
                raise Damaged("its inputs belong to another entry")
            files = {name: _verified(folder / name, wanted) for name, wanted in meta["files"].items()}
        except FileNotFoundError as reason:
            if not folder.exists():  # there is none, or it has just been removed
                return None
            raise Damaged(f"{Path(reason.filename).name} is missing") from None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as reason:
            raise Damaged(f"it cannot be read: {reason}") from None
        _touch(folder)
        return files

    def write(self, inputs: Mapping[str, Any], words: Mapping[str, str], files: Mapping[str, bytes]) -> None:
        """Keep *files* for *inputs*, unless another process has done so.  Raises OSError."""
        self._prepare()
        scratch = Path(tempfile.mkdtemp(dir=self._root / "new"))
        try:
            for name, data in files.items():
                (scratch / name).write_bytes(data)
            digests = {name: sha256(data).hexdigest() for name, data in files.items()}
            size = sum(map(len, files.values()))
            meta: dict[str, Any] = {"inputs": inputs, "files": digests, "words": dict(words), "size": size}
            text = json.dumps({"digest": sha256(_canonical(meta)).hexdigest(), **meta}, indent=1, sort_keys=True)
            (scratch / _META).write_text(text + "\n", encoding="utf-8")
            target = self._place(digest(inputs))
            self._make(target.parent)
            scratch.chmod(self._mode)
            try:
                scratch.rename(target)
            except OSError:
                if not target.exists():
                    raise
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def remove(self, key: str) -> None:
        """Remove entry *key*, if it is there.  A process that is reading it finds it damaged or gone."""
        with contextlib.suppress(OSError):
            away = Path(tempfile.mkdtemp(dir=self._root / "new"))
            with contextlib.suppress(OSError):
                self._place(key).rename(away / "entry")
            shutil.rmtree(away, ignore_errors=True)

    def clear(self) -> None:
        """Remove everything.  Raises OSError."""
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(self._root)

    def __iter__(self) -> Iterator[Entry]:
        """All entries that can be read, the one used last first."""
        found = []
        for folder in self._root.glob("entries/??/*"):
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError, Damaged):
                meta, status = _read_meta(folder), (folder / _META).stat()
                size = int(meta["size"]) + status.st_size
                found.append(Entry(folder, meta["inputs"], meta["words"], size, status.st_mtime))
        return iter(sorted(found, key=lambda entry: (-entry.used, entry.key)))

    def shrink(self, limit: int) -> None:
        """Remove those that were used longest ago, if all together have more than *limit* bytes; and old rubbish."""
        room = limit
        for entry in self:
            room -= entry.size
            if room < 0:
                self.remove(entry.key)
        with contextlib.suppress(OSError):
            for left in (self._root / "new").iterdir():
                if time.time() - left.stat().st_mtime > _A_DAY:
                    shutil.rmtree(left, ignore_errors=True)

    @contextlib.contextmanager
    def locked(self, key: str) -> Iterator[None]:
        """A block that no two processes are in for the same *key*, if the file system has locks."""
        try:
            self._prepare()
            file = (self._root / "lock").open("ab")
        except OSError:
            yield
            return
        with file:  # closing it unlocks, and so does the end of the process
            _lock(file.fileno(), int(key[:15], 16))
            yield

    def _prepare(self) -> None:
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        for folder in (self.folder, self._root, self._root / "entries", self._root / "new"):
            self._make(folder)

    def _make(self, folder: Path) -> None:
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=self._mode)
            folder.chmod(self._mode)  # whatever the umask is

    def _place(self, key: str) -> Path:
        return self._root / "entries" / key[:2] / key


def _lock(file: int, byte: int) -> None:
    """Wait for the lock of *byte*, but not for ever: its owner may have been stopped."""
    end = time.monotonic() + _LONGEST_WAIT
    pause = 0.002
    while time.monotonic() < end:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
            return
        except BlockingIOError:
            time.sleep(pause)
            pause = min(2 * pause, 0.05)
        except OSError:  # no locks here: several processes may do the same work
            return


def _read_meta(folder: Path) -> dict[str, Any]:
    meta: dict[str, Any] = json.loads((folder / _META).read_bytes())
    wanted = meta.pop("digest")
    if sha256(_canonical(meta)).hexdigest() != wanted:
        raise Damaged(f"{_META} has changed")
    return meta


def _verified(file: Path, wanted: str) -> bytes:
    data = file.read_bytes()
    if sha256(data).hexdigest() != wanted:
        raise Damaged(f"{file.name} has changed")
    return data


def _touch(folder: Path) -> None:
    """Note that the entry is in use."""
    with contextlib.suppress(OSError):
        meta = folder / _META
        if time.time() - meta.stat().st_mtime > _FRESH:
            os.utime(meta)
