"""Numbers as lines of text: a sparkline for a cell, a plot of dots for a screen."""

from collections.abc import Sequence

Values = Sequence[float | None]

_BARS = "▁▂▃▄▅▆▇█"
_BRAILLE = 0x2800
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # of a cell, from the top


def sparkline(values: Values, width: int = 24) -> str:
    """One row of bars from the least to the most; a space where nothing is known."""
    shown = squeeze(values, width)
    known = [value for value in shown if value is not None]
    if not known:
        return ""
    least, most = min(known), max(known)
    scale = (len(_BARS) - 1) / (most - least) if most > least else 0.0
    return "".join(" " if v is None else _BARS[round((v - least) * scale)] for v in shown)


def plot(values: Values, width: int = 60, height: int = 6) -> list[str]:
    """`height` lines of braille dots, zero or the least at the bottom; two values a column."""
    shown = squeeze(values, width * 2)
    known = [value for value in shown if value is not None]
    if not known:
        return []
    least, most = min(0.0, *known), max(known)
    span = (most - least) or 1.0
    rows = height * 4
    cells = [[0] * ((len(shown) + 1) // 2) for _ in range(height)]
    for at, value in enumerate(shown):
        if value is None:
            continue
        top = round((value - least) / span * (rows - 1))
        for dot in range(top + 1):
            line = rows - 1 - dot
            cells[line // 4][at // 2] |= _DOTS[line % 4][at % 2]
    return ["".join(chr(_BRAILLE + cell) for cell in row) for row in cells]


def squeeze(values: Values, width: int) -> Values:
    """At most `width` values: the largest of each stretch, so that no peak is lost."""
    if len(values) <= width:
        return values
    found: list[float | None] = []
    for at in range(width):
        stretch = values[at * len(values) // width : (at + 1) * len(values) // width]
        known = [value for value in stretch if value is not None]
        found.append(max(known) if known else None)
    return found
