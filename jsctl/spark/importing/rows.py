"""Files and exported tables as rows of messages, for `jsctl import`.

Rows of an export get message ids computed from their columns stream, sequence and timestamp, other rows from
the files that they are in. Repeating an import within the stream's duplicate window stores nothing twice.
"""

import csv
import functools
import hashlib
import re
import uuid
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from jsctl.base.json_text import parse_json
from jsctl.errors import BadInput, NotFound
from jsctl.jetstream.message.republishing import DROPPED, MESSAGE_ID, NEEDED_SETTINGS, build_pattern
from jsctl.spark.export import exported_tables
from jsctl.spark.export.formats import build_spark_options
from jsctl.spark.session.folders import read_path
from jsctl.spark.session.hadoop import HadoopPath, Place, list_files
from jsctl.spark.session.spark_errors import extract_message, find_damaged_file

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

FORMATS = ("parquet", "json", "csv", "orc")

_ID_COLUMNS = ("stream", "sequence", "timestamp")
_BASE64 = "data_base64"
"""The column of payloads in files of text, such as those of an export or a dump."""


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """Options of an import.

    format: one of FORMATS; empty to guess it from file names. subject: for all messages, instead of the
    column's. prefix: put before each subject, with a dot. mappings: pairs (from, to) of leading tokens of
    subjects. where: a Spark SQL condition. base64: whether data and header values are base64; None if not
    specified. with_new_ids: make new message ids. keep_ids: keep ids in headers. drop_headers: names of
    headers to leave out, in which * stands for any text. tasks: number of tasks that publish at a time; with
    more than one, only messages of the same subject keep their order.
    """

    path: Place
    format: str = ""
    subject: str = ""
    prefix: str = ""
    mappings: tuple[tuple[str, str], ...] = ()
    where: str = ""
    base64: bool | None = None
    with_new_ids: bool = False
    keep_ids: bool = False
    drop_headers: tuple[str, ...] = ()
    tasks: int = 1


class ImportFiles(NamedTuple):
    """The files to read. tables: those of an export with their checkpoints, else empty."""

    format: str
    paths: list[Place]
    tables: dict[Place, dict[str, Any]]


def find_files(options: ImportOptions) -> ImportFiles:
    """Return the format, and the files or folders to read. Raises NotFound, BadInput."""
    path = options.path
    if not path.exists():
        raise NotFound(f"{path} does not exist", "name a file or folder of Parquet, JSON, CSV or ORC")
    format, tables = exported_tables.find_tables(path)
    if tables:
        if options.format not in ("", format):
            raise BadInput(f"{path} was exported as {format}", "leave --format out")
        if options.base64 is not None:
            flag = "--base64" if options.base64 else "--no-base64"
            raise BadInput(f"{path} is an export, which records what is base64", f"leave {flag} out")
        for table, checkpoint in tables.items():
            exported_tables.check_has_payloads(table, checkpoint)
        return ImportFiles(format, list(tables), tables)
    format = options.format or _guess_format(path)
    if format not in FORMATS:
        raise BadInput(f"{path} holds no {', '.join(FORMATS)}", "name the format with --format")
    return ImportFiles(format, [path], {})


def _guess_format(path: Place) -> str:
    names = [file.path.name for file in list_files(path)]
    endings = {name.rpartition(".")[2] for name in names if not name.startswith(("_", "."))}
    endings = {"json" if ending in ("jsonl", "ndjson") else ending for ending in endings}
    return next((format for format in FORMATS if format in endings), "")


