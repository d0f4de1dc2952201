"""Tables as text: the rounded box for a terminal, aligned columns for a pipe.

rich would take 60 ms to import and about 0.45 ms for each row, of which `stream ls` may have 10,000. One pass
measures, one writes.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from jsctl.render.fit import NUMBERS, cut, fit_columns, fold
from jsctl.render.style import paint
from jsctl.render.text import clean, measure, show, show_all
from jsctl.views.result import Cell, Column, Style, Table


def format_boxed(
    table: Table, width: int | None = None, border: Style | str = "", color: bool = False
) -> Iterator[str]:
    """Yield the lines of the table in a rounded box of at most `width` columns.

    If the table is wider, empty columns are left out and titles are folded between words. If that is not
    enough, the columns that may be hidden are left out, those of zeros first, and named below it; prose is
    folded between words, and other texts are cut in the middle.
    """
    columns: Sequence[Column] = table.columns
    rows, foot = format_cells(table)
    title, head = clean(table.title), [clean(column.title) for column in columns]
    widths = _measure([head, *rows] + ([foot] if foot else []))
    hidden_titles: list[str] = []
    fits = not width or sum(widths) + 3 * len(widths) + 1 <= width
    shown = list(range(len(columns)))
    if width and not fits:
        values = _measure([*rows, *([foot] if foot else [])]) if rows or foot else [0] * len(columns)
        blank = [index for index, column in enumerate(columns) if _is_blank(table, index, column)]
        shown = fit_columns(columns, widths, width - 4, 3, blank=blank, values=values)
        hidden_titles = [head[index] for index, wide in enumerate(values) if wide and index not in shown]
        columns, widths = [columns[index] for index in shown], [widths[index] for index in shown]
    _widen(widths, min(measure(title) + 4, width) if width else measure(title) + 4)
    right = [column.kind in NUMBERS for column in columns]
    prose = [column.kind == "prose" for column in columns]

    edge: Callable[[str], str] = (
        (lambda text: paint(text, border)) if color and border else (lambda text: text)
    )
    bar = edge("│")
    join_row = _build_joiner(widths, right, f"{bar} ", f" {bar} ", f" {bar}")

    def rule(left: str, middle: str, end: str) -> str:
        return edge(left + middle.join("─" * (w + 2) for w in widths) + end)

    def format_row(row: Sequence[str], raw: Sequence[object] | None = None) -> Iterator[str]:
        if len(shown) < len(row):
            row, raw = [row[index] for index in shown], [raw[index] for index in shown] if raw else None
        styles: list[Style] = [c.style if isinstance(c, Cell) else "" for c in raw] if raw and color else []
        for piece in (row,) if fits else _fit_row(row, widths, prose):
            if any(styles):
                padded = [f" {_pad(text, w, r)} " for text, w, r in zip(piece, widths, right, strict=True)]
                padded = [paint(p, s) if s else p for p, s in zip(padded, styles, strict=True)]
                yield bar + bar.join(padded) + bar
            else:
                yield join_row(piece)

    if title:
        inner = sum(widths) + 3 * len(widths) - 1
        yield edge("╭" + "─" * inner + "╮")
        for line in fold(title, inner - 2):
            yield bar + _center(cut(line, inner - 2), inner) + bar
        yield rule("├", "┬", "┤")
    else:
        yield rule("╭", "┬", "╮")
    titles = [head[index] for index in shown]
    yield from map(join_row, _fit_row(titles, widths, [True] * len(widths), at_bottom=True))
    yield rule("├", "┼", "┤")
    yield from chain.from_iterable(map(format_row, rows, table.rows) if color else map(format_row, rows))
    if foot:
        yield rule("├", "┼", "┤")
        yield from format_row(foot, table.footer)
    yield rule("╰", "┴", "╯")
    if hidden_titles:
        note = f"left out: {', '.join(hidden_titles)}; a wider terminal or a pipe shows all columns"
        yield from (paint(line, "dim") if color else line for line in fold(note, width or 0))


def _is_blank(table: Table, index: int, column: Column) -> bool:
    """Return whether a column is empty or zero in all rows."""
    return not any(column.data_value(row[index]) for row in table.rows)


def format_plain(table: Table) -> Iterator[str]:
    """Yield title, header and rows, with columns separated by two spaces: for pipes, files and grep."""
    head = [clean(column.title) for column in table.columns]
    rows, foot = format_cells(table)
    rows = [head, *rows, *([foot] if foot else [])]
    right = [column.kind in NUMBERS for column in table.columns]
    if table.title:
        yield clean(table.title)
    widths = _measure(rows)
    join_row = _build_joiner(widths, right, "", "  ", "")
    for row in rows:
        yield join_row(row).rstrip()


def _build_joiner(
    widths: Sequence[int], right: Sequence[bool], start: str, between: str, end: str
) -> Callable[[Sequence[str]], str]:
    """Return a function that joins a row's texts to a line, each as wide as its column."""
    columns = between.join(f"%{'' if r else '-'}{width}s" for width, r in zip(widths, right, strict=True))
    line = f"{start}{columns}{end}"

    def join(row: Sequence[str]) -> str:
        if "".join(row).isascii():  # then each character takes one column
            return line % tuple(row)
        return start + between.join(map(_pad, row, widths, right)) + end

    return join


def format_cells(table: Table) -> tuple[list[Sequence[str]], Sequence[str] | None]:
    """Return the rows and the footer as texts.

    Works column by column, so that properties shared by all values of a column are looked up once.
    """
    kinds = [column.kind for column in table.columns]
    columns = list(zip(*table.rows, strict=True))
    texts = [show_all(values, kind) for values, kind in zip(columns, kinds, strict=True)] if columns else []
    foot = table.footer and [show(value, kind) for value, kind in zip(table.footer, kinds, strict=True)]
    return list(zip(*texts, strict=True)), foot


def _measure(rows: Sequence[Sequence[str]]) -> list[int]:
    return [
        max(map(len if "".join(column).isascii() else measure, column)) for column in zip(*rows, strict=True)
    ]


def _pad(text: str, width: int, right: bool) -> str:
    if text.isascii():
        return text.rjust(width) if right else text.ljust(width)
    space = " " * (width - measure(text))
    return space + text if right else text + space


def _center(text: str, width: int) -> str:
    space = width - measure(text)
    return " " * (space // 2) + text + " " * (space - space // 2)


def _widen(widths: list[int], min_width: int) -> None:
    """Make the last column wider for a title that is longer than all columns."""
    width = sum(widths) + 3 * len(widths) + 1
    if width < min_width:
        widths[-1] += min_width - width


def _fit_row(
    row: Sequence[str], widths: Sequence[int], folds: Sequence[bool], *, at_bottom: bool = False
) -> Iterator[Sequence[str]]:
    """Yield the lines of a row in which some texts are too wide.

    folds: whether a column's text is folded, not cut. at_bottom: shorter texts end on the last line.
    """
    columns = [
        [cut(line, width) for line in fold(text, width)] if is_folded else [cut(text, width)]
        for text, width, is_folded in zip(row, widths, folds, strict=True)
    ]
    height = max(map(len, columns))
    for lines in columns:
        blank = [""] * (height - len(lines))
        lines[:] = [*blank, *lines] if at_bottom else [*lines, *blank]
    yield from zip(*columns, strict=True)
