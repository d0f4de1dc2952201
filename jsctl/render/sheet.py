"""Info sheets: right-aligned labels, sections with titles, as the `nats` tool lays them out."""

from collections.abc import Iterator

from jsctl.render.style import paint
from jsctl.render.text import clean, clean_lines, show
from jsctl.views.result import Cell, Field, Sheet


def lines(sheet: Sheet, scheme: str = "", color: bool = False) -> Iterator[str]:
    """Yield the lines of the sheet."""
    colon = paint(":", scheme) if color and scheme else ":"
    labels = [len(f.label) for section in sheet.sections for f in section.fields]
    longest = max(labels, default=0) + 2
    if sheet.heading:
        yield clean(sheet.heading)
        yield ""
    first = True
    for section in sheet.sections:
        if not section.fields:
            continue
        if not first:
            yield ""
        first = False
        if section.title:
            yield clean(section.title) + colon
            yield ""
        for field in section.fields:
            yield from _field(field, longest, colon, color)


def _field(field: Field, longest: int, colon: str, color: bool) -> Iterator[str]:
    indent = " " * (longest + 2)
    if isinstance(field.value, (list, tuple)) and not isinstance(field.value, Cell):
        values = [show(item, field.kind) for item in field.value] or [""]
    elif isinstance(field.value, str) and "\n" in field.value:
        values = clean_lines(field.value).splitlines()
    else:
        values = [show(field.value, field.kind)]
    if color and isinstance(field.value, Cell) and field.value.style:
        values = [paint(value, field.value.style) for value in values]
    if field.label:
        yield f"{clean(field.label):>{longest}}{colon} {values[0]}".rstrip()
    else:
        yield indent + values[0]
    for value in values[1:]:
        yield indent + value
