"""The terminal of a screen; prompt_toolkit reads keys, follows the size and redraws what differs.

No other module of the screen imports it; it is imported when a screen starts. The terminal is restored on
every exit: an end, an error, ctrl-C, ctrl-Z, SIGTERM, SIGHUP.
"""

import asyncio
import base64
import contextlib
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import TextIO

from prompt_toolkit.application import Application, run_in_terminal
from prompt_toolkit.application.current import set_app
from prompt_toolkit.data_structures import Point
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input import Input, create_input, create_pipe_input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import Layout, UIContent, UIControl, Window
from prompt_toolkit.mouse_events import MouseEvent, MouseEventType
from prompt_toolkit.output import ColorDepth, Output
from prompt_toolkit.output.defaults import create_output
from prompt_toolkit.styles import DynamicStyle, Style

from jsctl.base.signals import TERMINATION, handle_signals, suspend
from jsctl.render.style import SCHEMES, paint
from jsctl.screen import background
from jsctl.screen.drawing import Line

_COLORS = {
    "good": "ansigreen",
    "warn": "ansiyellow",
    "bad": "ansired bold",
    "dim": "ansibrightblack",
    "bold": "bold",
    "heading": "ansicyan underline",
    "on": "bold",
    "tab": "ansibrightblack",
    "tab.on": "reverse bold",
    "row-on": "bg:#264f78 #ffffff",  # no name that prompt_toolkit gives a style of its own
    "changed": "bold ansiwhite",
    "trend": "ansicyan",
    "key": "ansicyan bold",
    "notice": "ansigreen",
    "cursor": "reverse",
    **{f"scheme-{color}": f"ansi{color} bold reverse" for color in SCHEMES},
}
_LIGHT = {
    **_COLORS,
    "good": "#006b2d",
    "warn": "#855300",
    "bad": "#b00020 bold",
    "dim": "#5f5f5f",
    "heading": "#00607a underline",
    "tab": "#5f5f5f",
    "row-on": "bg:#cfe3f7 #000000",
    "changed": "bold #000000",
    "trend": "#00607a",
    "key": "#00607a bold",
    "notice": "#006b2d",
    "scheme-yellow": "bg:#7a5c00 #ffffff bold",
    "scheme-blue": "bg:#00458a #ffffff bold",
    "scheme-cyan": "bg:#00606e #ffffff bold",
    "scheme-green": "bg:#00602b #ffffff bold",
    "scheme-magenta": "bg:#7d1f7d #ffffff bold",
    "scheme-red": "bg:#a8001a #ffffff bold",
}
"""The styles on a light background: as readable on white as text has to be (WCAG 2.2, 4.5 to 1)."""
_PLAIN = {
    "good": "",
    "warn": "",
    "bad": "bold",
    "dim": "",
    "bold": "bold",
    "heading": "underline",
    "on": "bold",
    "tab": "",
    "tab.on": "reverse",
    "row-on": "reverse",
    "changed": "bold",
    "trend": "",
    "key": "bold",
    "notice": "bold",
    "cursor": "reverse",
    **{f"scheme-{color}": "bold reverse" for color in SCHEMES},
}
"""The styles without colors (NO_COLOR)."""

_SUSPENSION = [signal.SIGTSTP] if hasattr(signal, "SIGTSTP") else []
_ESCAPE_TIMEOUT = 0.05  #: seconds after which an escape is taken as the key alone
_WHEEL = {MouseEventType.SCROLL_UP: "up", MouseEventType.SCROLL_DOWN: "down"}
_WHEEL_LINES = 3
_CODES = ("good", "warn", "bad", "dim", "bold")

_NAMES = {Keys.ControlM: "enter", Keys.ControlI: "tab", Keys.ControlH: "backspace", Keys.BackTab: "s-tab"}


