"""`jsctl export stream`."""

import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.commands.export.options import spark_options
from jsctl.commands.export.shown import Shown
from jsctl.commands.export.streaming import Run
from jsctl.commands.report.targets import targets
from jsctl.commands.shared.pick import stream_name
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.signals import sigterm_as_interrupt
from jsctl.spark.export import formats
from jsctl.spark.export.decode import DECODINGS, Shape, partitions
from jsctl.spark.export.export import Exporter, Selection, Source, read_options
from jsctl.spark.export.stream_target import FILES, StreamTarget
from jsctl.spark.session.session import check
from jsctl.spark.source.options import parse
from jsctl.units import SECOND, parse_past_time, seconds_to_ns, to_datetime
from jsctl.views.result import Result


@command(
    "stream",
    examples=[
        "jsctl export stream ORDERS --to orders",
        "jsctl export stream ORDERS --to orders --incremental --partition-by date --verify",
        "jsctl export stream ORDERS --to orders --decode json --query 'SELECT count(*) FROM ORDERS'",
        "jsctl export stream ORDERS LOGS --to tables --context hub --js-domain hub --js-domain leaf --follow",
    ],
)
@argument("stream", metavar="STREAM...", nargs=-1, required=True)
@option("--to", metavar="DIR", required=True, help="Folder for the tables, one a stream")
@option(
    "--format",
    metavar="FORMAT",
    default="parquet",
    help="parquet, json, csv, orc, xml, or any that this Spark has",
)
@option("--incremental", is_flag=True, help="Go on where the last run ended")
@option("--follow", is_flag=True, help="Go on until Ctrl-C")
@option(
    "--every", type=DURATION, metavar="DURATION", default=5 * SECOND, help="With --follow: how often (5s)"
)
@option("--since", metavar="TIME", default="", help="From so long ago (1h) or from a time on")
@option("--until", metavar="TIME", default="", help="Before so long ago (1h) or before a time")
@option("--from-seq", type=int, metavar="SEQ", help="From this sequence on")
@option("--to-seq", type=int, metavar="SEQ", help="Up to this sequence, with it")
@option("--subject", "subjects", metavar="SUBJECT", multiple=True, help="Only these subjects (repeatable)")
@option("--partition-by", metavar="WHAT", multiple=True, help="date, hour, or subject:N for the Nth token")
@option("--decode", metavar="AS", default="", help="Payloads into columns: json, text or base64")
@option("--schema", metavar="DDL", default="", help="Fields for --decode json; without, those that are there")
@option("--keep-data", is_flag=True, help="With --decode json: the payload in a column, too")
@option("--headers", is_flag=True, help="A column for headers")
@option("--query", "sql", metavar="SQL", default="", help="Ask the tables afterwards, and print the answer")
@option("--limit", type=int, metavar="ROWS", default=1000, help="Rows of --query at the most (1000)")
@option("--verify", is_flag=True, help="Read the tables back and compare them with the streams")
@option(
    "--fail-on-data-loss/--no-fail-on-data-loss",
    "fail_on_loss",
    default=True,
    help="Fail when messages fell off the stream before they were read (default)",
)
@option("--fail-on-deleted", is_flag=True, help="Fail when messages were deleted from within the stream")
@option("--force", "-f", is_flag=True, help="Replace tables that exist, without asking")
@option("--conf", metavar="KEY=VALUE", multiple=True, help="Setting for Spark (repeatable)")
@spark_options
def stream(
    env: Env,
    stream: tuple[str, ...],
    to: str,
    format: str,
    incremental: bool,
    follow: bool,
    every: int,
    since: str,
    until: str,
    from_seq: int | None,
    to_seq: int | None,
    subjects: tuple[str, ...],
    partition_by: tuple[str, ...],
    decode: str,
    schema: str,
    keep_data: bool,
    headers: bool,
    sql: str,
    limit: int,
    verify: bool,
    fail_on_loss: bool,
    fail_on_deleted: bool,
    force: bool,
    conf: tuple[str, ...],
    master: str,
    remote: str,
) -> Result:
    """A folder a stream below DIR, with stream, subject, sequence, timestamp (UTC) and the payload. Data
    and the place where --incremental goes on are written as one: a run that is killed loses nothing and
    repeats nothing. With --decode, payloads that do not fit are kept in the column bad_payload. --context and
    --js-domain may be given several times; their names are then part of the folders' names.
    """
    format = formats.named(format)
    _check(format, decode, schema, keep_data, incremental or follow, partition_by)
    if follow and (until or to_seq is not None):
        raise BadInput("--follow has no end", "leave --until and --to-seq out")
    if every <= 0:
        raise BadInput("--every must be more than 0")
    if fail_on_deleted and subjects:
        raise BadInput(
            "--fail-on-deleted cannot be with --subject", "among other subjects nobody sees what was deleted"
        )
    selection = _selection(env, since, until, from_seq, to_seq, subjects)
    selection = replace(selection, fail_on_loss=fail_on_loss, fail_on_deleted=fail_on_deleted)
    sources = _sources(env, stream)
    for source in sources:
        parse(read_options(source, selection), settings=source.settings)
    settings = dict(_setting(one) for one in conf)
    check(master, remote)
    target = StreamTarget.at(Path(to).expanduser(), format, [source.table for source in sources])
    shape = Shape(decode, schema.strip(), tuple(dict.fromkeys(partition_by)), keep_data, headers)
    shown = Shown(env)
    exporter = Exporter(target, selection, shape, shown.say, shown.progress)
    run = Run(
        env, shown, exporter, sources, incremental, follow, every, verify, sql, limit, master, remote,
        settings,
    )  # fmt: skip
    with sigterm_as_interrupt():
        if target.path.exists():
            with target.hold():  # a table that a killed run had finished comes to light
                pass
        existing = [] if incremental else [source.table for source in sources if target.has(source.table)]
        if existing:
            run.plans()  # what is wrong with the line comes before the question
            named = ", ".join(existing)
            env.run(env.confirm(f"Really replace {named} in {target.path}", force=force))
        return run()


