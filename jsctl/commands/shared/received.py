"""How `subscribe` shows a message: for people, raw, as JSON lines, in files."""

import asyncio
import base64
import json
import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from jsctl.commands.shared.output import Output
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.files import write_atomically
from jsctl.jetstream.message import dump, payload
from jsctl.nats.headers import parse_headers
from jsctl.nats.message import Message
from jsctl.units import format_time_us
from jsctl.views.message import messages as view


@dataclass(frozen=True, slots=True)
class Show:
    """What of a message is shown. dump: a folder, a file of lines, `-` for stdout, or nothing.
    single: exactly one message is wanted, whose raw bytes are all the output."""

    raw: bool = False
    pretty: bool = False
    dump: str = ""
    headers_only: bool = False
    subjects_only: bool = False
    timestamp: bool = False
    delta: bool = False
    translate: str = ""
    single: bool = False


class Printer:
    """Shows messages, in their order, also where a command translates each."""

    def __init__(self, env: Env, show: Show, failed: Callable[[BaseException], None]) -> None:
        self._show = show
        self._failed = failed
        # Asked once: whether a stream is a terminal costs more than the rest of a line.
        self._json = env.wants_json
        self._terminal = env.is_terminal
        self._started = time.monotonic()
        self._lines: TextIO | None = None
        self._folder: Path | None = None
        self.output = Output(env, failed)
        self._queue: asyncio.Queue[tuple[Message, int, Message | None]] | None = None
        self._worker: asyncio.Task[None] | None = None
        if show.translate:
            self._words = _words(show.translate)
            self._queue = asyncio.Queue()
            self._worker = asyncio.ensure_future(self._translating(self._queue))
        if show.dump and show.dump != "-":
            self._open(Path(show.dump).expanduser())

    def _open(self, path: Path) -> None:
        try:
            if path.suffix in (".jsonl", ".ndjson"):
                self._lines = path.open("w", encoding="utf-8")
            else:
                path.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._folder = path
        except OSError as error:
            raise BadInput(f"cannot write to {path}: {error.strerror}") from None

    async def close(self) -> None:
        """Show what is left."""
        if self._queue is not None and self._worker is not None:
            await self._queue.join()
            self._worker.cancel()
        self.output.flush()
        if self._lines is not None:
            self._lines.close()

    def show(self, item: Message, number: int, reply: Message | None = None) -> None:
        """One message, and the reply that was matched to it."""
        if self._queue is not None:
            self._queue.put_nowait((item, number, reply))
        else:
            self._put(item, number, reply)

    async def _translating(self, queue: "asyncio.Queue[tuple[Message, int, Message | None]]") -> None:
        while True:
            item, number, reply = await queue.get()
            try:
                stream = item.metadata.stream if item.metadata else ""
                data = await translated(self._words, item.data, item.subject, stream)
                self._put(item.with_data(data), number, reply)
            except BadInput as error:
                self._failed(error)
            finally:
                queue.task_done()

    def _put(self, item: Message, number: int, reply: Message | None) -> None:
        try:
            if self._show.dump or self._json:
                self._dump(item, number, "")
                if reply:
                    self._dump(reply, number, "_reply")
            elif self._show.raw:
                self._raw(item.data)
                if reply:
                    self._raw(reply.data)
            else:
                self._people(item, number, reply)
        except OSError as error:
            self._failed(error)

    def _people(self, item: Message, number: int, reply: Message | None) -> None:
        show = self._show
        stamp = self._stamp(item) if show.timestamp or show.delta else ""
        text = view.heading(number, item, stamp)
        if not show.subjects_only:
            text += view.content(item, headers_only=show.headers_only, pretty=show.pretty)
        if reply:
            text += view.matched(number, reply, stamp)
            if not show.subjects_only:
                text += view.content(reply, headers_only=show.headers_only, pretty=show.pretty)
        self.output.text(text)

    def _stamp(self, item: Message) -> str:
        if self._show.delta:
            return f" @ {time.monotonic() - self._started:.6f}s"
        return f" @ {format_time_us(item.metadata.time if item.metadata else time.time_ns())}"

    def _raw(self, data: bytes) -> None:
        if self._terminal:
            self.output.text(view.body(data, self._show.pretty) + "\n" if data else "\n")
            return
        # Line tools need a line each; a single message is wanted as it is.
        ends = self._show.single or data.endswith(b"\n")
        self.output.bytes(data if ends else data + b"\n")

    def _dump(self, item: Message, number: int, suffix: str) -> None:
        if self._folder is not None:
            name = f"{item.metadata.sequence if item.metadata else number}{suffix}.json"
            write_atomically(self._folder / name, _old_form(item), mode=None, durable=False)
        elif self._show.dump == "-":
            self.output.json(_old_form(item) + "\0")
        else:
            line = json.dumps(dump.record(item, number, time.time_ns()), ensure_ascii=False) + "\n"
            if self._lines is not None:
                self._lines.write(line)
            else:
                self.output.json(line)


def _old_form(item: Message) -> str:
    """As the `nats` tool dumps a message."""
    headers = payload.headers_field(parse_headers(item.header_block)) if item.header_block else None
    made: dict[str, Any] = {
        "Subject": item.subject,
        "Reply": item.reply,
        "Header": headers,
        "Data": base64.b64encode(item.data).decode(),
    }
    return json.dumps(made)


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadInput(f"{command!r} is no command: {error}".lower()) from None
    if not words:
        raise BadInput("the command is empty")
    return words


async def translated(words: list[str] | str, data: bytes, subject: str = "", stream: str = "") -> bytes:
    """`data` through a command, what it says on stderr with it. `{{Subject}}` and `{{Stream}}` are filled
    in after the words were split, so that no subject can add words. Raises BadInput."""
    if isinstance(words, str):
        words = _words(words)
    filled = [w.replace("{{Subject}}", subject).replace("{{Stream}}", stream) for w in words]
    try:
        process = await asyncio.create_subprocess_exec(
            *filled, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        raise BadInput(f"cannot run {filled[0]}: {getattr(error, 'strerror', None) or error}") from None
    try:
        out, _ = await process.communicate(data)
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    return out
