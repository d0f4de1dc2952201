"""Schemas, and what is wrong with documents."""

import json
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from jsctl.errors import ExitStatus
from jsctl.views.result import Lines, Result, Text


def listing(names: Sequence[str], pattern: str) -> Result:
    """Show the names of schemas."""
    if not names:
        return Result([Text(f"No schemas matched {pattern!r}")], data=[])
    return Result([Text("\n".join(names), whole=True)], data=list(names))


def document(schema: dict[str, Any], *, as_yaml: bool) -> Result:
    """Show a schema."""
    if not as_yaml:
        return Result([Text(_format_json(schema), whole=True)], data=schema)
    import yaml

    text = yaml.safe_dump(schema, sort_keys=False, allow_unicode=True).rstrip()
    return Result([Text(text, whole=True)], data=schema)


def _format_json(document: Any) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False)


def validated(label: str, schema: str, errors: Iterable[str]) -> Result:
    """Show whether a file is valid; the document is the list of what is wrong. Errors are written as they are
    found: there may be a million."""
    sentences = iter(errors)
    first = next(sentences, None)
    if first is None:
        return Result([Lines([f"{label} is a valid {schema}"])], data=[])
    every = chain([first], sentences)
    lines = chain([f"{label} is not a valid {schema}:", ""], (f"  {error}" for error in every))
    return Result([Lines(lines)], data=every, status=ExitStatus.FAILURE)


def reply(schema: str, errors: Iterable[str], response: Any, *, show: bool) -> Result:
    """Show whether a reply is valid. show: with the reply itself."""
    result = validated("The response", schema, errors)
    parts = [*([Text(_format_json(response), whole=True)] if show else []), *result.parts]
    data = {"schema": schema, "valid": not result.status, "errors": result.data, "response": response}
    return Result(parts, data=data, status=result.status)