def build_message_rows(spark: "SparkSession", options: ImportOptions) -> "tuple[DataFrame, str]":
    """Return the rows to publish, in their order, and the id of the write.

    The rows have the columns subject, data, msg_id and, if the files have them, headers. The id is the same
    when the same files are imported again.

    Raises BadInput, NotFound, JsctlError.
    """
    from pyspark.sql import functions as F

    if isinstance(options.path, HadoopPath):
        options = replace(options, path=options.path.connect(spark))
    files = find_files(options)
    if damaged_place := _find_damaged_csv_line(files):
        raise BadInput(f"{damaged_place} is damaged", "nothing was published")
    try:
        frame = _read(spark, options, files)
        columns = dict(frame.dtypes)
    except Exception as error:
        if damaged_place := find_damaged_file(error) or _find_damaged_line(files):
            raise BadInput(f"{damaged_place} is damaged", "nothing was published") from None
        raise BadInput(f"Spark cannot read {options.path}: {extract_message(error)}") from None
    if "data" not in columns and _BASE64 not in columns:
        raise BadInput(f"{options.path} has no column data", f"it has {', '.join(columns) or 'none'}")
    if "subject" not in columns and not options.subject:
        raise BadInput(f"{options.path} has no column subject", "name one for all messages with --subject")
    write_id = uuid.uuid4().hex if options.with_new_ids else _compute_digest(files.paths)
    is_export = all(name in columns for name in _ID_COLUMNS)
    if is_export and not files.tables and options.base64 is None and columns.get("data") == "string":
        raise BadInput(
            f"{options.path} comes from an export, but does not say whether its data is base64",
            "use --base64, or --no-base64 after --decode text; or name the folder of the export",
        )
    selected = {
        "subject": _build_subject_column(options),
        "data": _build_data_column(columns, options),
        "msg_id": _build_message_id_column(
            columns, write_id if options.with_new_ids else "import", is_export
        ),
    }
    frame = _arrange(frame, options, is_export)
    if columns.get("headers", "").startswith("array<struct<"):
        frame = _decode_headers(frame, columns["headers"], options)
        dropped = [*DROPPED, *options.drop_headers]
        if options.keep_ids:
            selected["msg_id"] = F.when(F.exists("headers", _is_one_of([MESSAGE_ID])), F.lit(None)).otherwise(
                selected["msg_id"]
            )
        else:
            dropped.append(MESSAGE_ID)
        is_dropped = _is_one_of(dropped)
        selected["headers"] = F.filter("headers", lambda header: ~is_dropped(header))
    return frame.select(*(value.alias(name) for name, value in selected.items())), write_id


def _read(spark: "SparkSession", options: ImportOptions, files: ImportFiles) -> "DataFrame":
    if not files.tables:
        reader = spark.read.format(files.format).options(**build_spark_options(files.format))
        # Otherwise an invalid line would be a message without data. CSV of this machine was checked before.
        if files.format == "json" or (files.format == "csv" and isinstance(options.path, HadoopPath)):
            reader = reader.option("mode", "FAILFAST")
        frame = reader.load(read_path(options.path))
        return frame.where(options.where) if options.where else frame
    frames = []
    for path, checkpoint in files.tables.items():
        table = exported_tables.read_exported(spark, path, files.format, checkpoint)
        table = table.where(options.where) if options.where else table
        frames.append(exported_tables.restore_messages(table, files.format, checkpoint))
    return functools.reduce(lambda all, frame: all.unionByName(frame, allowMissingColumns=True), frames)


def _find_damaged_line(files: ImportFiles) -> str:
    """Return the position of the first invalid line in JSON files, which Spark does not report; empty for
    none."""
    if files.format != "json":
        return ""
    for path in filter(_is_local, files.paths):
        for file in [path] if path.is_file() else sorted(path.rglob("*.json*")):
            with suppress(OSError), file.open("rb") as lines:
                for number, line in enumerate(lines, 1):
                    try:
                        if line.strip():
                            parse_json(line, allow_surrogates=True)
                    except ValueError:
                        return f"{file} line {number}"
    return ""


def _find_damaged_csv_line(files: ImportFiles) -> str:
    """Return the first position in CSV files that is not text, or has more or fewer columns than the first
    line; empty for none. Spark would accept it.
    """
    if files.format != "csv":
        return ""
    csv.field_size_limit(1 << 30)
    for path in filter(_is_local, files.paths):
        for file in [path] if path.is_file() else sorted(path.rglob("*.csv")):
            with suppress(OSError), file.open(encoding="utf-8", newline="") as text:
                rows = csv.reader(text, strict=True)
                try:
                    width = len(next(rows, []))
                    if any(row and len(row) != width for row in rows):
                        return f"{file} line {rows.line_num}"
                except (csv.Error, UnicodeDecodeError):
                    return f"{file} after line {rows.line_num}"
    return ""


def _build_data_column(columns: Mapping[str, str], options: ImportOptions) -> "Column":
    """Return the column of payloads: `data`, and `data_base64` for rows without it."""
    from pyspark.sql import functions as F

    parts = []
    if "data" in columns:
        data = F.col("data") if columns["data"] in ("string", "binary") else F.to_json(F.col("data"))
        parts.append(_decode_base64(data) if options.base64 else data.cast("binary"))
    if _BASE64 in columns:
        parts.append(_decode_base64(F.col(_BASE64)))
    return F.coalesce(*parts)


