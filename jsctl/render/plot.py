"""Numbers over time as lines of text: every plot of jsctl. The newest value is at the right."""

from collections.abc import Callable, Sequence
from itertools import pairwise, zip_longest

from jsctl.views.result import Chart, Text

Values = Sequence[float | None]

SMALLEST = (20, 18)
"""The columns and rows that stacked charts need at least."""

_MIN_HEIGHT = 2  #: lines of a chart
_GAP = 2  #: columns between two charts

_BARS = " ▁▂▃▄▅▆▇█"
_BRAILLE = 0x2800
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # of a cell, from the top


def draw_chart(chart: Chart, width: int) -> list[str]:
    """Return a chart with its caption, which is below curves and bars, and above dots."""
    match chart.style:
        case "lines":
            return [*plot_lines(chart.values, width, chart.height, chart.label), chart.caption]
        case "bars":
            return [*plot_bars(chart.values, width, chart.height), f"{'':>11}{chart.caption}"]
        case "dots":
            return [chart.caption, *plot_dots(chart.values, min(60, max(20, width - 4)), chart.height)]


def stack_charts(charts: Sequence[Chart], width: int, height: int) -> list[Text]:
    """Return charts one below the other, as high as there is room; with little room, two side by side."""
    if width < SMALLEST[0] or height < SMALLEST[1]:
        return [Text("please increase terminal dimensions", "warn")]
    charts_per_row = 1 if height // len(charts) - 3 >= _MIN_HEIGHT else 2
    chart_width = (width - _GAP * (charts_per_row - 1)) // charts_per_row
    rows = max(height // -(-len(charts) // charts_per_row) - 3, 1)
    lines: list[Text] = []
    for index in range(0, len(charts), charts_per_row):
        row_charts = charts[index : index + charts_per_row]
        plots = [plot_lines(chart.values, chart_width, rows, chart.label) for chart in row_charts]
        lines += [Text(_join_row(row, chart_width)) for row in zip_longest(*plots, fillvalue="")]
        captions = [chart.caption.center(chart_width) for chart in row_charts]
        lines += [Text(_join_row(captions, chart_width), "dim"), Text("")]
    return lines


def _join_row(texts: Sequence[str], width: int) -> str:
    return (" " * _GAP).join(text.ljust(width) for text in texts).rstrip()


def draw_sparkline(values: Values, width: int = 24) -> str:
    """Return one row of bars from zero to the largest value; a space for an unknown value."""
    squeezed = squeeze(values, width)
    known_values = [value for value in squeezed if value is not None]
    if not known_values:
        return ""
    lowest, highest = min(0, *known_values), max(0, *known_values)
    scale = (len(_BARS) - 2) / (highest - lowest) if highest > lowest else 0.0
    return "".join(" " if v is None else _BARS[1 + round((v - lowest) * scale)] for v in squeezed)


def plot_dots(values: Values, width: int, height: int) -> list[str]:
    """Return `height` lines of braille dots, zero or the smallest at the bottom; two values in a column."""
    squeezed = squeeze(values, width * 2)
    known_values = [value for value in squeezed if value is not None]
    if not known_values:
        return []
    lowest, highest = min(0.0, *known_values), max(known_values)
    span = (highest - lowest) or 1.0
    rows = height * 4
    cells = [[0] * ((len(squeezed) + 1) // 2) for _ in range(height)]
    for index, value in enumerate(squeezed):
        if value is None:
            continue
        top = round((value - lowest) / span * (rows - 1))
        for dot in range(top + 1):
            line = rows - 1 - dot
            cells[line // 4][index // 2] |= _DOTS[line % 4][index % 2]
    return ["".join(chr(_BRAILLE + cell) for cell in row) for row in cells]


def plot_bars(values: Values, width: int, height: int) -> list[str]:
    """Return `height` lines of bars with an axis from 0 to the largest value; a column for each of the last
    values."""
    last_values = [value or 0 for value in values[-max(width - 12, 10) :]]
    highest = max([*last_values, 1])
    lines = []
    for row in range(height - 1, -1, -1):
        bars = "".join(
            _BARS[max(0, min(8, round(value * height * 8 / highest) - row * 8))] for value in last_values
        )
        label = f"{highest:,}" if row == height - 1 else "0" if row == 0 else ""
        lines.append(f"{label:>9} ┤{bars}".rstrip())
    return lines


def plot_lines(values: Values, width: int, height: int, label: Callable[[float], str]) -> list[str]:
    """Return `height` + 1 lines: a curve of the last values, with an axis from 0 to the largest of them."""
    numbers = [value or 0.0 for value in values]
    top = max([*numbers[-width:], 0.0]) or 1.0
    labels = [label(top * row / height) for row in range(height, -1, -1)]
    margin = max(map(len, labels))
    space = max(width - margin - 3, 1)
    levels = [round(value / top * height) for value in numbers[-space - 1 :]]
    grid = [[" "] * space for _ in range(height + 1)]
    offset = space - max(len(levels) - 1, 0)
    for index, (left, right) in enumerate(pairwise(levels)):
        column = offset + index
        if left == right:
            grid[height - left][column] = "─"
            continue
        up = right > left
        grid[height - right][column] = "╭" if up else "╰"
        grid[height - left][column] = "╯" if up else "╮"
        for level in range(min(left, right) + 1, max(left, right)):
            grid[height - level][column] = "│"
    return [f" {text:>{margin}} ┤{''.join(cells)}".rstrip() for text, cells in zip(labels, grid, strict=True)]


def squeeze(values: Values, width: int) -> Values:
    """Return at most `width` values: the largest of each stretch, so that peaks stay visible."""
    if len(values) <= width:
        return values
    squeezed: list[float | None] = []
    for index in range(width):
        stretch = values[index * len(values) // width : (index + 1) * len(values) // width]
        known_values = [value for value in stretch if value is not None]
        squeezed.append(max(known_values) if known_values else None)
    return squeezed
