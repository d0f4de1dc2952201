"""`jsctl import`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from jsctl.base.units import SECOND, format_bytes, join_some, pluralize
from jsctl.commands.cli import argument, command, option
from jsctl.commands.export.options import SparkOptions, spark_options
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.nats import login
from jsctl.nats.subjects import validate_subject
from jsctl.spark.importing.rows import FORMATS, ImportOptions, find_files
from jsctl.spark.importing.run import ImportRun
from jsctl.spark.session.folders import parse_place
from jsctl.spark.sink.publishing import WriteJob
from jsctl.views.result import Result, Text


def _show_imported(stream: str, published: int, duplicates: int, size: int, duration: int) -> Result:
    """Show the result of `jsctl import`. size: bytes of payload. duration: ns."""
    dropped = f", {pluralize(duplicates, 'duplicate')} dropped" if duplicates else ", no duplicates"
    sentence = f"published {pluralize(published, 'message')} ({format_bytes(size)}) to {stream}"
    text = f"{sentence}{dropped}, in {duration / SECOND:.1f}s"
    seconds = round(duration / SECOND, 3)
    data = {
        "stream": stream,
        "published": published,
        "duplicates": duplicates,
        "bytes": size,
        "seconds": seconds,
    }
    return Result([Text(text)], data)


def _show_preview(stream: str, messages: int, size: int, subjects: Sequence[str]) -> Result:
    """Show the result of `jsctl import --dry-run`. size: bytes of payload."""
    text = f"would publish {pluralize(messages, 'message')} ({format_bytes(size)}) to {stream}"
    data = {"stream": stream, "messages": messages, "bytes": size, "subjects": list(subjects)}
    return Result([Text(f"{text}, on {join_some(subjects)}" if subjects else text)], data)


@dataclass(frozen=True, slots=True)
class Options:
    """The flags and arguments of `import`. drop_headers: names in addition to those that instruct the
    server.
    """

    path: str
    stream: str
    subject: str
    prefix: str
    mappings: tuple[str, ...]
    where: str
    format: str | None
    base64: bool | None
    again: bool
    keep_ids: bool
    drop_headers: tuple[str, ...]
    tasks: int
    dry_run: bool
    spark: SparkOptions


@command(
    "import",
    examples=[
        "jsctl import orders --stream ORDERS",
        "jsctl import orders --stream COPY --map ORDERS=COPY",
        "jsctl import events.json --stream EVENTS --subject events.imported --dry-run",
    ],
)
@argument("path", label="Files to import", path=True)
@option("--stream", metavar="STREAM", required=True, noun="stream", help="Stream to publish to")
@option("--subject", metavar="SUBJECT", default="", help="Subject of all messages, instead of the column's")
@option("--prefix", metavar="PREFIX", default="", help="Put PREFIX. before each subject")
@option(
    "--map",
    "mappings",
    metavar="FROM=TO",
    multiple=True,
    help="Publish FROM and FROM.rest as TO and TO.rest; may be repeated, the first match counts",
)
@option(
    "--where", selects=True, metavar="SQL", default="", help="Only rows that match this Spark SQL condition"
)
@option("--format", type=click.Choice(FORMATS), help="Format of the files (from their names)")
@option(
    "--base64/--no-base64",
    default=None,
    help="Whether data and header values are base64, in files that are not an export (no)",
)
@option("--again", is_flag=True, help="Publish again what was imported before, with new message ids")
@option("--keep-ids", is_flag=True, help="Keep the Nats-Msg-Id that a message has in its headers")
@option(
    "--drop-header",
    "drop_headers",
    metavar="NAME",
    multiple=True,
    help="Leave out a header, such as Nats-TTL or 'Nats-Schedule*'; may be repeated",
)
@option(
    "--tasks",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="Publish from N tasks; with more than 1, only messages of one subject keep their order (1)",
)
@option("--dry-run", is_flag=True, help="Show what would be published")
@spark_options
async def import_(env: Env, options: Options) -> Result:
    """Read PATH, a file, folder or URI with the columns subject, data, and optionally headers and msg_id;
    or what jsctl export stream wrote, in any format. The messages get ids, so that an import that is
    repeated within the stream's duplicate window stores nothing twice. Headers that instruct the server
    (such as Nats-Expected-* and Nats-Rollup; jsctl manual import has all) are left out; --drop-header names
    further ones.
    """
    place = parse_place(options.path, "PATH")
    rows = ImportOptions(
        path=place,
        format=options.format or "",
        subject=options.subject,
        prefix=options.prefix,
        mappings=tuple(map(_parse_mapping, options.mappings)),
        where=options.where,
        base64=options.base64,
        with_new_ids=options.again,
        keep_ids=options.keep_ids,
        drop_headers=tuple(map(_parse_header, options.drop_headers)),
        tasks=options.tasks,
    )
    for text in (rows.subject, rows.prefix, *(new for _, new in rows.mappings)):
        if text:
            validate_subject(text)
    if isinstance(place, Path):
        find_files(rows)  # before the seconds that Spark takes to start
    session = options.spark.prepare("jsctl import", place)
    api = await env.jetstream()
    job = WriteJob(await login.with_files(env.settings()), options.stream)

    run = ImportRun(
        rows,
        job,
        session,
        lambda messages: env.progress(f"Publishing to {options.stream}", messages),
    )
    if options.dry_run:
        preview = await run.preview(api)
        return _show_preview(options.stream, preview.messages, preview.bytes, preview.subjects)
    counts, seconds = await run.publish(api)
    return _show_imported(
        options.stream, counts.published, counts.duplicates, counts.bytes, int(seconds * SECOND)
    )


def _parse_mapping(text: str) -> tuple[str, str]:
    old, sign, new = text.partition("=")
    if not sign or not old.strip() or not new.strip():
        raise BadInput(f"--map {text!r} is not FROM=TO", "write it like --map ORDERS=COPY")
    return old.strip(), new.strip()


def _parse_header(text: str) -> str:
    if not re.fullmatch(r"[!-9;-~]+", text):
        raise BadInput(
            f"--drop-header {text!r} is not the name of a header", "use one such as --drop-header Nats-TTL"
        )
    return text