def _decode_base64(column: "Column") -> "Column":
    from pyspark.sql import functions as F

    return F.to_binary(column.cast("string"), F.lit("base64"))


def _build_subject_column(options: ImportOptions) -> "Column":
    from pyspark.sql import functions as F

    subject: Any = F.lit(options.subject) if options.subject else F.col("subject")
    mapped: Any = None
    for from_tokens, to_tokens in options.mappings:
        matches = (subject == from_tokens) | subject.startswith(f"{from_tokens}.")
        value = F.concat(F.lit(to_tokens), F.substring(subject, len(from_tokens) + 1, 1 << 30))
        mapped = F.when(matches, value) if mapped is None else mapped.when(matches, value)
    subject = subject if mapped is None else mapped.otherwise(subject)
    result: Column = F.concat(F.lit(f"{options.prefix}."), subject) if options.prefix else subject
    return result


def _build_message_id_column(columns: dict[str, str], salt: str, is_export: bool) -> "Column":
    """Return the column of message ids; null if the id is made when the row is published."""
    from pyspark.sql import functions as F

    message_id = F.lit(None).cast("string")
    if is_export:
        message_id = F.sha2(F.concat_ws("\0", F.lit(salt), *map(F.col, _ID_COLUMNS)), 256)
    if "msg_id" in columns:
        return F.coalesce(F.col("msg_id").cast("string"), message_id)
    return message_id


def _arrange(frame: "DataFrame", options: ImportOptions, is_export: bool) -> "DataFrame":
    """Arrange the rows in a partition for each task; those of an export in the stream's order."""
    if is_export:
        if options.tasks > 1:
            frame = frame.repartition(options.tasks, _build_subject_column(options))
        else:
            frame = frame.repartition(1)
        return frame.sortWithinPartitions("stream", "sequence")
    return frame.repartition(options.tasks) if options.tasks > 1 else frame.coalesce(1)


def _is_one_of(names: Iterable[str]) -> "Callable[[Column], Column]":
    """Return a function that tests whether a header's name is one of these, in which * stands for any
    text."""
    from pyspark.sql import functions as F

    pattern = build_pattern(names)
    return lambda header: F.coalesce(F.lower(header["key"]).rlike(pattern), F.lit(False))


def check_headers(frame: "DataFrame", config: Mapping[str, Any]) -> None:
    """Raise BadInput for messages with headers that a stream of this configuration refuses."""
    from pyspark.sql import functions as F

    refused = [header for header, setting in NEEDED_SETTINGS.items() if not config.get(setting)]
    if "headers" not in frame.columns or not refused:
        return
    counts = [
        F.count_if(F.coalesce(F.exists("headers", _is_one_of([header])), F.lit(False))) for header in refused
    ]
    for header, count in zip(refused, frame.agg(*counts).collect()[0], strict=True):
        if count:
            raise BadInput(
                f"{config['name']} refuses the header {header} without {NEEDED_SETTINGS[header]}, and"
                f" {count:,} {'message has' if count == 1 else 'messages have'} it",
                f"--drop-header '{header}' leaves it out",
            )


def _decode_headers(frame: "DataFrame", type: str, options: ImportOptions) -> "DataFrame":
    """Return rows whose headers have values that are bytes. type: of the headers, as Spark writes it."""
    from pyspark.sql import functions as F

    names = re.findall(r"[<,](key|value|value_base64):", type)

    def decode(pair: "Column") -> "Column":
        values = [_decode_base64(pair["value_base64"])] if "value_base64" in names else []
        if "value" in names:
            value = pair["value"]
            values.append(_decode_base64(value) if options.base64 else value.cast("string").cast("binary"))
        return F.struct(pair["key"].alias("key"), F.coalesce(*values).alias("value"))

    return frame.withColumn("headers", F.transform("headers", decode)) if len(names) > 1 else frame


def _compute_digest(paths: Iterable[Place]) -> str:
    """Return a digest of the files' names, sizes and times."""
    digest = hashlib.blake2b(digest_size=16)
    for path in paths:
        for file in list_files(path):
            digest.update(f"{file.path.absolute()}\0{file.size}\0{file.modified}\0".encode())
    return digest.hexdigest()


def _is_local(path: Place) -> TypeGuard[Path]:
    return isinstance(path, Path)
