"""Fitting text and tables to a terminal: which columns stay, what is cut in the middle, where lines fold.

Static tables and live screens share it. Numbers are never cut; output to pipes is never fitted.
"""

import re
from collections.abc import Collection, Iterator, Sequence

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
"""Kinds of columns that are aligned to the right."""

_COMMAND = re.compile(r" *(\$ |try: )?jsctl ")

_COMFORTABLE = 18  #: cells of a text that are kept before a column is left out
_MIN_WIDTH = 6  #: a column is not cut below this many cells


def fit_columns(
    columns: Sequence[Column],
    widths: list[int],
    room: int,
    gap: int,
    *,
    blank: Collection[int],
    prose: int = _COMFORTABLE,
    values: Sequence[int] = (),
) -> list[int]:
    """Return the indexes of the columns that fit side by side, and narrow their `widths`.

    room: cells for all. gap: cells between two of them. blank: indexes of the columns that are empty or zero
    in all rows. prose: cells of a sentence that are comfortable to read. values: cells of the widest value of
    each column, for a table whose titles may be folded.

    Columns of texts that are all empty are left out first, then titles are folded between words, then
    hideable columns are left out, first those that are blank. Long texts are narrowed before a column is left
    out, but not below what is comfortable to read. When all hideable columns are left out, texts are narrowed
    further, the widest first and times last, and then the titles above numbers.
    """
    shown = list(range(len(columns)))
    ranks = [column.hideable for column in columns]
    hideable_columns = [index for index in shown if ranks[index]]
    hideable_columns.sort(key=lambda index: (index not in blank, -ranks[index]))
    empty = [index for index in reversed(shown[1:]) if index in blank and columns[index].kind not in NUMBERS]
    empty.sort(key=lambda index: -ranks[index])

    def leave_out(dispensable: Sequence[int], limits: Sequence[int]) -> None:
        for index in dispensable:
            if sum(limits[place] for place in shown) + gap * (len(shown) - 1) <= room:
                return
            if index in shown and len(shown) > 1:
                shown.remove(index)

    leave_out(empty, widths)
    if values:
        _fold_titles(columns, widths, values, shown, room - gap * (len(shown) - 1))
    comfortable = [
        min(width, _find_comfortable_width(column, width, prose))
        for column, width in zip(columns, widths, strict=True)
    ]
    leave_out(hideable_columns, comfortable)
    excess = sum(widths[index] for index in shown) + gap * (len(shown) - 1) - room
    texts = [index for index in shown if columns[index].kind not in NUMBERS and widths[index] > _MIN_WIDTH]
    while excess > 0 and texts:
        excesses = [(max(0, widths[index] - comfortable[index]), widths[index], index) for index in texts]
        _, _, widest = max(excesses, key=lambda each: (columns[each[2]].kind != "time", *each[:2]))
        widths[widest] -= 1
        excess -= 1
        if widths[widest] == _MIN_WIDTH:
            texts.remove(widest)
    number_columns = [index for index in shown if columns[index].kind in NUMBERS] if values else []
    while excess > 0 and (
        shrinkable := [index for index in number_columns if widths[index] > max(values[index], _MIN_WIDTH)]
    ):
        widths[max(shrinkable, key=lambda index: widths[index])] -= 1
        excess -= 1
    return shown


def _fold_titles(
    columns: Sequence[Column], widths: list[int], values: Sequence[int], shown: Sequence[int], room: int
) -> None:
    """Narrow columns whose title of several words is wider than their values, until all those `shown` fit;
    the titles from which most is gained first."""
    folded = {index: max(values[index], measure_longest_word(columns[index].title)) for index in shown}
    for index in sorted(shown, key=lambda index: folded[index] - widths[index]):
        if sum(widths[index] for index in shown) <= room:
            return
        widths[index] = min(widths[index], folded[index])


def cut(text: str, width: int) -> str:
    """Return a text shortened in the middle to `width` cells, as similar names differ at an end."""
    if measure(text) <= width:
        return text
    if width < 2:
        return "…"[:width]
    tail = _cut_to_width(text[::-1], (width - 1) // 2)[::-1]
    return _cut_to_width(text, width - 1 - measure(tail)) + "…" + tail


def cut_end(text: str, width: int) -> str:
    """Return a sentence shortened at its end to `width` cells."""
    return text if measure(text) <= width else _cut_to_width(text, max(width - 1, 0)) + "…"


def split(text: str, width: int) -> Iterator[str]:
    """Yield a text in pieces of at most `width` cells, wherever that cuts it; none of it is missing."""
    start = 0
    while start < len(text) or not start:
        piece = _cut_to_width(text[start : start + width], width) or text[start : start + 1]
        yield piece
        start += max(1, len(piece))


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
    has_words = False
    for gap, word in re.findall(r"( *)([^ ]+)", text.strip(" ")):
        if has_words and measure(line) + len(gap) + measure(word) > width:
            yield line
            line, has_words = indent, False
        *whole, rest = (
            _split_word(word, width - measure(line), width - len(indent)) if not has_words else [word]
        )
        for piece in whole:
            yield line + piece
            line = indent
        line += (gap if has_words else "") + rest
        has_words = True
    if has_words:
        yield line


def _split_word(word: str, first: int, room: int) -> list[str]:
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


def _find_comfortable_width(column: Column, width: int, prose: int) -> int:
    """Return how narrow a column may become before another one is left out."""
    min_width = prose if column.kind == "prose" else _COMFORTABLE
    is_uncut = column.kind in NUMBERS or column.kind in ("url", "time")
    return width if is_uncut else max(min_width, measure(column.title))


def _cut_to_width(text: str, width: int) -> str:
    if text.isascii():
        return text[:width]
    if measure(text) <= width:
        return text
    used = 0
    for index, character in enumerate(text):
        used += measure(character)
        if used > width:
            return text[:index]
    return text