def _check(
    format: str, decode: str, schema: str, keep_data: bool, going_on: bool, partition_by: tuple[str, ...]
) -> None:
    if going_on and format not in FILES:
        raise BadInput(
            f"a table in {format} cannot be added to by --incremental or --follow",
            f"use {', '.join(FILES[:4])}",
        )
    if decode and decode not in DECODINGS:
        raise BadInput(f"--decode {decode!r} is none of {', '.join(DECODINGS)}")
    if decode != "json" and (schema or keep_data):
        raise BadInput(f"{'--schema' if schema else '--keep-data'} is for --decode json")
    partitions(partition_by)


def _selection(
    env: Env, since: str, until: str, from_seq: int | None, to_seq: int | None, subjects: tuple[str, ...]
) -> Selection:
    for one, other, names in (
        (since, from_seq, "--since and --from-seq"),
        (until, to_seq, "--until and --to-seq"),
    ):
        if one and other is not None:
            raise BadInput(f"{names} exclude each other", "give one")
    for flag, sequence in (("--from-seq", from_seq), ("--to-seq", to_seq)):
        if sequence is not None and sequence < 1:
            raise BadInput(f"{flag} {sequence} is no sequence", "they start at 1")
    if from_seq is not None and to_seq is not None and from_seq > to_seq:
        raise BadInput(f"--from-seq {from_seq} is after --to-seq {to_seq}")
    if any("," in subject for subject in subjects):
        raise BadInput("--subject takes one subject", "give the flag several times")
    start, end = _moment(env, "--since", since), _moment(env, "--until", until)
    if start and end and start >= end:
        raise BadInput("--since is not before --until")
    last = None if to_seq is None else to_seq + 1
    return Selection(tuple(dict.fromkeys(subjects)), from_seq, last, start, end)


def _moment(env: Env, flag: str, text: str) -> datetime | None:
    """From `1h` (ago) or a time."""
    if not text:
        return None
    try:
        return to_datetime(parse_past_time(text, seconds_to_ns(env.clock())))
    except ValueError:
        raise BadInput(f"{flag} {text!r} is not a time", "write 1h, 7d or 2026-11-21T06:57:05Z") from None


def _sources(env: Env, names: tuple[str, ...]) -> list[Source]:
    """Every stream of every place. Raises BadInput when two of them would be one table."""
    places = targets(env)
    found: dict[str, Source] = {}
    for settings in places:
        named = [
            getattr(settings, field)
            for field in ("context", "js_domain")
            if len({getattr(place, field) for place in places}) > 1 and getattr(settings, field)
        ]
        for name in dict.fromkeys(map(stream_name, names)):
            table = re.sub(r"[^\w-]", "_", "_".join([*named, name]))
            if not re.match(r"[A-Za-z0-9]", table):
                table = f"t{table}"  # Spark passes over folders with a _ in front
            if table in found:
                raise BadInput(f"two streams would go to {table}", "export one of them to another folder")
            found[table] = Source(settings, name, table)
    return list(found.values())


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise BadInput(f"--conf {text!r} is no setting", "write KEY=VALUE")
    return name.strip(), value.strip()
