"""Writers of rows as messages: `df.write.format("jetstream")` and `df.writeStream`.

| column  | Spark type                                            |                                    |
|---------|-------------------------------------------------------|------------------------------------|
| subject | string                                                | not needed with the option subject |
| data    | binary or string                                      | null is an empty message           |
| headers | array of struct(key string, value binary or string)   | may be left out                    |
| msg_id  | string                                                | may be left out or null            |

Rows with `stream` and `sequence`, as the reader returns them, get message ids from these; `timestamp` is
ignored. Any other columns are refused.

Options: those of the connection, as for reading; `stream` (the server refuses messages that another one would
store; it is looked up before anything is published), `bucket` (rows are entries of a key-value bucket, with
the columns of `jsctl.spark.sink.bucket_rows`), `subject` (for rows without one), `writeId` (for
batches: a second write of the same rows with the same id stores nothing twice), `requestTimeout` (10s),
`retries` (5).

A write is not a transaction: messages that were acknowledged before a task failed remain. Repeated tasks, and
batches that a streaming query repeats after a restart, use the same message ids, and the server drops these
messages within the duplicate window of its stream. `jsctl.spark.sink.publishing` has the details. The process
that plans or writes logs a warning about duplicates that were dropped, and about cases without protection.
"""

import os
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import ArrayType, BinaryType, DataType, StringType, StructType

from jsctl.base import loops
from jsctl.base.units import SECOND
from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream.kv.names import bucket_to_stream
from jsctl.nats import login
from jsctl.spark.session.task_archive import provide_pynacl
from jsctl.spark.sink import publishing
from jsctl.spark.sink.bucket_rows import check_bucket_columns
from jsctl.spark.sink.continuous import check_messages, refuse_continuous_trigger
from jsctl.spark.sink.publishing import Counts, WriteJob
from jsctl.spark.source import kafka_names
from jsctl.spark.source import options as read_options
from jsctl.spark.source.failures import format_messages, log, without_traceback
from jsctl.spark.source.option_values import OptionValues

if TYPE_CHECKING:
    import pyarrow as pa

OPTION_NAMES = (
    *read_options.CONNECTION_OPTIONS,
    "stream",
    "bucket",
    "subject",
    "writeId",
    "requestTimeout",
    "retries",
)

_COLUMNS = ("subject", "data", "headers", "msg_id")
_IGNORED_COLUMNS = ("stream", "sequence", "timestamp")


@dataclass(frozen=True)
class Committed(WriterCommitMessage):
    """The result of a task."""

    counts: Counts


class JetStreamWriter(DataSourceArrowWriter):
    """The writer of a batch query. It is created on the driver; `write` runs in tasks."""

    def __init__(self, job: WriteJob) -> None:
        self.job = job

    @without_traceback
    def write(self, iterator: "Iterator[pa.RecordBatch]") -> Committed:
        provide_pynacl()
        return Committed(
            publishing.publish(self.job, _get_task().partitionId(), publishing.list_rows(self.job, iterator))
        )

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        _warn_of_duplicates(messages)


