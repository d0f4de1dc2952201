"""`df.write.format("jetstream")` and `df.writeStream`: rows as messages.

| column  | Spark type                                            |                                    |
|---------|-------------------------------------------------------|------------------------------------|
| subject | string                                                | not needed with the option subject |
| data    | binary or string                                      | null is an empty message           |
| headers | array of struct(key string, value binary or string)   | may be left out                    |
| msg_id  | string                                                | may be left out or null            |

What the reader gives beyond these (stream, sequence, timestamp) is passed over; other columns are refused.

Options: those of the connection, as for reading; `stream` (the one that must take all messages; looked up
before anything is published), `subject` (for rows that have none), `writeId` (batches only: the same one
makes a second write of the same rows a repetition of the first), `requestTimeout` (10s), `retries` (5).

A write is not a transaction: what was acknowledged before a task failed stays. Repeated tasks, and batches
that a stream repeats after a restart, carry the same message ids, and the server drops them within the
duplicate window of its stream. `jsctl.spark.sink.publishing` has the details.
"""

import asyncio
import os
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import ArrayType, BinaryType, DataType, StringType, StructType

from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput
from jsctl.nats import login
from jsctl.spark.session.task_archive import provide_pynacl
from jsctl.spark.sink import publishing
from jsctl.spark.sink.publishing import Counts, WriteJob
from jsctl.spark.source import options as read_options
from jsctl.units import SECOND

if TYPE_CHECKING:
    import pyarrow as pa

OPTION_NAMES = (*read_options.CONNECTION_OPTIONS, "stream", "subject", "writeId", "requestTimeout", "retries")

_OURS = ("subject", "data", "headers", "msg_id")
_READERS = ("stream", "sequence", "timestamp")


class Committed(WriterCommitMessage):
    """What a task published."""

    def __init__(self, counts: Counts) -> None:
        self.counts = counts


class JetStreamWriter(DataSourceArrowWriter):
    """Made on the driver; `write` runs in tasks."""

    def __init__(self, job: WriteJob) -> None:
        self.job = job

    def write(self, iterator: "Iterator[pa.RecordBatch]") -> Committed:
        provide_pynacl()
        return Committed(publishing.publish(self.job, _task().partitionId(), publishing.rows(iterator)))


class JetStreamStreamWriter(DataSourceStreamArrowWriter):
    """Message ids hold the query's id, which its checkpoint keeps, and the batch's number."""

    def __init__(self, job: WriteJob) -> None:
        self.job = job

    def write(self, iterator: "Iterator[pa.RecordBatch]") -> Committed:
        provide_pynacl()
        task = _task()
        query = task.getLocalProperty("sql.streaming.queryId")
        batch = task.getLocalProperty("streaming.sql.batchId")
        if not query or batch is None:
            raise BadInput("Spark does not say which batch this is", "write with foreachBatch and writeId")
        job = replace(self.job, write=f"{query}/{batch}")
        return Committed(publishing.publish(job, task.partitionId(), publishing.rows(iterator)))


def parse(
    options: Mapping[str, str],
    schema: StructType,
    environ: Mapping[str, str] = os.environ,
    *,
    streaming: bool = False,
    settings: Settings | None = None,
) -> WriteJob:
    """Raises BadInput for options or columns that do not fit, NotFound for an unknown context.

    settings: the connection's, which the options then leave out.
    """
    given = {name.lower(): value for name, value in options.items()}
    # Spark hands over the query's own.
    for own in ("checkpointlocation", "queryname") if streaming else ():
        given.pop(own, None)
    read_options.refuse_unknown_options(given, OPTION_NAMES)
    take = read_options.OptionValues(given)
    if streaming and "writeid" in given:
        raise BadInput("writeId is for df.write", "a stream has its query's id and batch")
    job = WriteJob(
        settings=replace(
            asyncio.run(login.with_files(read_options.connection_settings(given, environ, settings))),
            timeout=take.duration("requestTimeout", 10 * SECOND),
        ),
        stream=take.text("stream"),
        subject=take.text("subject"),
        write=take.text("writeId") or uuid.uuid4().hex,
        retries=take.count("retries", 5, least=0),
    )
    if any(c in job.stream for c in " .*>/\\\t\r\n"):
        raise BadInput(f"{job.stream!r} is no stream name")
    check_columns(schema, job.subject)
    return job


def writer(
    options: Mapping[str, str], schema: StructType, overwrite: bool, settings: Settings | None = None
) -> JetStreamWriter:
    """Raises what `parse` and `publishing.check` do."""
    _refuse_overwrite(overwrite)
    job = parse(options, schema, settings=settings)
    provide_pynacl()  # Spark plans in a Python of the executors, too
    publishing.check(job)
    return JetStreamWriter(job)


def stream_writer(
    options: Mapping[str, str], schema: StructType, overwrite: bool, settings: Settings | None = None
) -> JetStreamStreamWriter:
    """Raises what `parse` does. Spark makes one more at the end of each batch: nothing is looked up."""
    _refuse_overwrite(overwrite)
    return JetStreamStreamWriter(parse(options, schema, streaming=True, settings=settings))


def check_columns(schema: StructType, subject: str = "") -> None:
    """Raise BadInput unless rows of this schema are messages."""
    types: dict[str, DataType] = {field.name: field.dataType for field in schema.fields}
    for name in types:
        if name not in (*_OURS, *_READERS):
            raise BadInput(
                f"column {name} is none of {', '.join(_OURS)}", "select the columns that make a message"
            )
    if "data" not in types:
        raise BadInput("there is no column data", "name what the messages hold data: binary or string")
    if "subject" not in types and not subject:
        raise BadInput("there is no column subject", "add one, or give the option subject")
    text, either = (StringType,), (StringType, BinaryType)
    for name, wanted in (("subject", text), ("msg_id", text), ("data", either)):
        if name in types and not isinstance(types[name], wanted):
            raise BadInput(f"column {name} is {types[name].simpleString()}", "cast it to string")
    if "headers" in types and not _headers(types["headers"]):
        raise BadInput(
            f"column headers is {types['headers'].simpleString()}",
            "make it array<struct<key:string,value:binary>>",
        )


def _headers(type: DataType) -> bool:
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
        raise BadInput("a stream is not overwritten", 'say .mode("append"); jsctl stream purge empties one')


def _task() -> TaskContext:
    task = TaskContext.get()
    assert task is not None
    return task
