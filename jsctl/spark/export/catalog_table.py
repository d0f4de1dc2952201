"""A table of a catalog, such as lake.shop.orders, and the position of an export in it.

Delta and Iceberg commit rows together with a text: `userMetadata` of a commit, a property of a snapshot. It
holds the checkpoint of the export, so that rows and position are always of the same moment, also after the
table was set back to an earlier version. A commit is built on the checkpoint that was read when the run was
planned: with Delta it has the next number of a transaction (`txnAppId`, `txnVersion`), with Iceberg it is
validated against the snapshot of that moment. Of two runs that planned the same, the table refuses one.
"""

import contextlib
import json
import re
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from jsctl.errors import BadInput, JsctlError
from jsctl.spark.decoding.model import BAD_PAYLOAD
from jsctl.spark.export.table_history import (
    KEY,
    Position,
    find_in_delta,
    find_in_iceberg,
    list_entries,
    name_property,
)
from jsctl.spark.session.spark_errors import extract_message, read_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

TABLE_FORMATS = ("delta", "iceberg")
"""Formats that commit rows and position together."""

_ABSENT = re.compile(
    r"TABLE_OR_VIEW_NOT_FOUND|PATH_NOT_FOUND|SCHEMA_NOT_FOUND|DELTA_(MISSING_DELTA_TABLE|TABLE_NOT_FOUND)"
)
_CONFLICT = re.compile(
    r"Concurrent\w*Exception|DELTA_CONCURRENT|DELTA_METADATA_CHANGED|Found (new )?conflicting"
    r"|CommitFailedException|ALREADY_EXISTS|AlreadyExists|Cannot commit"
)
_DELTA_TEXT = "spark.databricks.delta.commitInfo.userMetadata"
_ICEBERG_TEXT = "spark.sql.iceberg.snapshot-property."
"""Settings of a session for the text of its commits."""


class TableChanged(JsctlError):
    """Another one wrote to the table in the meantime. Nothing was written."""

    def __init__(self, table: str) -> None:
        super().__init__(
            f"another export or program changed {table}, and this run wrote nothing", "run it again"
        )


@dataclass(frozen=True, slots=True)
class RowRange:
    """The columns by which the rows of an export are found in a table. name: holds the name of the stream or
    bucket. number: the sequence."""

    name: str
    number: str

    def select(self, export: str, start: int | None = None, end: int | None = None) -> str:
        """Return SQL for the rows of an export, of [start, end) as far as these are given."""
        text = export.replace("\\", "\\\\").replace("'", "\\'")
        begins = f" AND {self.number} >= {start}" if start is not None else ""
        ends = f" AND {self.number} < {end}" if end is not None else ""
        return f"{self.name} = '{text}'{begins}{ends}"


OF_STREAM = RowRange("stream", "sequence")
OF_BUCKET = RowRange("bucket", "revision")


class Counts(NamedTuple):
    """The content of a table in numbers.

    first, last: sequences, None without rows. bytes: of payload. bad: payloads that could not be decoded.
    """

    rows: int = 0
    first: int | None = None
    last: int | None = None
    bytes: int = 0
    bad: int = 0


@dataclass(frozen=True, slots=True)
class Merge:
    """How rows are merged into those of a table.

    keys: columns. newer: SQL for whether the new row `s` takes the place of `t`. removed: SQL for the rows
    `t` to delete when no new one has their key, empty for none.
    """

    keys: Sequence[str]
    newer: str
    removed: str = ""


