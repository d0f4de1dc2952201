"""Frames of the live screen, and the terminal after it."""

import asyncio
import io

from rich.console import Console

from jsctl.render.screen import Frame, lines_frame, live_screen, result_frame
from jsctl.views.result import Cell, Column, Result, Table, Text


def drawn(frame: Frame, width: int, height: int) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width, height=height, markup=False).print(frame(width, height))
    return out.getvalue().splitlines()


TABLE = Table("T", [Column("Name", "name")], [[Cell(number, f"row {number}")] for number in range(20)])


def test_a_result_is_drawn_whole_or_says_what_is_missing() -> None:
    whole = drawn(result_frame(Result([TABLE])), 40, 30)
    assert len(whole) <= 30
    assert any("row 19" in line for line in whole)
    cut = drawn(result_frame(Result([TABLE])), 40, 10)
    assert len(cut) == 10
    assert "row 0" in "".join(cut)
    assert cut[-1] == f"… {len(whole) - 9} more lines; a taller terminal"


def test_lines_are_made_for_the_size_and_cleaned() -> None:
    frame = lines_frame(lambda width, height: [Text(f"{width}x{height} \x1b[31m"), Text("2"), Text("3")])
    assert drawn(frame, 30, 2) == ["30x2 \\x1b[31m", "2"]


def test_the_terminal_is_given_back_and_the_last_frame_left_behind() -> None:
    async def work(leave_last: bool) -> str:
        out = io.StringIO()
        with live_screen(out, io.StringIO(), lambda: None, color=False, leave_last=leave_last) as screen:
            screen.show(lines_frame(lambda width, height: [Text("first")]))
            screen.show(lines_frame(lambda width, height: [Text("last")]))
            during = out.getvalue()
        assert "\x1b[?1049h" in during
        assert "first" in during
        return out.getvalue()[len(during) :]

    after = asyncio.run(work(leave_last=True))
    assert "\x1b[?1049l" in after
    assert after.rpartition("\x1b[?1049l")[2].strip().endswith("last")
    assert "last" not in asyncio.run(work(leave_last=False))
