"""The states of alerts between two runs, so that a restart repeats nothing, and what was not delivered."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jsctl.base import posix
from jsctl.base.files import naming_write_errors, read_text, write_atomically
from jsctl.base.json_text import parse_json
from jsctl.errors import BadInput
from jsctl.jetstream.api import Json
from jsctl.monitor.alerts.machine import States, encode_states, parse_states

_MAX_MESSAGES = 1000  #: that wait for a receiver; the oldest ones are dropped
_LIMIT = 64 << 20  #: bytes of the file


class Message(NamedTuple):
    """What a receiver is told. receiver: its name. id: the same when it is told again."""

    receiver: str
    id: str
    payload: Json


class Store:
    """A file of states, locked until `close`. waiting: messages that are to be delivered.

    Raises BadInput for a file that another process uses, or that is not one of states."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.states: States = {}
        self.waiting: list[Message] = []
        with naming_write_errors(path):
            posix.make_private_folder(path.parent)
            self._lock = posix.open_private(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT)
        try:
            posix.lock(self._lock, wait=False)
        except BlockingIOError:
            os.close(self._lock)
            raise BadInput(
                f"another jsctl uses {path} for its alerts", "end it, or use another file with --alert-state"
            ) from None
        self._saved = ""
        if path.exists():
            self._load()

    def _load(self) -> None:
        try:
            document = parse_json(read_text(self.path, "", _LIMIT, regular=True))
            self.states = parse_states(document["states"])
            self.waiting = [
                Message(str(name), str(id), dict(payload)) for name, id, payload in document["waiting"]
            ]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            self.close()
            if isinstance(error, BadInput):
                raise
            raise BadInput(
                f"{self.path} does not hold states of alerts", "remove it, or use another"
            ) from None

    def add(self, states: States, messages: Sequence[Message]) -> None:
        """Replace the states, and add messages."""
        self.states = states
        self.waiting = [*self.waiting, *messages][-_MAX_MESSAGES:]
        self._save()

    def remove(self, message: Message) -> None:
        """Remove a message that was delivered. Raises JsctlError when that cannot be written."""
        if message in self.waiting:  # it may have been dropped
            self.waiting.remove(message)
            self._save()

    def _save(self) -> None:
        """Write what has changed. Raises JsctlError when it cannot be written."""
        document: Mapping[str, Any] = {"states": encode_states(self.states), "waiting": self.waiting}
        if (text := json.dumps(document)) != self._saved:
            with naming_write_errors(self.path):
                write_atomically(self.path, text + "\n")
            self._saved = text

    def close(self) -> None:
        """Let another process use it."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1