@dataclass(frozen=True, slots=True)
class CatalogTable:
    """A table of a catalog. name: as SQL writes it. spark: what reaches it; None before Spark has started."""

    name: str
    format: str
    spark: "SparkSession | None" = None

    def __str__(self) -> str:
        return self.name

    def connect(self, spark: "SparkSession") -> "CatalogTable":
        """Return this table as a session reaches it."""
        return replace(self, spark=spark)

    @property
    def session(self) -> "SparkSession":
        """The session that reaches this table."""
        if self.spark is None:
            raise RuntimeError(f"{self.name} is not connected")
        return self.spark

    def find(self) -> "DataFrame | None":
        """Return the rows of the table as they are now, None when there is no such table. Raises
        JsctlError."""
        try:
            self.refresh()
            return self.session.table(self.name)
        except Exception as error:
            text = read_text(error)
            if _ABSENT.search(text):
                return None
            raise _build_error(self, error) from None

    def refresh(self) -> None:
        """Have the session read the table anew, as others may have changed it. Raises what Spark raises."""
        if self.format == "iceberg":  # Delta looks by itself
            self.session.catalog.refreshTable(self.name)

    def find_position(self, export: str) -> Position:
        """Return where the export of this name stands. Raises JsctlError."""
        if self.format not in TABLE_FORMATS or self.find() is None:
            return Position()
        try:
            find = find_in_delta if self.format == "delta" else find_in_iceberg
            return find(self.session, self.name, export)
        except Exception as error:
            raise _build_error(self, error) from None


@dataclass(frozen=True, slots=True)
class TableWrite:
    """A write of rows to a table, together with a checkpoint, which is filled in before, or stays empty for a
    write that has no position.

    export: the name of the stream or bucket. mode: `append`, `overwrite` or `merge`. position: where the
    export stood when the write was planned. rows: which rows are its own. merge: for this mode.
    """

    table: CatalogTable
    export: str
    mode: str
    position: Position
    rows: RowRange
    checkpoint: dict[str, Any]
    merge: Merge | None = None
    run: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __str__(self) -> str:
        return self.table.name

    def write(self, frame: "DataFrame", partition_by: Sequence[str]) -> None:
        """Write and commit. Raises TableChanged when another run was faster, JsctlError when the table
        refuses."""
        table = self.table
        present = table.find()
        is_new = present is None or self.mode == "overwrite"
        try:
            if table.format not in TABLE_FORMATS:
                writer = frame.write.format(table.format).mode("overwrite" if is_new else "append")
                (writer.partitionBy(*partition_by) if partition_by else writer).saveAsTable(table.name)
            else:
                if present is not None and not is_new:
                    add_columns(table, present.schema, frame.schema)  # a commit without a checkpoint
                with self._with_checkpoint():
                    if is_new:
                        self._create(frame, partition_by, replaces=present is not None)
                    elif self.merge:
                        self._merge(frame, self.merge)
                        return
                    else:
                        self._append(frame)
        except Exception as error:
            if "jsctl." in read_text(error):  # of a task that reads the stream
                raise
            raise _build_error(table, error) from None
        if table.format in TABLE_FORMATS and not self._is_committed():
            raise TableChanged(table.name)

    def count(self, start: int | None = None, end: int | None = None) -> Counts:
        """Count what this write has put into a table that keeps positions, of [start, end) if these are
        given. Raises what Spark raises, JsctlError."""
        from pyspark.sql import functions as F

        table = self.table.find()
        if table is None:
            return Counts()
        if self.mode == "append":
            start = self.position.checkpoint.get("next", self.checkpoint["from"])
            end = self.checkpoint["next"]
        own = table.where(self.rows.select(self.export, start, end))
        payload = F.length("data") if "data" in table.columns else F.lit(0)
        bad = F.col(BAD_PAYLOAD) if BAD_PAYLOAD in table.columns else F.lit(None)
        number = self.rows.number
        row = own.agg(F.count("*"), F.min(number), F.max(number), F.sum(payload), F.count(bad)).collect()[0]
        return Counts(row[0], row[1], row[2], row[3] or 0, row[4])

    def _create(self, frame: "DataFrame", partition_by: Sequence[str], *, replaces: bool) -> None:
        from pyspark.sql import functions as F

        writer = frame.writeTo(self.table.name).using(self.table.format)
        if partition_by:
            writer = writer.partitionedBy(*map(F.col, partition_by))
        if replaces:
            writer.createOrReplace()
        else:
            writer.create()

    def _append(self, frame: "DataFrame") -> None:
        from pyspark.sql import functions as F

        writer = frame.writeTo(self.table.name)
        if self.table.format == "delta":
            transaction = {"txnAppId": f"{KEY} {self.export}", "txnVersion": str(self.position.number + 1)}
            writer.options(**transaction).append()
            return
        # Iceberg validates the rows that a write replaces, not those that it appends.
        writer = writer.option("isolation-level", "serializable")
        if self.position.base is not None:
            writer = writer.option("validate-from-snapshot-id", str(self.position.base))
        start = self.position.checkpoint.get("next", self.checkpoint["from"])
        writer.overwrite(F.expr(self.rows.select(self.export, start)))

    def _merge(self, frame: "DataFrame", merge: Merge) -> None:
        """Merge rows by key. A key keeps the newest of its rows, whichever run comes first."""
        session = self.table.session
        view = f"jsctl_{self.run}"
        frame.createOrReplaceTempView(view)
        same = " AND ".join(f"t.`{key}` <=> s.`{key}`" for key in merge.keys)
        removal = f" WHEN NOT MATCHED BY SOURCE AND {merge.removed} THEN DELETE" if merge.removed else ""
        try:
            session.sql(
                f"MERGE INTO {self.table.name} t USING {view} s ON {same}"
                f" WHEN MATCHED AND {merge.newer} THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *{removal}"
            )
        finally:
            session.catalog.dropTempView(view)

    @contextlib.contextmanager
    def _with_checkpoint(self) -> Iterator[None]:
        """Have each commit of the session hold the checkpoint, if there is one."""
        if not self.checkpoint:
            yield
            return
        conf = self.table.session.conf
        setting = (
            _DELTA_TEXT if self.table.format == "delta" else f"{_ICEBERG_TEXT}{name_property(self.export)}"
        )
        conf.set(setting, self._describe())
        try:
            yield
        finally:
            conf.unset(setting)

    def _describe(self) -> str:
        number = self.position.number + 1
        return json.dumps(
            {KEY: self.export, "commit": number, "run": self.run, "checkpoint": self.checkpoint},
            separators=(",", ":"),
        )

    def _is_committed(self) -> bool:
        """Return whether this write is in the table: Delta skips one that comes too late."""
        self.table.refresh()
        table = self.table
        for entry in list_entries(table.session, table.name, table.format, self.export):
            if entry["run"] == self.run:
                return True
            if entry["commit"] <= self.position.number:
                break
        return False


