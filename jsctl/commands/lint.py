"""`jsctl lint`."""

import difflib

import click

from jsctl.base.files import read_input
from jsctl.commands.cli import argument, command, option
from jsctl.commands.compatibility.differences import DIFFERENCES
from jsctl.commands.compatibility.scripts import check
from jsctl.env import Env
from jsctl.errors import ExitStatus
from jsctl.views.result import Column, Result, Table, Text

COLUMNS = (
    Column("File", "file"),
    Column("Line", "line", "count"),
    Column("Code", "code"),
    Column("Found", "text"),
    Column("Write", "write"),
)


@command(
    "lint",
    examples=["jsctl lint nightly.sh", "jsctl lint nightly.sh --format diff", "jsctl lint - < nightly.sh"],
)
@argument("scripts", nargs=-1, required=True, metavar="FILE...")
@option(
    "--format",
    "layout",
    type=click.Choice(["list", "diff"]),
    default="list",
    help="List the lines, or show what to change as a diff",
)
def lint(env: Env, scripts: tuple[str, ...], layout: str) -> Result:
    """Look for lines that call nats and have another outcome with jsctl on purpose: by their status, their
    output, or what they refuse. Each has a code, and the line to write for the outcome of nats.

    In files of YAML, such as those of CI, it reads what is run, and in Dockerfiles and units of systemd as
    well.

    A comment `# jsctl disable=CODE` on the line or above it leaves a code out. - is stdin. The exit status
    is 0 if nothing is found, and 1 otherwise. jsctl compat runs a line as nats would.
    """
    rows: list[tuple[str, int, str, str, str]] = []
    patches: list[str] = []
    for path in scripts:
        script = read_input(path, env.streams.stdin)
        found, changed = check(script, path)
        rows += [(path, *one) for one in found]
        before, after = script.splitlines(keepends=True), changed.splitlines(keepends=True)
        patches += difflib.unified_diff(before, after, f"a/{path}", f"b/{path}")
    status = ExitStatus.FAILURE if rows else ExitStatus.OK
    keys = [column.key for column in COLUMNS]
    data = [
        {**dict(zip(keys, row, strict=True)), "nats": one.nats, "ours": one.ours}
        for row in rows
        if (one := DIFFERENCES[row[2]])
    ]
    if layout == "diff":
        text = "".join(patches).rstrip("\n")
    else:
        text = "\n".join(
            f"{path}:{line}: {code}: nats: {DIFFERENCES[code].nats}; jsctl: {DIFFERENCES[code].ours}\n"
            f"  - {found_text}\n  + {write}"
            for path, line, code, found_text, write in rows
        )
    table = Table("Lines with another outcome", COLUMNS, rows)
    return Result([Text(text, whole=True)] if text else [], data=data, status=status, table=table)
