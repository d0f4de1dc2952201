"""The line of a screen's parts. No I/O."""

from collections.abc import Callable, Sequence

from jsctl.base.units import format_count
from jsctl.render.fit import cut, cut_end
from jsctl.render.text import clean, measure
from jsctl.screen.model import Model


def draw_tabs(model: Model, width: int) -> list[tuple[str, str]]:
    """Return the line of parts, a fragment for each."""
    # If they do not fit, those that are asked for go but for their numbers, then the titles of the others
    # are shortened, then their counts are, and last these go.
    formats: Sequence[tuple[int, int, Callable[[int], str] | None]] = (
        *((width, limit, format_count) for limit in (width, 3)),
        *((limit, 0, format_count) for limit in (width, 24, 16, 10, 6, 3)),
        *((limit, 0, _round_count) for limit in (6, 3)),
        *((limit, 0, None) for limit in (6, 3, 2, 0)),
    )
    minor = [part.key for part in model.board.parts if part.key in model.start.asked]
    for others, asked, format_rows in formats:
        line: list[tuple[str, str]] = []
        for index, part in enumerate(model.board.parts, 1):
            is_shown, title = part.key == model.part, clean(part.title)
            limit = asked if part.key in minor else others
            known = model.counts.get(part.key) if is_shown or part.total is None else part.total
            is_full = is_shown or (part.is_vital and format_rows is None)
            form = format_count if is_full else format_rows
            count = form(known) if form and known is not None else ""
            number_text = f"{index} " if len(model.board.parts) > 1 else ""
            short = title if is_shown else cut(title, limit) if limit > 3 else title[:limit]
            words = f" {f'{number_text}{short}'.rstrip()}{f' {count}' if count else ''}"
            words += " " if count or is_shown or format_rows else ""
            if not limit and part.key in minor and not is_shown:
                words = f" {index}-{index + len(minor) - 1} " if part.key == minor[0] else ""
            line.append(("tab on" if is_shown else "tab", words))
        if sum(measure(words) for _, words in line) <= width:
            return line
    return [(style, cut_end(words, width // len(line))) for style, words in line]


def _round_count(rows: int) -> str:
    """Format a number of rows in at most four characters: `9999`, `10k`."""
    return str(rows) if rows < 10_000 else f"{rows // 1000}k"
