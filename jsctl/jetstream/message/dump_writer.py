"""Dumps of received messages: files of JSON lines, and folders with a file for each message."""

import base64
import json
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from jsctl.errors import BadInput
from jsctl.files import write_atomically
from jsctl.jetstream.message import dump
from jsctl.jetstream.message.payload import headers_field
from jsctl.jetstream.message.receive import Received
from jsctl.nats.message import Message

_LINES = (".jsonl", ".ndjson")
_encode = json.JSONEncoder(ensure_ascii=False).encode


def nats_record(message: Message) -> dict[str, Any]:
    """Return the JSON object that the `nats` tool dumps for a message."""
    return {
        "Subject": message.subject,
        "Reply": message.reply,
        "Header": headers_field(message.headers) if message.header_block else None,
        "Data": base64.b64encode(message.data).decode(),
    }


class DumpWriter:
    """Writes messages to a file of JSON lines (FILE.jsonl), or each to a file of a folder, named by its
    sequence, in the form of the `nats` tool.

    A context manager. Raises BadInput when the file or folder cannot be written.
    """

    def __init__(self, path: str) -> None:
        self._path = Path(path).expanduser()
        self._file: TextIO | None = None

    def __enter__(self) -> "DumpWriter":
        try:
            if self._path.suffix in _LINES:
                self._file = self._path.open("w", encoding="utf-8")
            else:
                self._path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise self._failure(error) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is None:
            return
        try:
            self._file.close()
        except OSError as failure:
            if error is None:
                raise self._failure(failure) from None

    def write(self, batch: Sequence[Received]) -> None:
        """Write messages, and the replies that were matched to them."""
        try:
            for received in batch:
                self._write(received.message, received.number, "")
                if received.reply is not None:
                    self._write(received.reply, received.number, "_reply")
        except OSError as error:
            raise self._failure(error) from None

    def _write(self, message: Message, number: int, suffix: str) -> None:
        if self._file is not None:
            self._file.write(_encode(dump.record(message, number, time.time_ns())) + "\n")
            return
        path = self._path / f"{message.sequence or number}{suffix}.json"
        write_atomically(path, json.dumps(nats_record(message)), mode=None, durable=False)

    def _failure(self, error: OSError) -> BadInput:
        return BadInput(f"cannot write to {self._path}: {error.strerror}")
