"""Files into a stream: what `jsctl import` does in Spark.

Rows of an export (columns stream, sequence, timestamp) get message ids of these three, other rows of the
files that they are in: who runs an import again within the stream's duplicate window stores nothing twice.
"""

import functools
import hashlib
import re
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import jsctl.errors
from jsctl.errors import BadInput, ExitStatus, JsctlError, NotFound
from jsctl.spark.export import exported
from jsctl.spark.export.write import options
from jsctl.spark.session import cluster
from jsctl.spark.session.session import first_line
from jsctl.spark.session.settings_box import settings_for_tasks
from jsctl.spark.session.task_archive import provide_pynacl
from jsctl.spark.sink import publishing
from jsctl.spark.sink.publishing import Counts, Job, publish

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

FORMATS = ("parquet", "json", "csv", "orc")

_IDENTITY = ("stream", "sequence", "timestamp")
_DROPPED = "^nats-(msg-id|rollup|expected-.*|batch-.*)$"
"""Headers that were for the server when the message was first published; now they would stop it, or empty the
stream."""


@dataclass(frozen=True, slots=True)
class Options:
    """What to import. maps: (from, to), whole leading tokens of a subject. where: a Spark SQL condition.
    base64: data and header values are. again: new message ids. keep_ids: ids of the headers stay.
    tasks: how many publish at a time; more than one keep the order of a subject's messages only."""

    path: Path
    format: str = ""
    subject: str = ""
    prefix: str = ""
    maps: tuple[tuple[str, str], ...] = ()
    where: str = ""
    base64: bool = False
    again: bool = False
    keep_ids: bool = False
    tasks: int = 1


class Sample(NamedTuple):
    """What would be published."""

    messages: int
    bytes: int
    subjects: list[str]  #: up to 1000


class Found(NamedTuple):
    """What is to be read. tables: of an export, with their checkpoints; else empty."""

    format: str
    paths: list[Path]
    tables: dict[Path, dict[str, Any]]


def files(options: Options) -> Found:
    """The format, and the files or folders to read. Raises NotFound, BadInput."""
    path = options.path
    if not path.exists():
        raise NotFound(f"there is no {path}", "name a file or folder of Parquet, JSON, CSV or ORC")
    format, tables = exported.tables(path)
    if tables:
        if options.format not in ("", format):
            raise BadInput(f"{path} was exported as {format}", "leave --format out")
        if options.base64:
            raise BadInput(f"{path} is an export, which says itself what is base64", "leave --base64 out")
        for table, checkpoint in tables.items():
            exported.check(table, checkpoint)
        return Found(format, list(tables), tables)
    format = options.format or _format(path)
    if format not in FORMATS:
        raise BadInput(f"{path} holds no {', '.join(FORMATS)}", "say which one it is with --format")
    return Found(format, [path], {})


def _format(path: Path) -> str:
    found = [path] if path.is_file() else [f for f in path.rglob("*") if f.is_file()]
    endings = {f.suffix.lstrip(".") for f in found if not f.name.startswith(("_", "."))}
    endings = {"json" if ending in ("jsonl", "ndjson") else ending for ending in endings}
    return next((format for format in FORMATS if format in endings), "")


def rows(spark: "SparkSession", wanted: Options) -> "tuple[DataFrame, str]":
    """The rows as messages (subject, data, headers, msg_id), in the order in which they go out, and what
    tells this import from others. Raises BadInput, NotFound, JsctlError."""
    from pyspark.sql import functions as f

    found = files(wanted)
    try:
        frame = _read(spark, wanted, found)
        columns = dict(frame.dtypes)
    except Exception as error:
        raise BadInput(f"Spark cannot read {wanted.path}: {first_line(error)}") from None
    if "data" not in columns:
        raise BadInput(f"{wanted.path} has no column data", f"it has {', '.join(columns) or 'none'}")
    if "subject" not in columns and not wanted.subject:
        raise BadInput(f"{wanted.path} has no column subject", "name one for all messages with --subject")
    write = uuid.uuid4().hex if wanted.again else _digest(found.paths)
    data = f.col("data") if columns["data"] in ("string", "binary") else f.to_json(f.col("data"))
    chosen = {
        "subject": _subject(wanted),
        "data": f.to_binary(data.cast("string"), f.lit("base64")) if wanted.base64 else data.cast("binary"),
        "msg_id": f.lit(None).cast("string"),
    }
    if all(name in columns for name in _IDENTITY):
        salt = write if wanted.again else "import"
        chosen["msg_id"] = f.sha2(f.concat_ws("\0", f.lit(salt), *map(f.col, _IDENTITY)), 256)
        frame = (
            frame.repartition(wanted.tasks, _subject(wanted)) if wanted.tasks > 1 else frame.repartition(1)
        )
        frame = frame.sortWithinPartitions("stream", "sequence")
    else:
        frame = frame.repartition(wanted.tasks) if wanted.tasks > 1 else frame.coalesce(1)
    if "msg_id" in columns:
        chosen["msg_id"] = f.coalesce(f.col("msg_id").cast("string"), chosen["msg_id"])
    if columns.get("headers", "").startswith("array<struct<"):
        if wanted.base64:
            frame = frame.withColumn(
                "headers",
                f.expr(
                    "transform(headers, h -> struct(h.key AS key, to_binary(h.value, 'base64') AS value))"
                ),
            )
        keys = "lower(h.key) rlike"
        if wanted.keep_ids:
            own = f.expr("exists(headers, h -> lower(h.key) = 'nats-msg-id')")
            chosen["msg_id"] = f.when(own, f.lit(None)).otherwise(chosen["msg_id"])
            dropped = _DROPPED.replace("msg-id|", "")
        else:
            dropped = _DROPPED
        chosen["headers"] = f.expr(f"filter(headers, h -> NOT ({keys} '{dropped}'))")
    return frame.select(*(value.alias(name) for name, value in chosen.items())), write


