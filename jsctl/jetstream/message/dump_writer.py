"""Dumps of received messages: files of JSON lines, and folders with a file for each message."""

import json
import time
from binascii import b2a_base64
from collections.abc import Sequence
from io import FileIO
from types import TracebackType
from typing import Any

from jsctl.base.files import write_atomically
from jsctl.base.units import format_count
from jsctl.base.user_folders import expand_home
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream.message import dump
from jsctl.jetstream.message.payload import encode_headers_field
from jsctl.jetstream.message.receive import Received
from jsctl.nats.message import Message

_LINES = (".jsonl", ".ndjson")
_encode = json.JSONEncoder(ensure_ascii=False).encode


def build_nats_record(message: Message) -> dict[str, Any]:
    """Return the JSON object that the `nats` tool dumps for a message."""
    headers = encode_headers_field(message.headers, "Header") if message.header_block else {"Header": None}
    return {
        "Subject": message.subject,
        "Reply": message.reply,
        **headers,
        "Data": b2a_base64(message.data, newline=False).decode(),
        "Sub": None,
    }


class DumpWriter:
    """A writer of messages to a file of JSON lines (FILE.jsonl), or to a folder with a file for each message,
    named by its sequence, in the form of the `nats` tool.

    A context manager. Raises BadInput when the file or folder cannot be created, and JsctlError when writing
    fails: the dump then holds complete messages, and the error says how many.
    """

    def __init__(self, path: str) -> None:
        self._path = expand_home(path)
        self._file: FileIO | None = None
        self._messages = 0  #: number of complete messages on the disk

    def __enter__(self) -> "DumpWriter":
        try:
            if self._path.suffix in _LINES:
                self._file = FileIO(self._path, "w")
            else:
                self._path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"cannot write to {self._path}: {error.strerror}") from None
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
                raise self._build_error(failure) from None

    def write(self, batch: Sequence[Received]) -> None:
        """Write messages, and the replies that were matched to them."""
        messages = [
            (message, received.number, suffix)
            for received in batch
            for message, suffix in ((received.message, ""), (received.reply, "_reply"))
            if message is not None
        ]
        try:
            if self._file is None:
                for message, number, suffix in messages:
                    self._write_file(message, number, suffix)
            else:
                now = time.time_ns()
                lines = [_encode(dump.record(message, number, now)) for message, number, _ in messages]
                self._write_lines(self._file, "".join(line + "\n" for line in lines).encode())
        except OSError as error:
            raise self._build_error(error) from None

    def _write_file(self, message: Message, number: int, suffix: str) -> None:
        path = self._path / f"{message.sequence or number}{suffix}.json"
        write_atomically(path, json.dumps(build_nats_record(message)), mode=None, durable=False)
        self._messages += 1

    def _write_lines(self, file: FileIO, text: bytes) -> None:
        written = 0
        try:
            while written < len(text):
                written += file.write(text[written:])
        finally:
            complete = text.rfind(b"\n", 0, written) + 1
            self._messages += text.count(b"\n", 0, complete)
            if complete < written and file.seekable():  # the disk is full: no partial message stays
                file.truncate(file.tell() - (written - complete))

    def _build_error(self, error: OSError) -> JsctlError:
        messages = "message" if self._messages == 1 else f"{format_count(self._messages)} messages"
        hint = f"it holds the first {messages}" if self._messages else ""
        return JsctlError(f"cannot write to {self._path}: {error.strerror}", hint)