class JetStreamStreamWriter(DataSourceStreamArrowWriter):
    """The writer of a streaming query.

    Its message ids contain the query's id, which is kept in the checkpoint, and the batch's number.
    """

    def __init__(self, job: WriteJob, has_ids: bool) -> None:
        self.job = job
        self.has_ids = has_ids

    @without_traceback
    def write(self, iterator: "Iterator[pa.RecordBatch]") -> Committed:
        provide_pynacl()
        task = _get_task()
        query = task.getLocalProperty("sql.streaming.queryId")
        batch = task.getLocalProperty("streaming.sql.batchId")
        if not query or batch is None:
            raise BadInput("Spark does not say which batch this is", "write with foreachBatch and writeId")
        job = replace(self.job, write_id=f"{query}/{batch}")
        if batch == "0" and task.partitionId() == 0:  # Spark makes a writer for every batch
            _warn(publishing.check_stream(job), self.has_ids)
        return Committed(publishing.publish(job, task.partitionId(), publishing.list_rows(job, iterator)))

    @without_traceback
    def commit(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:
        check_messages(messages)
        _warn_of_duplicates(messages)


def parse_write_options(
    options: Mapping[str, str],
    schema: StructType,
    environ: Mapping[str, str] = os.environ,
    *,
    streaming: bool = False,
    settings: Settings | None,
) -> WriteJob:
    """Parse and validate options and columns.

    settings: the connection's; the options must not name it then. Raises BadInput, NotFound for an unknown
    context.
    """
    by_name = {name.lower(): value for name, value in options.items()}
    for name in ("checkpointlocation", "queryname") if streaming else ():
        by_name.pop(name, None)  # Spark adds these options of the query
    read_options.refuse_unknown_options(by_name, OPTION_NAMES)
    values = OptionValues(by_name)
    if streaming and "writeid" in by_name:
        raise BadInput("option writeId is for df.write", "df.writeStream uses the query's id and batch")
    bucket = values.get_text("bucket")
    for name in ("stream", "subject") if bucket else ():
        if name in by_name:
            raise BadInput(f"options bucket and {name} cannot be used together", "use only one")
    if bucket and not re.fullmatch(r"[a-zA-Z0-9_-]+", bucket):
        raise BadInput(f"{bucket!r} is not a valid bucket name")
    job = WriteJob(
        settings=loops.run(
            login.with_files(read_options.resolve_connection_settings(by_name, environ, settings))
        )._replace(timeout=values.parse_duration("requestTimeout", 10 * SECOND)),
        stream=bucket_to_stream(bucket) if bucket else values.get_text("stream"),
        subject=values.get_text("subject"),
        write_id=values.get_text("writeId") or uuid.uuid4().hex,
        retries=values.parse_count("retries", 5, least=0),
        bucket=bucket,
    )
    if bucket:
        check_bucket_columns(schema)
        return job
    if any(c in job.stream for c in " .*>/\\\t\r\n"):
        raise BadInput(f"{job.stream!r} is not a valid stream name")
    check_columns(schema, job.subject)
    return job


def create_writer(
    options: Mapping[str, str], schema: StructType, overwrite: bool, settings: Settings | None
) -> JetStreamWriter:
    """Return the writer of a batch query.

    Raises what `parse_write_options` and `publishing.check_stream` raise.
    """
    _refuse_overwrite(overwrite)
    job = parse_write_options(options, schema, settings=settings)
    provide_pynacl()  # Spark plans in a Python of the executors, too
    may_be_repeated = any(name.lower() == "writeid" for name in options)
    subject = "" if "subject" in schema.names else job.subject
    _warn(publishing.check_stream(job, subject), has_ids(job, schema) or not may_be_repeated)
    return JetStreamWriter(job)


def create_stream_writer(
    options: Mapping[str, str], schema: StructType, overwrite: bool, settings: Settings | None
) -> JetStreamStreamWriter:
    """Return the writer of a streaming query. Raises what `parse_write_options` raises, and BadInput for a
    continuous trigger. Does not look up the stream, as Spark creates another writer for each batch."""
    _refuse_overwrite(overwrite)
    job = parse_write_options(options, schema, streaming=True, settings=settings)
    refuse_continuous_trigger(options)
    return JetStreamStreamWriter(job, has_ids(job, schema))


def check_columns(schema: StructType, subject: str = "") -> None:
    """Raise BadInput unless rows of this schema are messages."""
    types: dict[str, DataType] = {field.name: field.dataType for field in schema.fields}
    for name in types:
        if name not in (*_COLUMNS, *_IGNORED_COLUMNS):
            meaning = kafka_names.find_column(name)
            raise BadInput(
                f"column {name} is not one of {', '.join(_COLUMNS)}{meaning and ': ' + meaning}",
                "select the columns of a message",
            )
    if "data" not in types:
        raise BadInput("there is no column data", "name the column with the payloads data: binary or string")
    if "subject" not in types and not subject:
        raise BadInput("there is no column subject", "add one, or set the option subject")
    text, text_or_binary = (StringType,), (StringType, BinaryType)
    for name, allowed_types in (("subject", text), ("msg_id", text), ("data", text_or_binary)):
        if name in types and not isinstance(types[name], allowed_types):
            raise BadInput(f"column {name} is {types[name].simpleString()}", "cast it to string")
    if "headers" in types and not _is_headers(types["headers"]):
        raise BadInput(
            f"column headers is {types['headers'].simpleString()}",
            "make it array<struct<key:string,value:binary>>",
        )


def has_ids(job: WriteJob, schema: StructType) -> bool:
    """Return whether the columns determine message ids, so that these do not depend on how Spark splits the
    rows. Entries of a bucket need none: one that is stored twice is still the newest of its key."""
    return job.bucket != "" or {"stream", "sequence"} <= set(schema.names) or "msg_id" in schema.names


def _warn(sentences: Sequence[str], has_ids: bool) -> None:
    for sentence in sentences:
        log.warning("jsctl: %s", sentence)
    if not has_ids:
        log.warning(
            "jsctl: the rows have neither msg_id nor stream and sequence: when this write is repeated with"
            " another number of partitions, they are stored twice"
        )


def _warn_of_duplicates(messages: Sequence[WriterCommitMessage | None]) -> None:
    count = sum(message.counts.duplicates for message in messages if isinstance(message, Committed))
    if count:
        log.warning(
            "jsctl: %s not stored: the stream has messages with their ids, from an earlier attempt or others",
            f"{format_messages(count)} {'was' if count == 1 else 'were'}",
        )


def _is_headers(type: DataType) -> bool:
    if not isinstance(type, ArrayType) or not isinstance(type.elementType, StructType):
        return False
    parts = {field.name: field.dataType for field in type.elementType.fields}
    return (
        set(parts) == {"key", "value"}
        and isinstance(parts["key"], StringType)
        and isinstance(parts["value"], (StringType, BinaryType))
    )


def _refuse_overwrite(overwrite: bool) -> None:
    if overwrite:
        raise BadInput("a stream cannot be overwritten", 'use .mode("append"); jsctl stream purge empties it')


def _get_task() -> TaskContext:
    task = TaskContext.get()
    if task is None:
        raise JsctlError("a JetStream writer was used outside of a Spark task")
    return task
