"""`jsctl errors` and its commands."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from jsctl.base.files import naming_write_errors, write_atomically
from jsctl.base.json_text import parse_json
from jsctl.base.units import pluralize
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import GroupOption, argument, command, option
from jsctl.commands.editing.editor import edit_text
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream import error_catalog
from jsctl.jetstream.error_catalog import Code
from jsctl.jetstream.error_hints import find_hint
from jsctl.views.result import Column, Field, InfoPage, Part, Result, Section, Table, Text

COLUMNS = (
    Column("NATS Code", "error_code", "number"),
    Column("HTTP Error Code", "code", "number"),
    Column("Description", "description", "prose"),
    Column("Comment", "comment", "prose", hideable=1),
    Column("Go Constant", "constant", hideable=2),
)


def show_list(entries: Sequence[Code]) -> Result:
    """Show errors in a table; the JSON document has all fields."""
    rows = [[entry.get(column.key, "") for column in COLUMNS] for entry in entries]
    return Result([Table("NATS Errors", COLUMNS, rows)], data=list(entries))


def show_details(entry: Code, hint: str) -> Result:
    """Show one error. hint: what jsctl advises."""
    fields = [
        Field(label, entry[key])
        for label, key in (
            ("Description", "description"),
            ("Comment", "comment"),
            ("HTTP Code", "code"),
            ("Go Index Constant", "constant"),
            ("Help URL", "url"),
        )
        if entry.get(key)
    ]
    help = "\n".join(filter(None, (str(entry.get("help") or ""), hint)))
    heading = f"NATS Error Code: {entry['error_code']}"
    parts: list[Part] = [
        InfoPage(heading, [Section("", fields)]),
        Text(help or "No further information available"),
    ]
    return Result(parts, data={**entry, "hint": hint} if hint else entry)


if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def complete_codes(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Return the API error codes that begin with the incomplete word, each with its description: the
    server's, or those of the file on the command line.
    """
    from click.shell_completion import CompletionItem

    path = ctx.params.get("file") or ctx.obj.flags.get("errors_file", "")
    try:
        entries = error_catalog.load(path)
    except JsctlError:
        return []
    codes = {str(entry["error_code"]): str(entry["description"]) for entry in entries}
    return [
        CompletionItem(code, help=text) for code, text in sorted(codes.items()) if code.startswith(incomplete)
    ]


@command("errors", examples=["jsctl errors ls", "jsctl errors lookup 10059"])
def errors(env: Env) -> None: ...


errors.params.append(
    GroupOption("--errors", "errors_file", metavar="FILE", help="Use the errors of this file")
)


@command("lookup", examples=["jsctl errors lookup 10059"])
@argument("code", type=int, shell_complete=complete_codes)
def lookup(env: Env, code: int) -> Result:
    entry = error_catalog.find_error(error_catalog.load(env.flags.get("errors_file", "")), code)
    return show_details(entry, find_hint(code))


@command("ls", columns=COLUMNS, examples=["jsctl errors ls", "jsctl errors ls consumer http --reverse"])
@argument("match", default="")
@argument("sort", default="code")
@option("--reverse/--no-reverse", "-R", default=False, help="Sort in the opposite order")
def ls(env: Env, match: str, sort: str, reverse: bool) -> Result:
    """Show the errors of which a field matches the regular expression MATCH; SORT is code, http or
    description.
    """
    if sort not in error_catalog.SORTS:
        raise BadInput(f"unknown sort order {sort!r}", "use code, http or description")
    entries = error_catalog.load(env.flags.get("errors_file", ""))
    if match:
        entries = error_catalog.find_matching(entries, match)
    return show_list(sorted(entries, key=error_catalog.SORTS[sort], reverse=reverse))


@command("edit", examples=["jsctl errors edit errors.json 10059", "jsctl errors edit errors.json"])
@argument("file", label="File of errors", path=True)
@argument("code", type=int, default=0, shell_complete=complete_codes)
async def edit(env: Env, file: str, code: int) -> Result:
    """Add an error for an unknown CODE; without CODE, use the next free code."""
    entries = error_catalog.read(file)
    index = next((n for n, entry in enumerate(entries) if entry["error_code"] == code), None)
    highest = max((int(entry["error_code"]) for entry in entries), default=9999)
    initial = (
        entries[index] if index is not None else {**error_catalog.EMPTY, "error_code": code or highest + 1}
    )
    text = json.dumps(initial, indent=2, ensure_ascii=False) + "\n"
    edited = await edit_text(env, text, "error.json", _parse_edited)
    if edited is None:
        env.inform(f"{file} was not changed")
        return Result(data={"file": file, "errors": len(entries)})
    if index is None:
        entries.append(edited)
    else:
        entries[index] = edited
    path = expand_home(file)
    with naming_write_errors(path):
        write_atomically(path, json.dumps(entries, indent=2, ensure_ascii=False) + "\n", mode=None)
    return check(env, file)


async def _parse_edited(text: str) -> Code:
    """Parse an edited error. Raises ValueError, BadInput."""
    entry = parse_json(text)
    if not isinstance(entry, dict):
        raise ValueError("it is not a JSON object")
    if problems := error_catalog.find_problems(entry):
        raise BadInput("; ".join(problems))
    return entry


@command("validate", examples=["jsctl errors validate errors.json"])
@argument("file", default="")
def validate(env: Env, file: str) -> Result:
    path = file or env.flags.get("errors_file", "")
    if not path:
        raise BadInput("the name of the file is missing", "specify FILE or --errors FILE")
    return check(env, path)


def check(env: Env, path: str) -> Result:
    """Check a file and report every problem on stderr. Raises JsctlError when there is one."""
    entries = error_catalog.read(path)
    problems = {entry["error_code"]: error_catalog.find_problems(entry) for entry in entries}
    for number in error_catalog.find_duplicates(entries):
        problems[number].append("the code occurs more than once")
    invalid = {number: reasons for number, reasons in problems.items() if reasons}
    for number, reasons in invalid.items():
        env.say(f"{number} failed: {'; '.join(reasons)}")
    if invalid:
        raise JsctlError(f"{path} is not valid: {len(invalid)} of {len(entries)} errors are wrong")
    return Result(
        [Text(f"Validated {pluralize(len(entries), 'error')}")], data={"file": path, "errors": len(entries)}
    )
