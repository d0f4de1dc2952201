"""Tables as text: the rounded box for a terminal, aligned columns for a pipe.

Written here, not left to rich: a rich table costs about 0.45 ms a row and 60 ms to import, and
`stream ls` on a server with 10,000 streams has to draw that many rows. One pass measures, one writes.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from jsctl.render.style import paint
from jsctl.render.text import cells, clean, show
from jsctl.views.result import Cell, Column, Style, Table

_NARROWEST = 8  #: a column is not folded below this many cells


def boxed(
    table: Table, width: int | None = None, border: Style | str = "", color: bool = False
) -> Iterator[str]:
    """Yield the lines of the table in a rounded box; cells are folded (never cut) to fit `width` columns."""
    head = [clean(column.title) for column in table.columns]
    rows = [_shown(table.columns, row) for row in table.rows]
    foot = _shown(table.columns, table.footer) if table.footer is not None else None
    title = clean(table.title)
    widths = _measure([head, *rows] + ([foot] if foot else []))
    _widen(widths, cells(title) + 4)
    folds = bool(width) and _fit(widths, width or 0)

    edge: Callable[[str], str] = (
        (lambda text: paint(text, border)) if color and border else (lambda text: text)
    )
    bar = edge("│")

    def rule(left: str, middle: str, right: str) -> str:
        return edge(left + middle.join("─" * (w + 2) for w in widths) + right)

    def lines(row: Sequence[str], raw: Sequence[object] | None = None) -> Iterator[str]:
        styles: list[Style] = [c.style if isinstance(c, Cell) else "" for c in raw] if raw and color else []
        for piece in _folded(row, widths) if folds else (row,):
            padded = [f" {_padded(text, w)} " for text, w in zip(piece, widths, strict=True)]
            if styles:
                padded = [paint(p, s) if s else p for p, s in zip(padded, styles, strict=True)]
            yield bar + bar.join(padded) + bar

    if title:
        inner = sum(widths) + 3 * len(widths) - 1
        yield edge("╭" + "─" * inner + "╮")
        for line in _chunks(title, inner - 2):
            space = inner - cells(line)
            yield bar + " " * (space // 2) + line + " " * (space - space // 2) + bar
        yield rule("├", "┬", "┤")
    else:
        yield rule("╭", "┬", "╮")
    yield from lines(head)
    yield rule("├", "┼", "┤")
    yield from chain.from_iterable(map(lines, rows, table.rows) if color else map(lines, rows))
    if foot:
        yield rule("├", "┼", "┤")
        yield from lines(foot, table.footer)
    yield rule("╰", "┴", "╯")


def plain(table: Table) -> Iterator[str]:
    """Yield title, header and rows, with columns separated by two spaces: for pipes, files and grep."""
    head = [clean(column.title) for column in table.columns]
    rows = [_shown(table.columns, row) for row in table.rows]
    if table.footer is not None:
        rows.append(_shown(table.columns, table.footer))
    widths = _measure([head, *rows])
    if table.title:
        yield clean(table.title)
    for row in [head, *rows]:
        yield "  ".join(map(_padded, row, widths)).rstrip()


def _shown(columns: Sequence[Column], row: Sequence[object]) -> list[str]:
    return [show(value, column.kind) for value, column in zip(row, columns, strict=True)]


def _measure(rows: Sequence[Sequence[str]]) -> list[int]:
    return [
        max(map(len if "".join(column).isascii() else cells, column)) for column in zip(*rows, strict=True)
    ]


def _padded(text: str, width: int) -> str:
    return text.ljust(width) if text.isascii() else text + " " * (width - cells(text))


def _widen(widths: list[int], least: int) -> None:
    """Make the last column wider for a title that is longer than all columns."""
    have = sum(widths) + 3 * len(widths) + 1
    if have < least:
        widths[-1] += least - have


def _fit(widths: list[int], width: int) -> bool:
    """Narrow the widest columns until the box fits or none can get narrower. Return whether any was
    narrowed."""
    over = sum(widths) + 3 * len(widths) + 1 - width
    folds = False
    while over > 0:
        widest = max(range(len(widths)), key=widths.__getitem__)
        if widths[widest] <= _NARROWEST:
            break
        below = max((w for w in widths if w < widths[widest]), default=_NARROWEST)
        step = min(over, max(1, widths[widest] - max(below, _NARROWEST)))
        widths[widest] -= step
        over -= step
        folds = True
    return folds


def _folded(row: Sequence[str], widths: Sequence[int]) -> Iterator[Sequence[str]]:
    columns = [list(_chunks(text, w)) for text, w in zip(row, widths, strict=True)]
    for at in range(max(map(len, columns))):
        yield [column[at] if at < len(column) else "" for column in columns]


def _chunks(text: str, width: int) -> Iterator[str]:
    """Return pieces of at most `width` cells, broken after a space, dot, dash or underscore where one is
    near."""
    while cells(text) > width:
        cut = len(text) if text.isascii() else 0
        if text.isascii():
            cut = width
        else:
            taken = 0
            while taken + cells(text[cut]) <= width:
                taken += cells(text[cut])
                cut += 1
        near = max(text.rfind(mark, cut // 4, cut) for mark in " ._-,/")
        cut = near + 1 if near > 0 else max(cut, 1)
        yield text[:cut]
        text = text[cut:]
    yield text
