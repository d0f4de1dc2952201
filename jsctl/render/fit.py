"""Fitting text and tables to a terminal: which columns stay, what is cut in the middle, where lines fold.

Static tables and live panes share it. Numbers are never cut; output to pipes is never fitted.
"""

import re
from collections.abc import Iterator, Sequence

from jsctl.render.text import measure
from jsctl.views.result import Column

NUMBERS = frozenset(
    {
        "count",
        "number",
        "bytes",
        "duration",
        "span",
        "ago",
        "limit",
        "bytes_limit",
        "span_limit",
        "percent",
        "rate",
    }
)
"""Kinds of columns that are aligned at the right."""

_COMMAND = re.compile(r" *(\$ |try: )?jsctl ")

_COMFORTABLE = 18  #: cells of a text that are not cut for the sake of a column that can be left out
_NARROWEST = 6  #: a column is not cut below this many cells


def fit_columns(
    columns: Sequence[Column],
    widths: list[int],
    spare: Sequence[str],
    room: int,
    gap: int,
    *,
    prose: int = _COMFORTABLE,
    numbers: Sequence[int] = (),
) -> list[int]:
    """Return the indexes of the columns that fit side by side, and narrow their `widths`.

    spare: `data_key`s of the columns that may be left out, the most dispensable first. room: cells for all.
    gap: cells between two of them. prose: cells of a sentence that are comfortable to read. numbers: cells of
    the widest value of each column.

    Long texts are narrowed before a column is left out, but not below what is comfortable to read. When all
    spare columns are left out, texts are narrowed further, and then the titles above numbers.
    """
    shown = list(range(len(columns)))
    comfortable = [_comfortable(column, width, prose) for column, width in zip(columns, widths, strict=True)]

    def wanted() -> int:
        return sum(min(widths[at], comfortable[at]) for at in shown) + gap * (len(shown) - 1)

    for key in spare:
        if wanted() <= room:
            break
        shown = [at for at in shown if columns[at].data_key != key] or shown
    over = sum(widths[at] for at in shown) + gap * (len(shown) - 1) - room
    texts = [at for at in shown if columns[at].kind not in NUMBERS and widths[at] > _NARROWEST]
    while over > 0 and texts:
        widest = max(texts, key=lambda at: widths[at] - comfortable[at])
        widths[widest] -= 1
        over -= 1
        if widths[widest] == _NARROWEST:
            texts.remove(widest)
    titled = [at for at in shown if columns[at].kind in NUMBERS] if numbers else []
    while over > 0 and (wide := [at for at in titled if widths[at] > max(numbers[at], _NARROWEST)]):
        widths[max(wide, key=lambda at: widths[at])] -= 1
        over -= 1
    return shown


def cut(text: str, width: int) -> str:
    """Return a text shortened in the middle to `width` cells, as similar names differ at an end."""
    if measure(text) <= width:
        return text
    if width < 2:
        return "…"[:width]
    tail = _beginning(text[::-1], (width - 1) // 2)[::-1]
    return _beginning(text, width - 1 - measure(tail)) + "…" + tail


def cut_end(text: str, width: int) -> str:
    """Return a sentence shortened at its end to `width` cells."""
    return text if measure(text) <= width else _beginning(text, max(width - 1, 0)) + "…"


def fold(text: str, width: int, indent: str = "") -> Iterator[str]:
    """Yield lines of at most `width` cells, folded between words; `indent` begins all but the first.

    In a longer word, a path is folded after a slash, and anything else, such as an address or a name, is cut
    in the middle. A line that is a command of jsctl stays whole, so that it can be copied.
    """
    if measure(text) <= width or _COMMAND.match(text):
        yield text
        return
    start = re.match(r" *", text)
    line = start[0][: width // 2] if start else ""
    indent = indent[: width // 2]
    begun = False
    for gap, word in re.findall(r"( *)([^ ]+)", text.strip(" ")):
        if begun and measure(line) + len(gap) + measure(word) > width:
            yield line
            line, begun = indent, False
        *whole, rest = _pieces(word, width - measure(line), width - len(indent)) if not begun else [word]
        for piece in whole:
            yield line + piece
            line = indent
        line += (gap if begun else "") + rest
        begun = True
    if begun:
        yield line


def _pieces(word: str, first: int, room: int) -> list[str]:
    """Return a word in pieces that fit: several for a path, else one. first: cells of the first line."""
    if measure(word) <= first:
        return [word]
    if "://" in word or "/" not in word[:-1]:
        return [cut(word, first)]
    pieces = [""]
    for part in re.findall(r"[^/]*/|[^/]+", word):
        space = room if pieces[1:] else first
        if measure(pieces[-1]) + measure(part) > space and pieces[-1]:
            pieces.append("")
            space = room
        pieces[-1] += cut(part, space)
    return pieces


def fold_lines(text: str, width: int) -> str:
    """Return a text with all its lines folded; continuation lines are indented by two more cells."""
    return "\n".join(
        piece
        for line in text.split("\n")
        for piece in fold(line, width, " " * (len(line) - len(line.lstrip()) + 2))
    )


def measure_longest_word(text: str) -> int:
    """Return the width in cells of the longest word of a text."""
    return max(map(measure, text.split()), default=0)


def _comfortable(column: Column, width: int, prose: int) -> int:
    """Return how narrow a column may get before another one is left out."""
    least = prose if column.kind == "prose" else _COMFORTABLE
    whole = column.kind in NUMBERS or column.kind in ("url", "time")
    return width if whole else max(least, measure(column.title))


def _beginning(text: str, width: int) -> str:
    if text.isascii():
        return text[:width]
    taken = 0
    for at, character in enumerate(text):
        taken += measure(character)
        if taken > width:
            return text[:at]
    return text
