"""Charts and tables as one self-contained HTML page, without scripts, fonts and external addresses."""

from collections.abc import Sequence
from datetime import timedelta
from html import escape
from typing import Any

from jsctl.render.plot import Values, squeeze
from jsctl.render.text import clean, show
from jsctl.views.report.history import Series
from jsctl.views.result import Cell, Column, Table

_SHORT = timedelta(hours=1)
"""The time of a chart below which the seconds of its ends are shown."""

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --soft: #667085; --line: #d8dde5; --paper: #fff;
  --card: #f6f8fa; --mark: #2563b0; --fill: #2563b022; --warn: #9a5b00; --bad: #b42318; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #98a2b3; --line: #333b47;
  --paper: #14181f; --card: #1c222b; --mark: #6ea8fe; --fill: #6ea8fe22; --warn: #f0b45a; --bad: #ff8a80; } }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 1rem; max-width: 80rem; background: var(--paper); color: var(--ink);
  font: 15px/1.45 system-ui, sans-serif }
h1 { font-size: 1.4rem; margin: .2rem 0 } h2 { font-size: 1.1rem; margin: 1.6rem 0 .5rem }
p { color: var(--soft); margin: .2rem 0 1rem; overflow-wrap: anywhere }
.charts { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)) }
figure { margin: 0; padding: .8rem; background: var(--card); border: 1px solid var(--line);
  border-radius: .5rem }
figcaption { display: flex; justify-content: space-between; gap: 1rem; font-weight: 600 }
figcaption span, .ends { color: var(--soft); font-weight: 400; white-space: nowrap }
.ends { display: flex; justify-content: space-between; font-size: .8rem }
svg { display: block; width: 100%; height: 6rem } td svg { width: 7rem; height: 1.4rem }
polyline { fill: none; stroke: var(--mark); stroke-width: 1.5; vector-effect: non-scaling-stroke }
polyline.dot { stroke-width: 4; stroke-linecap: round }
polygon { fill: var(--fill) }
.wide { overflow-x: auto; border: 1px solid var(--line); border-radius: .5rem }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { padding: .35rem .6rem; text-align: left; white-space: nowrap; border-bottom: 1px solid var(--line) }
th { background: var(--card); font-weight: 600 } tr:last-child td { border-bottom: 0 }
td { vertical-align: top } .number { text-align: right }
.prose { white-space: normal; min-width: 11rem; overflow-wrap: anywhere }
.warn { color: var(--warn) } .bad { color: var(--bad) }
@media print { tr, figure { break-inside: avoid } }
@media (max-width: 40rem), print {
  thead, td:empty { display: none } tr { display: block; padding: .5rem .6rem }
  td, tr:last-child td { display: flex; gap: .8rem; padding: .1rem 0; border: 0; white-space: normal;
    overflow-wrap: anywhere; text-align: left }
  tr + tr { border-top: 1px solid var(--line) }
  td::before { content: attr(data-title); flex: 0 0 6rem; color: var(--soft) }
}
"""


def build_page(title: str, note: str, charts: Sequence[Series], tables: Sequence[Table]) -> str:
    """Return the HTML document. All text in it is escaped."""
    figures = "\n".join(map(_build_figure, charts))
    body = "\n".join(map(_build_table, tables))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{_escape(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>{_escape(title)}</h1>
<p>{_escape(note)}</p>
<div class="charts">
{figures}
</div>
{body}
</body>
</html>
"""


def _escape(value: str) -> str:
    return escape(clean(value))


def _build_figure(chart: Series) -> str:
    known_values = [value for value in chart.values if value is not None]
    maximum, last = show(round(max(known_values)), chart.kind), show(round(known_values[-1]), chart.kind)
    form = "%Y-%m-%d %H:%M" + ":%S" * (chart.times[-1] - chart.times[0] < _SHORT)
    first, end = (at.strftime(form) for at in (chart.times[0], chart.times[-1]))
    numbers = f"<span>{_escape(last)}, at most {_escape(maximum)}</span>"
    return (
        f"<figure><figcaption>{_escape(chart.title)}{numbers}</figcaption>"
        f"{_draw_svg(chart.values, chart.title, 300, 90)}"
        f'<div class="ends"><span>{first}</span><span>{end} UTC</span></div></figure>'
    )


def _draw_svg(values: Values, label: str, width: int, height: int) -> str:
    """Return a curve as SVG, with gaps for unknown values; a single value is a dot."""
    squeezed = squeeze(values, 200)
    known_values = [value for value in squeezed if value is not None]
    if not known_values:
        return ""
    lowest, highest = min(0.0, *known_values), max(known_values)
    span = (highest - lowest) or 1.0
    step = width / max(1, len(squeezed) - 1)
    runs: list[list[tuple[float, float]]] = [[]]
    for index, value in enumerate(squeezed):
        if value is None:
            runs.append([])
        else:
            runs[-1].append((index * step, height - 2 - (value - lowest) / span * (height - 4)))
    parts = []
    for run in filter(None, runs):
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in run)
        if len(run) == 1:
            # Not a circle, which would be drawn as wide as the chart is.
            parts.append(f'<polyline class="dot" points="{points} {points}"/>')
            continue
        parts.append(f'<polygon points="{run[0][0]:.1f},{height} {points} {run[-1][0]:.1f},{height}"/>')
        parts.append(f'<polyline points="{points}"/>')
    return (
        f'<svg viewBox="0 0 {width} {height}" preserveAspectRatio="none" role="img"'
        f' aria-label="{_escape(label)}">{"".join(parts)}</svg>'
    )


def _build_table(table: Table) -> str:
    heads = "".join(f"<th{_format_class(column)}>{_escape(column.title)}</th>" for column in table.columns)
    rows = "\n".join(
        "<tr>"
        + "".join(_build_cell(value, column) for value, column in zip(row, table.columns, strict=True))
        + "</tr>"
        for row in table.rows
    )
    return (
        f'<h2>{_escape(table.title)}</h2>\n<div class="wide"><table>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>"
    )


def _format_class(column: Column, style: str = "") -> str:
    name = {"text": "", "time": "", "url": "", "prose": "prose"}.get(column.kind, "number")
    names = " ".join(filter(None, (name, style)))
    return f' class="{names}"' if names else ""


def _build_cell(value: Any, column: Column) -> str:
    title = f' data-title="{_escape(column.title)}"'
    if isinstance(value, Cell) and isinstance(value.raw, list):  # how a number went
        return f"<td{title}>{_draw_svg(value.raw, column.title, 100, 24)}</td>"
    lines = value if isinstance(value, list) else [value]
    style = value.style if isinstance(value, Cell) else ""
    text = "<br>".join(escape(show(line, column.kind)) for line in lines)
    return f"<td{_format_class(column, style)}{title}>{f'<div>{text}</div>' if text else ''}</td>"
