"""Info pages: labels aligned to the right, sections with titles, laid out as by the `nats` tool."""

from collections.abc import Iterator

from jsctl.render.fit import fold, measure_longest_word
from jsctl.render.style import paint
from jsctl.render.text import clean, clean_lines, show
from jsctl.views.result import Cell, Field, InfoPage

_INDENT = "    "  #: before a value that has no room beside its label


def format_info_page(
    info_page: InfoPage, scheme: str = "", color: bool = False, width: int | None = None
) -> Iterator[str]:
    """Yield the lines of the info page. width: columns of the terminal, in which values are folded between
    words; None for no limit."""
    colon = paint(":", scheme) if color and scheme else ":"
    labels = [len(f.label) for section in info_page.sections for f in section.fields]
    longest = max(labels, default=0) + 2
    if info_page.heading:
        yield from _fold(clean(info_page.heading), width)
        yield ""
    first = True
    for section in info_page.sections:
        if not section.fields:
            continue
        if not first:
            yield ""
        first = False
        if section.title:
            *ahead, last = _fold(clean(section.title), width and width - 1)
            yield from ahead
            yield last + colon
            yield ""
        for field in section.fields:
            yield from _format_field(field, longest, colon, color, width)


def _format_field(field: Field, longest: int, colon: str, color: bool, width: int | None) -> Iterator[str]:
    indent = " " * (longest + 2)
    values, begins_below = _fit(format_values(field), width, len(indent))
    if begins_below:
        indent = _INDENT
    if color and isinstance(field.value, Cell) and field.value.style:
        values = [paint(value, field.value.style) for value in values]
    if begins_below:
        values.insert(0, "")
    if field.label:
        yield f"{clean(field.label):>{longest}}{colon} {values[0]}".rstrip()
    else:
        yield indent + values[0]
    for value in values[1:]:
        yield indent + value


def format_values(field: Field) -> list[str]:
    """Return the lines of a field's value."""
    if isinstance(field.value, (list, tuple)) and not isinstance(field.value, Cell):
        return [show(item, field.kind) for item in field.value] or [""]
    if isinstance(field.value, str) and "\n" in field.value:
        return clean_lines(field.value).splitlines()
    return [show(field.value, field.kind)]


def _fit(values: list[str], width: int | None, indent: int) -> tuple[list[str], bool]:
    """Return the lines of a value, and whether they begin below the label for lack of room beside it."""
    if not width or all(indent + len(value) <= width for value in values):
        return values, False
    begins_below = any(measure_longest_word(value) > width - indent for value in values)
    space = width - (len(_INDENT) if begins_below else indent)
    return [line for value in values for line in fold(value, space)], begins_below


def _fold(text: str, width: int | None) -> Iterator[str]:
    return fold(text, width) if width else iter((text,))
