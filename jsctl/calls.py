"""Command lines that another program runs in its own process, and what they answer as data.

A call changes nothing of the process: it has streams and an environment of its own, writes nothing to the
caller's, and never ends it. Calls in several threads do not see each other.
"""

import asyncio
import io
import json
import logging
import os
import re
import shlex
import signal
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jsctl.base import loops
from jsctl.base.signals import note_signals
from jsctl.base.standard_streams import Streams
from jsctl.env import Env, strip_logins
from jsctl.errors import CommandError, ExitStatus

if TYPE_CHECKING:
    from jsctl import Word

RunLine = Callable[[Sequence[str], Env], int]
_LOG = logging.getLogger("jsctl")
_BLANKS = re.compile(r"\s*")


def _format_word(word: "Word") -> str:
    """Return a word of a line as text. Raises CommandError for what has no usual text, such as None."""
    if isinstance(word, bool) or not isinstance(word, str | int | float | os.PathLike):
        hint = "leave out what is not set"
        raise CommandError(f"{word!r} is not a text, a number or a path", hint, status=ExitStatus.USAGE)
    return os.fspath(word) if isinstance(word, os.PathLike) else str(word)


def _skip_blanks(text: str, place: int) -> int:
    """Return the place of the first character from `place` on that is not blank."""
    return _BLANKS.match(text, place).end()  # type: ignore[union-attr]


def _find_login(flags: Mapping[str, Any]) -> dict[str, str]:
    """Return the login in the address of a command's server as flags: its own lines have the address without
    it."""
    from jsctl.nats.addresses import parse_addresses

    server = str(flags.get("server") or "")
    for address in parse_addresses(server) if "@" in server else ():
        if address.password is not None:
            return {"user": address.user, "password": address.password}
        if address.user:
            return {"token": address.user}
    return {}


class Call:
    """A call of one command line.

    run_line: runs it, as `jsctl.app.run` and `Env.run_line` do. line: as in a shell, without `jsctl`; or its
    words. json: whether it answers with data, otherwise with the text that it writes into a pipe. stdin: what
    it reads. environ: its environment; None for a copy of the process's. timeout: seconds, None for no limit.
    parent: the command whose call this is; the line has its global flags and its environment.
    """

    def __init__(
        self,
        run_line: RunLine | None,
        line: "str | Sequence[Word]",
        json: bool = True,
        stdin: str | bytes = "",
        environ: Mapping[str, str] | None = None,
        timeout: float | None = None,
        parent: Env | None = None,
    ) -> None:
        if run_line is None:
            raise RuntimeError("no app runs")
        self._run_line = run_line
        try:
            self._words = shlex.split(line) if isinstance(line, str) else [*map(_format_word, line)]
        except ValueError as error:
            raise CommandError(
                f"cannot split the line into words: {error}",
                "close the quotes, or give a list of words",
                status=ExitStatus.USAGE,
            ) from None
        self.messages: Sequence[str] = ()  # what the line said beside its answer, once it has ended
        self._out, self._error = io.StringIO(), io.StringIO()
        text = stdin if isinstance(stdin, str) else stdin.decode(errors="surrogateescape")
        streams = Streams(io.StringIO(text), self._out, self._error)
        if parent is not None:
            environ = {name: value for name, value in parent.environ.items() if not name.startswith("NATS_")}
        self._env = Env(streams, dict(os.environ if environ is None else environ))
        if parent is not None:  # its flags have the variables' values, whose secrets are no longer in them
            self._env.flags |= _find_login(parent.flags)
            self._env.flags |= {name: value for name, value in parent.flags.items() if name != "form"}
            self._env.from_environment = {*parent.from_environment}
            self._env.on_loss = parent.on_loss
        self._env.is_embedded = True
        self._env.runner = self._run_coroutine
        self._json = json
        if json:
            self._env.flags["form"] = "json"
        self._timeout = timeout
        self._lock = threading.Lock()
        self._cancelled = ""
        self._running: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None

    def run(self) -> Any:
        """Run the line, and return its answer. Raises CommandError, and in the main thread KeyboardInterrupt
        after ctrl-C, also if that ended the line in order; another signal then reaches the caller's handler.
        """
        timer = None
        if self._timeout is not None:
            timer = threading.Timer(self._timeout, self.cancel, [f"no end within {self._timeout:g} s"])
            timer.daemon = True
            timer.start()
        try:
            with note_signals() as arrived:
                status = int(self._run_line(self._words, self._env))
        finally:
            if timer is not None:
                timer.cancel()
        if threading.current_thread() is threading.main_thread():
            if status == ExitStatus.INTERRUPTED or signal.SIGINT in arrived:
                raise KeyboardInterrupt
            for number in arrived[:1]:
                signal.raise_signal(number)
        messages = self._error.getvalue().splitlines()
        self.messages = messages if self._env.failure is None else messages[:-1]
        for message in self.messages:
            _LOG.info(message.removeprefix("jsctl: "))
        answer = self._read_answer()
        if status:
            raise self._build_error(status, messages, answer) from None
        return answer

    def cancel(self, reason: str = "the call was cancelled") -> None:
        """End the line as soon as it waits for something; from any thread."""
        with self._lock:
            self._cancelled = self._cancelled or reason
            if self._running is not None:
                loop, task = self._running
                loop.call_soon_threadsafe(task.cancel)

    async def run_async(self) -> Any:
        """Run the line in a thread of its own, with its own event loop. Ends it when this is cancelled."""
        outcome, thread = loops.start_thread(self.run)
        try:
            return await asyncio.shield(outcome)
        except asyncio.CancelledError:
            self.cancel()
            await asyncio.wait([outcome])
            outcome.exception()  # so that asyncio does not report it
            raise
        finally:
            thread.join()  # its work is done

    def _run_coroutine(self, work: Coroutine[Any, Any, None]) -> None:
        async def run() -> None:
            task = asyncio.current_task()
            with self._lock:
                if task is not None:
                    self._running = asyncio.get_running_loop(), task
                    if self._cancelled:
                        task.cancel()
            try:
                await work
            finally:
                with self._lock:
                    self._running = None

        try:
            loops.run_in_loop(run())
        except asyncio.CancelledError:
            if not self._cancelled:
                raise
            raise CommandError(self._cancelled, status=ExitStatus.UNREACHABLE) from None

    def _read_answer(self) -> Any:
        """Return what the line wrote: a document, or a list of them where it wrote events."""
        text = self._out.getvalue()
        if not self._json or self._env.form != "json":
            return text
        documents, decoder, place = [], json.JSONDecoder(), _skip_blanks(text, 0)
        try:
            while place < len(text):
                document, place = decoder.raw_decode(text, place)
                documents.append(document)
                place = _skip_blanks(text, place)
        except ValueError:  # what has no document, such as --help
            return text
        if self._env.writes_lines or len(documents) > 1:
            return documents
        return documents[0] if documents else None

    def _build_error(self, status: int, messages: Sequence[str], answer: Any) -> CommandError:
        error = self._env.failure
        if error is None:
            text = messages[-1] if messages else f"{self._words[0]} ended with status {status}"
            return CommandError(text.removeprefix("jsctl: "), status=status, data=answer)
        return CommandError(
            strip_logins(getattr(error, "description", error.message)),
            strip_logins(error.hint),
            status=status,
            err_code=getattr(error, "err_code", None) or None,
            code=getattr(error, "code", None),
            data=answer,
        )