class Terminal:
    """The alternate screen of a terminal.

    draw: returns the lines for a size. press: called with a key. paste: with a text that was pasted. click:
    with the column and line of a click, from 0. environ: says whether the background is light; see
    `screen.background`. Raises BadInput.
    """

    def __init__(
        self,
        out: TextIO,
        stdin: TextIO,
        *,
        draw: Callable[[int, int], Sequence[Line]],
        press: Callable[[str], None],
        paste: Callable[[str], None],
        click: Callable[[int, int], None],
        color: bool,
        environ: Mapping[str, str],
    ) -> None:
        self._out = out
        self._stdin = stdin
        self._press = press
        self._paste = paste
        self._click = click
        self._draw = draw
        self._color = color
        self._application: Application[None] | None = None
        self._closing = False
        choice = background.read_choice(environ)
        self._is_light = background.guess_is_light(environ) if choice is None else choice
        self._may_ask = color and choice is None and environ.get("TERM") != "linux"
        self._asked_at: float | None = None  #: when the terminal was asked for its background
        self._is_answered = False

    async def run(self) -> None:
        """Show the screen until `close`."""
        with self._open_input() as keys:
            output = create_output(self._out)
            self._application = application = self._make_application(keys, output)
            if self._may_ask and hasattr(keys, "stdin_reader"):  # a terminal that is not one of Windows
                keys.stdin_reader = background.AnswerReader(keys.stdin_reader, self._set_background)
                application.after_render += self._ask_for_background
            with (
                handle_signals(self.close, TERMINATION, resend=True),
                handle_signals(lambda: self._press("c-c"), [signal.SIGINT]),
                handle_signals(self._suspend, _SUSPENSION),
            ):
                if not self._closing:
                    await application.run_async(set_exception_handler=False, handle_sigint=False)

    def close(self) -> None:
        """Restore the terminal, once it has answered what it was asked, or has had the time to."""
        self._closing = True
        if self._asked_at is not None and not self._is_answered:
            loop = asyncio.get_running_loop()
            if (remaining := self._asked_at + background.WAIT - loop.time()) > 0:
                loop.call_later(remaining, self._exit)
                return
        self._exit()

    def _exit(self) -> None:
        if self._application is not None and self._application.is_running and not self._application.is_done:
            self._application.exit()

    def _ask_for_background(self, application: Application[None]) -> None:
        """Ask the terminal for its background, after it was first drawn on: it reads keys then."""
        if self._asked_at is None:
            self._asked_at = asyncio.get_running_loop().time()
            application.output.write_raw(background.QUESTION)
            application.output.flush()

    def _set_background(self, is_light: bool) -> None:
        self._is_light, self._is_answered = is_light, True
        if self._closing:
            self._exit()
        self.redraw()

    def redraw(self) -> None:
        """Draw the screen again."""
        if self._application is not None:
            self._application.invalidate()

    def copy(self, text: str) -> None:
        """Copy text into the clipboard of a terminal that permits it (xterm's OSC 52)."""
        if self._application is not None:
            data = base64.b64encode(text.encode()).decode()
            self._application.output.write_raw(f"\x1b]52;c;{data}\x07")
            self._application.output.flush()

    def bell(self) -> None:
        """Ring the terminal's bell."""
        if self._application is not None:
            self._application.output.bell()

    def _make_application(self, keys: Input, output: Output) -> Application[None]:
        bindings = KeyBindings()

        @bindings.add(Keys.Any)
        @bindings.add("c-c")
        @bindings.add("escape")
        def pressed(event: KeyPressEvent) -> None:
            key = event.key_sequence[0].key
            self._press(_NAMES.get(key, key.value) if isinstance(key, Keys) else key)
            event.app.invalidate()

        @bindings.add("c-z")
        def stop(event: KeyPressEvent) -> None:
            self._suspend()

        @bindings.add("c-l")
        def clear(event: KeyPressEvent) -> None:
            event.app.renderer.clear()

        @bindings.add("<bracketed-paste>")
        def pasted(event: KeyPressEvent) -> None:
            self._paste(event.data)

        dark, light, plain = map(Style.from_dict, (_COLORS, _LIGHT, _PLAIN))
        style = DynamicStyle(lambda: (light if self._is_light else dark) if self._color else plain)
        application: Application[None] = Application(
            layout=Layout(Window(_Control(self._draw, self._handle_mouse), always_hide_cursor=True)),
            key_bindings=bindings,
            full_screen=True,
            mouse_support=True,
            style=style,
            color_depth=None if self._color else ColorDepth.DEPTH_1_BIT,
            input=keys,
            output=output,
            min_redraw_interval=0.02,
        )
        application.ttimeoutlen = _ESCAPE_TIMEOUT
        application.timeoutlen = 0.1
        return application

    def _handle_mouse(self, event: MouseEvent) -> None:
        if event.event_type is MouseEventType.MOUSE_DOWN:
            self._click(event.position.x, event.position.y)
        elif key := _WHEEL.get(event.event_type):
            for _ in range(_WHEEL_LINES):
                self._press(key)

    @contextlib.contextmanager
    def _open_input(self) -> Iterator[Input]:
        """Yield the source of keys; one that never sends any without a terminal, or in the background."""
        file = -1
        with contextlib.suppress(OSError, ValueError):  # a stream without a file
            file = self._stdin.fileno() if self._stdin.isatty() else -1
        if file < 0 or _is_in_background(file):
            with create_pipe_input() as silent_input:
                yield silent_input
        else:
            yield create_input(self._stdin)

    def _suspend(self) -> None:
        """Give the terminal back, and stop. prompt_toolkit's own way sends a signal that we handle here."""
        if self._application is not None:
            with set_app(self._application):
                run_in_terminal(suspend)