def _read(spark: "SparkSession", wanted: Options, found: Found) -> "DataFrame":
    if not found.tables:
        reader = spark.read.format(found.format).options(**options(found.format))
        frame = reader.load(wanted.path.absolute().as_uri())
        return frame.where(wanted.where) if wanted.where else frame
    frames = []
    for path, checkpoint in found.tables.items():
        table = exported.read(spark, path, found.format, checkpoint)
        table = table.where(wanted.where) if wanted.where else table
        frames.append(exported.messages(table, found.format, checkpoint))
    return functools.reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames)


def _subject(wanted: Options) -> Any:
    from pyspark.sql import functions as f

    found: Any = f.lit(wanted.subject) if wanted.subject else f.col("subject")
    mapped: Any = None
    for old, new in wanted.maps:
        hit = (found == old) | found.startswith(f"{old}.")
        value = f.concat(f.lit(new), f.substring(found, len(old) + 1, 1 << 30))
        mapped = f.when(hit, value) if mapped is None else mapped.when(hit, value)
    found = found if mapped is None else mapped.otherwise(found)
    return f.concat(f.lit(f"{wanted.prefix}."), found) if wanted.prefix else found


def _digest(paths: Iterable[Path]) -> str:
    """Of the files: names, sizes, times."""
    found = hashlib.blake2b(digest_size=16)
    for path in paths:
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            if file.is_file():
                status = file.stat()
                found.update(f"{file.absolute()}\0{status.st_size}\0{status.st_mtime_ns}\0".encode())
    return found.hexdigest()


def look(frame: "DataFrame") -> Sample:
    """What would be published. Raises JsctlError."""
    from pyspark.sql import functions as f

    try:
        total = frame.agg(f.count("*").alias("n"), f.sum(f.length("data")).alias("size")).collect()[0]
        subjects = [row.subject for row in frame.select("subject").distinct().limit(1000).collect()]
    except Exception as error:
        raise failure(error) from None
    return Sample(total.n, total.size or 0, sorted(map(str, subjects)))


def send(frame: "DataFrame", job: Job, write: str) -> Counts:
    """Publish all rows. Raises what `publishing.publish` does."""
    from pyspark.sql.utils import is_remote

    named = replace(job, write=write)
    frame = frame.select("subject", "data", *(_column(frame, name) for name in ("headers", "msg_id")))
    try:
        done = _connect(frame, named) if is_remote() else _classic(frame, named)
    except Exception as error:
        raise failure(error) from None
    return Counts(*(sum(column) for column in zip(*done, strict=True))) if done else Counts()


def _column(frame: "DataFrame", name: str) -> Any:
    from pyspark.sql import functions as f

    return f.col(name) if name in frame.columns else f.lit(None).cast("string").alias(name)


def _classic(frame: "DataFrame", job: Job) -> Sequence[Sequence[int]]:
    # mapInArrow refuses to work without pandas, which nothing here needs.
    def task(partition: int, rows: Iterable[Any]) -> Iterable[Counts]:
        provide_pynacl()
        yield publish(job, partition, map(tuple, rows))

    return frame.rdd.mapPartitionsWithIndex(task).collect()


def _connect(frame: "DataFrame", job: Job) -> Sequence[Sequence[int]]:
    job = replace(job, settings=settings_for_tasks(frame.sparkSession, job.settings))

    def task(batches: "Iterator[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
        import pyarrow
        from pyspark import TaskContext

        provide_pynacl()
        context = TaskContext.get()
        counts = publish(job, context.partitionId() if context else 0, publishing.rows(batches))
        yield pyarrow.record_batch({name: [value] for name, value in counts._asdict().items()})

    return frame.mapInArrow(task, "published long, duplicates long, bytes long").collect()


def failure(error: Exception) -> JsctlError:
    """A failure of a task: as the error that it raised there, when it is one of ours."""
    try:
        text = str(error)
    except Exception:  # the JVM is gone
        text = ""
    if lacking := cluster.missing(text):
        return lacking
    said = re.findall(r"^\s*(?:\w+: )?jsctl\.errors\.(\w+): (.*)$", text, re.MULTILINE)
    if said:
        name, message = said[-1]
        made = JsctlError(message.strip())
        status = getattr(getattr(jsctl.errors, name, JsctlError), "status", None)
        if isinstance(status, ExitStatus):  # an API error's depends on its number
            made.status = status
        return made
    raised = re.findall(
        r"^(?!org\.|java\.|py4j\.)((?:\w+\.)*\w+(?:Error|Exception): .+)$", text, re.MULTILINE
    )
    # Of an error in the JVM the first line says only what was called.
    inner = re.search(r"Exception: (\[[A-Z0-9_.]+\] .*)", text)
    line = first_line(RuntimeError(inner[1])) if inner else first_line(error)
    return JsctlError(f"Spark failed: {raised[-1] if raised else line}")
