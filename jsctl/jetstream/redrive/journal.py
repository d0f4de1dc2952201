"""The journal of a redrive: what was chosen, what was sent and what is stored, a JSON object per line.

It is written ahead: what is sent is in it before it is sent, so that a run that was killed goes on, and never
publishes twice what it knows to be stored, also when the duplicate window of the target has passed.
"""

import contextlib
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

from jsctl.base.files import escape_path
from jsctl.base.json_text import parse_json
from jsctl.base.posix import lock
from jsctl.base.user_folders import expand_home
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream.api import Json

FORMAT = "jsctl_redrive"
_VERSION = 1
_CHUNK = 1000  #: messages of a line


class Item(NamedTuple):
    """A message of the set: its sequence, the subject that it is published on, its number of redrives with
    this one, and whether it goes to quarantine."""

    sequence: int
    subject: str
    redrives: int
    is_quarantined: bool = False


class Place(NamedTuple):
    """Where a message is stored. is_duplicate: an earlier redrive had stored it."""

    stream: str
    sequence: int
    is_duplicate: bool = False


class Journal:
    """What happened until now; a context manager that appends to a file, or to none.

    head: what the redrive is about. items: the frozen set, by source sequence. sent: when the last try was
    made, in ns since the epoch, of messages without an outcome, too. gone: messages that the source had no
    longer. skipped: uncertain ones that were given up. removing: those whose copies an undo is about to
    remove; undone: those whose copies it removed.
    """

    def __init__(self, path: str = "") -> None:
        self.path = path
        self.head: Json = {}
        self.items: dict[int, Item] = {}
        self.sent: dict[int, int] = {}
        self.stored: dict[int, Place] = {}
        self.gone: set[int] = set()
        self.skipped: set[int] = set()
        self.removing: set[int] = set()
        self.undone: set[int] = set()
        self.is_ready = False
        self.is_undoing = False
        self._file: IO[bytes] | None = None

    @property
    def remaining(self) -> list[Item]:
        """Messages without an outcome."""
        done = self.stored.keys() | self.gone | self.skipped
        return [item for sequence, item in self.items.items() if sequence not in done]

    @property
    def uncertain(self) -> list[Item]:
        """Messages that were sent, and of which nobody knows whether they are stored."""
        return [item for item in self.remaining if item.sequence in self.sent]

    @classmethod
    def open(cls, path: str, *, create: bool) -> Self:
        """Open a journal, and lock it. Raises BadInput for a file that is none, or that is in use."""
        journal = cls(path)
        target = expand_home(path)
        shown = escape_path(Path(path))
        _refuse_special(target, shown)
        try:
            flags = os.O_RDWR | os.O_APPEND | (os.O_CREAT if create else 0)
            file = os.fdopen(os.open(target, flags, 0o644), "r+b")
        except OSError as error:
            raise BadInput(f"cannot open journal {shown}: {error.strerror}") from None
        try:
            lock(file, wait=False)
            journal._read(file, shown)
        except BlockingIOError:
            file.close()
            raise BadInput(f"journal {shown} is in use by another process") from None
        except BaseException:
            file.close()
            raise
        journal._file = file
        return journal

    @classmethod
    def peek(cls, path: str) -> Self | None:
        """Return what a journal holds, without changing it; None if the file does not exist or is empty."""
        target, shown = expand_home(path), escape_path(Path(path))
        _refuse_special(target, shown)
        try:
            with target.open("rb") as file:
                journal = cls(path)
                journal._read(file, shown, cut=False)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BadInput(f"cannot open journal {shown}: {error.strerror}") from None
        return journal if journal.is_ready else None

    def begin(self, head: Json, items: Iterable[Item]) -> None:
        """Write what the redrive is about, and its frozen set; it is on disk when this returns."""
        if self._file is not None:  # of a run that ended before its first message
            self._file.seek(0)
            self._file.truncate()
        self.head, self.items = head, {item.sequence: item for item in items}
        listed = list(self.items.values())
        self._write({FORMAT: _VERSION, **head})
        for at in range(0, len(listed), _CHUNK):
            self._write({"set": listed[at : at + _CHUNK]})
        self._write({"ready": len(listed)})
        self.is_ready = True
        if self._file is not None:
            os.fsync(self._file.fileno())

    def note_sent(self, sequences: Sequence[int], now: int) -> None:
        """Write that messages are about to be sent. now: ns since the epoch."""
        self.sent |= dict.fromkeys(sequences, now)
        self._write({"sent": list(sequences), "at": now})

    def note_stored(self, stored: dict[int, Place]) -> None:
        """Write where messages are stored."""
        self.stored |= stored
        self._write({"stored": [[sequence, *place] for sequence, place in stored.items()]})

    def note(self, key: str, sequences: Iterable[int]) -> None:
        """Write what becomes of messages: "gone", "skipped", "removing" or "undone"."""
        listed = list(sequences)
        getattr(self, key).update(listed)
        if listed:
            self._write({key: listed})

    def note_undoing(self) -> None:
        """Write that what is stored is being removed: the redrive cannot go on."""
        self.is_undoing = True
        self._write({"undoing": True})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):  # `_write` has raised it
                self._file.close()

    def _write(self, record: Json) -> None:
        if self._file is None:
            return
        try:
            self._file.write(json.dumps(record, separators=(",", ":")).encode() + b"\n")
            self._file.flush()
        except OSError as error:
            raise JsctlError(f"cannot write journal {self.path}: {error.strerror}", "make room") from None

    def _read(self, file: IO[bytes], shown: str, *, cut: bool = True) -> None:
        """Read what there is; the rest of a line that was not completed is cut off."""
        whole = 0
        for number, line in enumerate(file):
            if not line.endswith(b"\n"):
                break
            try:
                record = parse_json(line)
                if number == 0:
                    self.head = _check_head(record)
                else:
                    self._take(record)
            except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
                if number == 0:
                    raise BadInput(f"{shown} is not a journal of a redrive", "choose another file") from None
                raise BadInput(f"line {number + 1} of journal {shown} is damaged") from None
            whole += len(line)
        file.seek(0, os.SEEK_END)
        if not whole and file.tell() and not self._could_begin(file):
            raise BadInput(f"{shown} is not a journal of a redrive", "choose another file")
        if cut and file.tell() > whole:
            file.truncate(whole)
        file.seek(0, os.SEEK_END)

    @staticmethod
    def _could_begin(file: IO[bytes]) -> bool:
        """Return whether the only line, which is not complete, may be that of a journal."""
        file.seek(0)
        start = file.read(len(FORMAT) + 3)
        file.seek(0, os.SEEK_END)
        return f'{{"{FORMAT}":'.encode().startswith(start)

    def _take(self, record: dict[str, Any]) -> None:
        for sequence, subject, redrives, is_quarantined in record.get("set", ()):
            if subject not in self.head["targets"]:
                raise ValueError("a subject without a stream")
            self.items[int(sequence)] = Item(int(sequence), str(subject), int(redrives), bool(is_quarantined))
        self.is_ready = self.is_ready or "ready" in record
        for sequence in record.get("sent", ()):
            self.sent[int(sequence)] = int(record["at"])
        for sequence, stream, number, is_duplicate in record.get("stored", ()):
            self.stored[int(sequence)] = Place(str(stream), int(number), bool(is_duplicate))
        for key in ("gone", "skipped", "removing", "undone"):
            getattr(self, key).update(map(int, record.get(key, ())))
        self.is_undoing = self.is_undoing or "undoing" in record


def _check_head(record: Any) -> Json:
    """Return the head in the first line of a journal. Raises ValueError, KeyError, TypeError."""
    if record[FORMAT] != _VERSION:
        raise ValueError("another version")
    texts = [record[key] for key in ("run", "stream", "created", "consumer", "domain")]
    for name in record["targets"].values():
        start = record["starts"][name]
        texts += [name, start["created"]]
        int(start["last"]), int(start["deleted"])
    if not isinstance(record["options"], dict) or not all(isinstance(text, str) for text in texts):
        raise TypeError("a value of another type")
    return {key: value for key, value in record.items() if key != FORMAT}


def _refuse_special(target: Path, shown: str) -> None:
    """Raise BadInput for a pipe or a device, which may have no end."""
    if target.exists() and not target.is_file():
        raise BadInput(f"journal {shown} is not a regular file", "choose another file")