def _is_in_background(terminal: int) -> bool:
    """Return whether a terminal would stop this process if it read."""
    try:
        return hasattr(os, "tcgetpgrp") and os.getpgrp() != os.tcgetpgrp(terminal)
    except OSError:  # it is not the terminal of this session, as within an agent, and stops nobody
        return False


class _Control(UIControl):
    """The control that draws the lines for the terminal's current size, once for each size."""

    def __init__(
        self, draw: Callable[[int, int], Sequence[Line]], handle_mouse: Callable[[MouseEvent], None]
    ) -> None:
        self._draw = draw
        self._handle_mouse = handle_mouse

    def mouse_handler(self, mouse_event: MouseEvent) -> None:
        """Pass a click or the wheel on; see UIControl."""
        self._handle_mouse(mouse_event)

    def create_content(self, width: int, height: int) -> UIContent:
        lines: list[StyleAndTextTuples] = [
            [(_to_style_classes(style), text) for style, text in line] for line in self._draw(width, height)
        ]
        return UIContent(
            lambda index: lines[index], len(lines), cursor_position=Point(0, 0), show_cursor=False
        )


@cache
def _to_style_classes(style: str) -> str:
    if style == "tab on":
        return "class:tab.on"
    return " ".join(f"class:{name}" for name in style.split())


def format_lines(lines: Sequence[Line], *, color: bool) -> str:
    """Return lines as text that stays on the terminal after the screen."""
    texts = []
    for line in lines:
        if color:
            styled = [
                paint(text, next((name for name in style.split() if name in _CODES), ""))
                for style, text in line
            ]
            texts.append("".join(styled).rstrip())
        else:
            texts.append("".join(text for _, text in line).rstrip())
    while texts and not texts[-1]:
        texts.pop()
    return "".join(text + "\n" for text in texts)


async def show_while(terminal: Terminal, work: "asyncio.Task[None]") -> None:
    """Show a terminal while `work` runs; when either ends, so does the other. Raises what the work raised."""
    work.add_done_callback(lambda _: terminal.close())
    try:
        await terminal.run()
    finally:
        work.cancel()
        results = await asyncio.gather(work, return_exceptions=True)
    failure = results[0]
    if isinstance(failure, Exception):
        raise failure
