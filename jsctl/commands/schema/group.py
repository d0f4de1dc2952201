"""`jsctl schema` and its commands."""

import json
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from jsctl.base.command_lines import build_line
from jsctl.base.files import CONFIG_SIZE, read_input
from jsctl.base.json_text import parse_json
from jsctl.base.yaml_text import format_yaml
from jsctl.commands.cli import argument, command, option
from jsctl.commands.options.body import find_body, find_stdin
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus, JsctlError
from jsctl.jetstream.message.stdin import STDIN
from jsctl.nats.subjects import validate_subject
from jsctl.schema import catalog
from jsctl.schema.validator import find_errors
from jsctl.views.result import Lines, Result, Text


def show_list(names: Sequence[str], pattern: str) -> Result:
    """Show the names of schemas."""
    if not names:
        return Result([Text(f"No schemas matched {pattern!r}")], data=[])
    return Result([Text("\n".join(names), whole=True)], data=list(names))


def show_document(schema: dict[str, Any], *, as_yaml: bool) -> Result:
    """Show a schema."""
    if not as_yaml:
        return Result([Text(_format_json(schema), whole=True)], data=schema)
    return Result([Text(format_yaml(schema).rstrip(), whole=True)], data=schema)


def _format_json(document: Any) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False)


def show_validated(label: str, schema: str, errors: Iterable[str]) -> Result:
    """Show whether a file is valid; the document is the list of what is wrong. Errors are written as they are
    found: there may be a million."""
    sentences = iter(errors)
    first = next(sentences, None)
    if first is None:
        return Result([Lines([f"{label} is a valid {schema}"])], data=[])
    every = chain([first], sentences)
    lines = chain([f"{label} is not a valid {schema}:", ""], (f"  {error}" for error in every))
    return Result([Lines(lines)], data=every, status=ExitStatus.FAILURE)


def show_reply(schema: str, errors: Iterable[str], response: Any, *, show: bool) -> Result:
    """Show whether a reply is valid. show: with the reply itself."""
    result = show_validated("The response", schema, errors)
    parts = [*([Text(_format_json(response), whole=True)] if show else []), *result.parts]
    data = {"schema": schema, "valid": not result.status, "errors": result.data, "response": response}
    return Result(parts, data=data, status=result.status)


@command("search", examples=["jsctl schema search", "jsctl schema search 'stream.*request'"])
@argument("pattern", default=".")
def search(env: Env, pattern: str) -> Result:
    """Show the names that match PATTERN, a regular expression; upper and lower case are the same."""
    return show_list(catalog.search(pattern), pattern)


@command(
    "info",
    examples=["jsctl schema info stream_info_response", "jsctl schema info consumer_configuration --yaml"],
)
@argument("schema")
@option("--yaml", is_flag=True, help="Show it as YAML")
def info(env: Env, schema: str, yaml: bool) -> Result:
    """Look it up by its name, or by the last part of the name. Schemas are JSON schemas, draft 7."""
    document = catalog.load_schema(catalog.resolve(schema))
    return show_document(document, as_yaml=yaml)


@command(
    "validate",
    examples=[
        "jsctl schema validate stream_configuration orders.json",
        "jsctl stream info ORDERS --json | jsctl schema validate stream_info_response",
    ],
)
@argument("schema")
@argument("file", metavar="[FILE]", label="JSON file to validate", path=True, or_stdin=True)
async def validate(env: Env, schema: str, file: str | None) -> Result:
    """Read JSON from FILE or, without it or with -, from stdin. If the document is not valid, the exit status
    is 1, with one error per line.
    """
    name = catalog.resolve(schema)
    if file is None or file == STDIN:
        stdin = find_stdin(env, "the document", forced=file is not None)
        document: bytes | str = await stdin.read_all(CONFIG_SIZE)
        file = STDIN
    else:
        document = read_input(file, env.streams.stdin)
    try:
        parsed = parse_json(document)
    except ValueError as error:
        raise BadInput(f"{file} is not JSON", str(error)) from None
    return show_validated(file, name, find_errors(parsed, catalog.load_schema(name)))


@command(
    "request",
    examples=[
        "jsctl schema request '$JS.API.STREAM.INFO.ORDERS'",
        "jsctl schema request '$SRV.PING' --schema io.nats.micro.v1.ping_response --show",
    ],
)
@argument("subject")
@argument("body", required=False)
@option(
    "--schema",
    noun="schema",
    metavar="SCHEMA",
    default="",
    help="Validate against this, not the reply's type",
)
@option("--show", is_flag=True, help="Show the reply, too")
async def request(env: Env, subject: str, body: str | None, schema: str, show: bool) -> Result:
    """Send BODY or, without it, stdin; {} if that is empty or a terminal. If the reply is not valid, the exit
    status is 1.
    """
    name = catalog.resolve(schema) if schema else ""
    payload = find_body(env, "{}" if body is None and env.streams.stdin.isatty() else body)
    data = payload if isinstance(payload, bytes) else await payload.read_all() or b"{}"
    connection = await env.connection()
    reply = await connection.request(validate_subject(subject), data)
    try:
        response = parse_json(reply.data)
    except ValueError as error:
        raise JsctlError(
            f"the reply on {subject} is not JSON: {error}", f"{build_line('request')} shows it"
        ) from None
    if not name:
        kind = response.get("type") if isinstance(response, dict) else None
        if not isinstance(kind, str):
            raise JsctlError("the reply does not name its type", "name a schema with --schema")
        name = catalog.resolve(kind)
    return show_reply(name, find_errors(response, catalog.load_schema(name)), response, show=show)
