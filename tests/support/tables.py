"""Tables as they are shown, and as data, by the titles of their columns."""

import re
from typing import Any

from jsctl.render.text import measure
from jsctl.views.result import Table

_COLOR = re.compile(r"\x1b\[[\d;]*m")


def read_table(shown: str, title: str = "") -> list[dict[str, str]]:
    """Return the rows of a shown table, on a terminal or in a pipe, also its footer as the last one.

    title: how the title begins; empty for the first table.
    """
    lines = _COLOR.sub("", shown).splitlines()
    first = next(at for at, line in enumerate(lines) if line.strip("╭─╮│ ").startswith(title))
    head, *rows = _split_box(lines[first:]) if "│" in shown else _split_columns(lines[first:])
    return [dict(zip(head, row, strict=True)) for row in rows]


def _split_box(lines: list[str]) -> list[list[str]]:
    end = next(at for at, line in enumerate(lines) if line.startswith("╰"))
    rows = [[cell.strip() for cell in line[1:-1].split("│")] for line in lines[:end] if line.startswith("│")]
    return rows[1:] if len(rows[0]) == 1 else rows  # below the title


def _split_columns(lines: list[str]) -> list[list[str]]:
    """Return the cells of lines up to an empty one: columns are apart by two blanks in each line."""
    block = lines[: lines.index("")] if "" in lines else lines
    block = block if "  " in block[0] else block[1:]  # below the title
    width = max(map(len, block))
    blank = "".join("01"[all(line[at : at + 1] in ("", " ") for line in block)] for at in range(width))
    edges = [0, *(at for gap in re.finditer("11+", blank) for at in gap.span()), width]
    columns = list(zip(edges[::2], edges[1::2], strict=True))
    return [[line[start:end].strip() for start, end in columns] for line in block]


def find_wide(shown: str, width: int) -> list[str]:
    """Return the lines that are wider than a terminal, whatever their colors."""
    return [line for line in _COLOR.sub("", shown).splitlines() if measure(line) > width]


def list_cells(table: Table) -> list[dict[str, Any]]:
    """Return the rows of a table that is not shown yet: its cells, or raw values."""
    titles = [column.title for column in table.columns]
    return [dict(zip(titles, row, strict=True)) for row in table.rows]
