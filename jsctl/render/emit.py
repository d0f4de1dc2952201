"""Writing a Result to an output stream: as tables, plain text, Markdown, JSON, CSV or TSV."""

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Literal, TextIO

from jsctl.base.json_text import encode_json, parse_json
from jsctl.base.yaml_text import format_yaml
from jsctl.render.style import paint
from jsctl.render.text import clean, clean_json, clean_lines
from jsctl.views.result import Cell, Chart, InfoPage, Lines, Markdown, Result, Table, Text

Form = Literal["table", "plain", "markdown", "json", "yaml", "csv", "tsv"]
_FLAT_TYPES = frozenset((str, int, float, bool, type(None), list))
_FLAT_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",\n    ", ": "))
_BATCH = 256  #: items of a long list that are encoded at once


def emit(
    result: Result,
    out: TextIO,
    form: Form,
    *,
    width: int | None = None,
    scheme: str = "",
    color: bool = False,
    safe: bool = False,
    heading_written: bool = False,
) -> list[str]:
    """Write `result`. Returns the titles of tables that were left out, as CSV and TSV hold only one.

    safe, heading_written: for CSV and TSV, see `Delimiters`. Raises BadInput for these when the result has no
    data.
    """
    if form == "json":
        for piece in format_json_pieces(result.document()):
            out.write(piece)
        out.write("\n")
    elif form == "yaml":
        out.write("---\n")  # a document of several, as with --watch
        out.write(format_yaml(parse_json("".join(format_json_pieces(result.document())))))
    elif form in ("csv", "tsv"):
        from jsctl.render import delimited
        from jsctl.render.delimited import Delimiters

        delimiters = Delimiters("," if form == "csv" else "\t", safe=safe, heading_written=heading_written)
        return delimited.write(result, out, delimiters)
    else:
        lines = format_lines(result, form, width=width, scheme=scheme, color=color)
        while batch := list(islice(lines, _BATCH)):  # a write for each line would take as long as the table
            out.write("\n".join(batch) + "\n")
    return []


def format_json(document: Any) -> str:
    """Return a value as one JSON document that is safe for a terminal."""
    return clean_json(encode_json(document, indent=2, default=simplify_value))


def format_json_items(items: Sequence[Any], *, first: bool) -> str:
    """Return some items of an array: the first ones with the opening bracket, others with a leading comma.

    The caller writes the closing bracket.
    """
    if not all(map(_is_flat, items)):
        return ("[" if first else ",") + format_json(items)[1:-2]
    # json with an indent is written in Python, and takes five times as long. Line ends in texts are escaped,
    # so those here come from the encoder.
    text = _FLAT_ENCODER.encode(items)[2:-2].replace("},\n    {", "\n  },\n  {\n    ")
    return clean_json(("[" if first else ",") + "\n  {\n    " + text + "\n  }")


def _is_flat(item: Any) -> bool:
    """Return whether an item is an object without nested values but empty lists."""
    if type(item) is not dict or not item:
        return False
    types = set(map(type, item.values()))
    return types <= _FLAT_TYPES and (list not in types or [*filter(_is_filled_list, item.values())] == [])


def _is_filled_list(value: Any) -> bool:
    return type(value) is list and bool(value)


def format_json_pieces(document: Any, newline: str = "\n") -> Iterator[str]:
    """Yield the text of `format_json` in pieces: items of iterators and long lists are encoded as they are
    written.
    """
    if _is_long(document):
        document = iter(document)
    if isinstance(document, Iterator):
        first = True
        while batch := list(islice(document, _BATCH)):
            yield format_json_items(batch, first=first).replace("\n", newline)
            first = False
        yield "[]" if first else newline + "]"
    elif not _is_lazy(document):
        yield format_json(document).replace("\n", newline)
    else:
        is_object = isinstance(document, dict)
        before, end = "{}" if is_object else "[]"
        for item in document.items() if is_object else document:
            key, value = item if is_object else ("", item)
            yield before + newline + "  " + (format_json(key) + ": " if is_object else "")
            yield from format_json_pieces(value, newline + "  ")
            before = ","
        yield newline + end


def _is_lazy(document: Any) -> bool:
    """Return whether a document contains an iterator or a long list."""
    if isinstance(document, dict):
        return any(map(_is_lazy, document.values()))
    if isinstance(document, list) and not _is_long(document):
        return any(map(_is_lazy, document))
    return isinstance(document, (Iterator, list))


def _is_long(document: Any) -> bool:
    return isinstance(document, list) and len(document) > _BATCH


def format_lines(
    result: Result, form: Form, *, width: int | None = None, scheme: str = "", color: bool = False
) -> Iterator[str]:
    """Yield the lines of a form for people, with an empty line between parts.

    form: "table" draws tables in boxes. width: columns of the terminal; None for no limit.
    """
    for index, part in enumerate(result.parts):
        if index:
            yield ""
        match part:
            case Table() if part.empty and not part.rows:
                yield _fold(clean_lines(part.empty), width)
            case Table():
                yield from _format_table(part.without_blanks(), form, width, scheme, color)
            case InfoPage() if form == "markdown":
                from jsctl.render import markdown_form

                yield from markdown_form.format_info_page(part)
            case InfoPage():
                from jsctl.render import info_page

                yield from info_page.format_info_page(part, scheme, color, width)
            case Chart():
                from jsctl.render.plot import draw_chart

                yield from map(clean_lines, draw_chart(part, width or 100))
            case Text():
                fitted = _cut if part.drawn else _fold
                text = fitted(clean_lines(part.text), None if part.whole else width)
                yield paint(text, part.style) if color and part.style else text
            case Markdown():
                if form != "table":
                    yield part.text.strip("\n")
                    continue
                from jsctl.render.markdown import format_markdown

                yield format_markdown(part.text, width or 100, color=color)
            case Lines():
                for line in part.lines:
                    text = _fold(clean(line), None if part.whole else width)
                    yield paint(text, part.style) if color and part.style else text


def _format_table(part: Table, form: Form, width: int | None, scheme: str, color: bool) -> Iterator[str]:
    if form == "markdown":
        from jsctl.render import markdown_form

        return markdown_form.format_table(part)
    from jsctl.render import table

    return table.format_boxed(part, width, scheme, color) if form == "table" else table.format_plain(part)


def _fold(text: str, width: int | None) -> str:
    if not width or len(text) <= width // 2:
        return text
    from jsctl.render.fit import fold_lines

    return fold_lines(text, width)


def _cut(text: str, width: int | None) -> str:
    if not width:
        return text
    from jsctl.render.fit import cut

    return "\n".join(cut(line, width) for line in text.split("\n"))


def simplify_value(value: Any) -> Any:
    """Return the JSON form of a value of a type that json does not know. Raises TypeError."""
    if isinstance(value, Cell):
        return value.raw
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, Iterator):
        return list(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
