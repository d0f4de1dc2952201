"""The terminal while a live screen is up: keys that are not echoed, signals that must not leave it so."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from jsctl.render.live import LiveScreen


class Keys:
    """Keys as they are pressed, without echo, while it is on; `q` calls `end`."""

    def __init__(self, stdin: TextIO, end: Callable[[], object]) -> None:
        self._end = end
        self._saved: list[Any] | None = None
        self._file = stdin.fileno() if stdin is sys.stdin and stdin.isatty() else None

    def on(self) -> None:
        if self._file is None:
            return
        import termios
        import tty

        # A job in the background must not touch the terminal's settings: it would be stopped.
        if os.getpgrp() != os.tcgetpgrp(self._file):
            return
        self._saved = termios.tcgetattr(self._file)
        tty.setcbreak(self._file, termios.TCSANOW)
        asyncio.get_running_loop().add_reader(self._file, self._read)

    def off(self) -> None:
        if self._file is None or self._saved is None:
            return
        import termios

        asyncio.get_running_loop().remove_reader(self._file)
        termios.tcsetattr(self._file, termios.TCSANOW, self._saved)
        self._saved = None

    def _read(self) -> None:
        assert self._file is not None
        pressed = os.read(self._file, 1024)
        if not pressed or b"q" in pressed.lower():
            asyncio.get_running_loop().remove_reader(self._file)
            self._end()


@contextlib.contextmanager
def guarded(screen: "LiveScreen", stdin: TextIO, end: Callable[[], object]) -> Iterator[list[int]]:
    """Keys, a new size, ctrl-Z and SIGTERM, handled while it is open. Yields where the number of a
    signal goes that ended it."""
    loop = asyncio.get_running_loop()
    keys = Keys(stdin, end)
    ended: list[int] = []

    def terminate(number: int) -> None:
        ended.append(number)
        end()

    def pause() -> None:
        keys.off()
        screen.suspend()
        os.kill(os.getpid(), signal.SIGSTOP)  # until the shell's fg
        screen.resume()
        keys.on()

    handlers: dict[int, Callable[[], None]] = {
        signal.SIGWINCH: screen.redraw,
        signal.SIGTSTP: pause,
        signal.SIGTERM: lambda: terminate(signal.SIGTERM),
        signal.SIGHUP: lambda: terminate(signal.SIGHUP),
    }
    for number, handler in handlers.items():
        # Signals are for the main thread only.
        with contextlib.suppress(ValueError, RuntimeError):
            loop.add_signal_handler(number, handler)
    keys.on()
    try:
        yield ended
    finally:
        keys.off()
        for number in handlers:
            with contextlib.suppress(ValueError, RuntimeError):
                loop.remove_signal_handler(number)
