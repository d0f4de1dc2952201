"""The live screen on a terminal: it fetches, draws, and reacts to keys."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TextIO

from jsctl.base.files import escape_path
from jsctl.base.units import SECOND
from jsctl.base.user_folders import find_state_folder
from jsctl.errors import ExitStatus, JsctlError
from jsctl.screen.choosing import read_columns, write_columns
from jsctl.screen.drawing import Line, draw, settle
from jsctl.screen.keys import apply_paste, press
from jsctl.screen.model import Model, build_first_model, tick, with_board, with_size
from jsctl.screen.mouse import apply_click
from jsctl.screen.terminal import Terminal, format_lines, show_while
from jsctl.views.board import Live
from jsctl.views.events import close_after
from jsctl.views.result import Text


class _Screen:
    def __init__(
        self, live: Live, out: TextIO, stdin: TextIO, color: bool, environ: Mapping[str, str]
    ) -> None:
        first = build_first_model(live.start, live.interval, live.times)
        self._columns_file = find_state_folder(environ) / "jsctl" / "columns.json"
        self.model: Model = first._replace(columns=read_columns(self._columns_file, live.start.title))
        self.rounds = 0
        self._live = live
        self._wake = asyncio.Event()
        self.terminal = Terminal(
            out,
            stdin,
            draw=self._draw,
            press=self.press,
            paste=self._paste,
            click=self._click,
            color=color,
            environ=environ,
        )

    def press(self, key: str) -> None:
        self._change(press(self.model, key))

    def _paste(self, text: str) -> None:
        self._change(apply_paste(self.model, text))

    def _click(self, x: int, y: int) -> None:
        self._change(apply_click(self.model, x, y))

    def _change(self, model: Model) -> None:
        before, self.model = self.model, settle(model)
        if self.model.copied and self.model.copied != before.copied:
            self.terminal.copy(self.model.copied)
        if self.model.columns is not before.columns:
            self._keep_columns()
        if self.model.ended:
            self.terminal.close()
        elif _select_wait_state(self.model) != _select_wait_state(before):
            self._wake.set()
        self.terminal.redraw()

    def _keep_columns(self) -> None:
        try:
            write_columns(self._columns_file, self._live.start.title, self.model.columns)
        except OSError as error:
            words = f"cannot write {escape_path(self._columns_file)}: {error.strerror}"
            self.model = self.model._replace(notice=words)

    def _draw(self, width: int, height: int) -> list[Line]:
        if (width, height) != (self.model.width, self.model.height):
            self.model = settle(with_size(self.model, width, height))
        return draw(self.model, width, height)

    async def work(self) -> None:
        """Fetch repeatedly, at most once per interval unless a key asks for an immediate round."""
        loop, ticking = asyncio.get_running_loop(), True
        while True:
            self._wake.clear()
            self.model = tick(self.model) if ticking else self.model
            start, query = loop.time(), self.model.query
            # In a pause, only a round that was requested in it is shown.
            await self._run_round(is_asked=self.model.paused and not ticking)
            ticking = False
            self.rounds += 1
            if self._live.rounds and self.rounds >= self._live.rounds:
                return
            if self._live.status() is not ExitStatus.OK:
                return
            while self.model.query == query:
                remaining = start + self.model.interval / SECOND / self.model.speed - loop.time()
                is_resting = self.model.paused and not self._live.is_watching
                if remaining <= 0 and not is_resting:
                    ticking = True
                    break
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(None if is_resting else remaining):
                        await self._wake.wait()
                self._wake.clear()

    def notice(self, text: str) -> None:
        """Show a line above the table until the next answer."""
        notices = (Text(text, "bad"),)
        self.model = self.model._replace(board=self.model.board._replace(notices=notices))
        self.terminal.redraw()

    async def _run_round(self, *, is_asked: bool) -> None:
        try:
            async with close_after(self._live.fetch(lambda: self.model.query)) as boards:
                async for board in boards:
                    if is_asked or not self.model.paused or self.model.board.is_empty:
                        self.model = settle(with_board(self.model, board))
                        self.terminal.redraw()
        except JsctlError as error:
            # The last answer stays, with the reason why it is old; the next round tries again.
            if self.model.board.is_empty:
                raise
            self.notice(str(error))


TakeNotices = Callable[[Callable[[str], None] | None], None]
"""A function that is called with the function that shows a line on a screen, and with None at the end."""


async def run_screen(
    live: Live,
    out: TextIO,
    stdin: TextIO,
    *,
    color: bool,
    environ: Mapping[str, str],
    endless: bool,
    take_notices: TakeNotices,
) -> ExitStatus:
    """Show a live screen until the user quits or its rounds are done; then print what it showed last, and the
    command lines of `y`.

    environ: says where the columns that users choose are kept, and what the background is. endless: ctrl-C is
    the ordinary end, unless there were fewer rounds than requested. Raises ValueError for a filter that is
    not valid, BadInput for a background that is not, and what the first round raises.
    """
    screen = _Screen(live, out, stdin, color, environ)
    take_notices(screen.notice)
    try:
        await show_while(screen.terminal, asyncio.ensure_future(screen.work()))
    finally:
        take_notices(None)
        if live.close is not None:
            await live.close()
    out.write(format_lines(_draw_last_lines(screen.model), color=color))
    out.writelines(f"{line}\n" for line in screen.model.lines)
    out.flush()
    if (status := live.status()) is not ExitStatus.OK:
        return status
    interrupted = screen.model.ended == "interrupted" and not endless
    return ExitStatus.INTERRUPTED if interrupted or live.rounds > screen.rounds else ExitStatus.OK


@contextlib.asynccontextmanager
async def screen_beside(
    live: Live,
    out: TextIO,
    stdin: TextIO,
    quit: Callable[[], object],
    *,
    color: bool,
    environ: Mapping[str, str],
    take_notices: TakeNotices,
) -> AsyncIterator[None]:
    """Show a live screen while the block runs, and remove it afterwards.

    environ: see `run_screen`. quit: called when the user ends the screen, or when it fails. Raises that
    failure.
    """
    screen = _Screen(live, out, stdin, color, environ)
    take_notices(screen.notice)
    showing = asyncio.ensure_future(show_while(screen.terminal, asyncio.ensure_future(screen.work())))
    showing.add_done_callback(lambda _: quit())
    try:
        yield
    finally:
        screen.terminal.close()
        await asyncio.wait({showing})
        take_notices(None)
    showing.result()


def _select_wait_state(model: Model) -> object:
    """Return the part of the state that decides when to fetch again."""
    return model.query, model.interval, model.paused, model.speed


def _draw_last_lines(model: Model) -> list[Line]:
    """Return what the screen showed last, without the line of its keys."""
    lines = draw(model._replace(mode="table", notice=""), model.width, model.height)[:-1]
    while lines and not any(text.strip() for _, text in lines[-1]):
        lines.pop()
    return lines
