"""Tables and info pages as Markdown, for language models, in the form of the `nats` tool."""

from collections.abc import Iterator, Sequence

from jsctl.render.info_page import format_values
from jsctl.render.table import format_cells
from jsctl.render.text import clean
from jsctl.views.result import InfoPage, Table


def format_table(table: Table) -> Iterator[str]:
    """Yield the lines of a table, its footer as the last row."""
    if table.title:
        yield f"# {clean(table.title)}"
    rows, foot = format_cells(table)
    yield _join(clean(column.title) for column in table.columns)
    yield _join("---" for _ in table.columns)
    yield from map(_join, [*rows, *([foot] if foot else [])])


def format_info_page(info_page: InfoPage) -> Iterator[str]:
    """Yield the lines of an info page: a list for each section."""
    if info_page.heading:
        yield f"# {clean(info_page.heading)}"
    for section in info_page.sections:
        if not section.fields:
            continue
        yield ""
        if section.title:
            yield from (f"## {clean(section.title)}", "")
        for field in section.fields:
            value = ", ".join(format_values(field))
            yield f"- **{clean(field.label)}:** {value}" if field.label else f"- {value}"


def _join(cells: "Iterator[str] | Sequence[str]") -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