def add_columns(table: CatalogTable, present: "StructType", wanted: "StructType") -> None:
    """Add the columns, and fields of columns, that a table lacks. Raises what Spark raises."""
    for path, kind in _list_missing(present, wanted):
        quoted = ".".join(f"`{part.replace('`', '``')}`" for part in path)
        table.session.sql(f"ALTER TABLE {table.name} ADD COLUMN {quoted} {kind}")


def _list_missing(present: "DataType", wanted: "DataType") -> Iterator[tuple[tuple[str, ...], str]]:
    from pyspark.sql.types import ArrayType, StructType

    if isinstance(present, ArrayType) and isinstance(wanted, ArrayType):
        for path, kind in _list_missing(present.elementType, wanted.elementType):
            yield ("element", *path), kind
    if isinstance(present, StructType) and isinstance(wanted, StructType):
        types = {field.name.lower(): field.dataType for field in present.fields}
        for field_ in wanted.fields:
            if (known := types.get(field_.name.lower())) is None:
                yield (field_.name,), field_.dataType.simpleString()
            else:
                for path, kind in _list_missing(known, field_.dataType):
                    yield (field_.name, *path), kind


def _build_error(table: CatalogTable, error: Exception) -> JsctlError:
    if isinstance(error, JsctlError):
        return error
    text = read_text(error)
    if _CONFLICT.search(text):
        return TableChanged(table.name)
    if "some, but not all, rows match filter" in text:
        return JsctlError(
            f"{table} has files with rows before and after the position, and Iceberg replaces whole files",
            "export to another table",
        )
    if re.search(r"FileSystem not found|No FileSystem for scheme", text):
        return BadInput(f"this Spark lacks the file system of {table}", "add --packages auto")
    if re.search(r"UNSUPPORTED|does not support MERGE|NOT_SUPPORTED", text) and "MERGE" in text.upper():
        return BadInput(f"{table} has no MERGE", "use --format delta or iceberg")
    return JsctlError(f"cannot use {table}: {extract_message(error)}")
