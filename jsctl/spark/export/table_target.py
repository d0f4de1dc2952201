"""An export to a table of a catalog; see `jsctl.spark.export.catalog_table`.

Nothing is locked, and a run that is killed leaves nothing that counts: the table's own commits decide. The
position is read once before each plan, so that a plan and its commit are of the same moment.
"""

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jsctl.errors import BadInput
from jsctl.spark.export.catalog_table import CatalogTable, Merge, RowRange, TableWrite
from jsctl.spark.export.table_history import Position
from jsctl.spark.session.session import CATALOG, HIVE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from jsctl.spark.session.hadoop import StoredFile

MODES = ("append", "overwrite", "merge")


class TableTarget:
    """An export of one stream or bucket to a table of a catalog. export: the name of the stream or bucket."""

    needs_session = True
    save_mode = "append"

    def __init__(self, name: str, format: str, mode: str, export: str, rows: RowRange) -> None:
        self.path = CatalogTable(name, format)
        self.format = format
        self.mode = mode
        self.tables: Sequence[str] = [export]
        self.export = export
        self.rows = rows
        self.merge: Merge | None = None  #: what a merge does, set before it
        self._position: Position | None = None

    def connect(self, spark: "SparkSession") -> None:
        """Connect to the table. Raises JsctlError."""
        self.path = self.path.connect(spark)

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Lock nothing: of two runs that planned the same, the table refuses the second."""
        self._position = None
        yield

    @property
    def position(self) -> Position:
        """Where the export stands, as it was read when this run was planned."""
        if self._position is None:
            self._position = self.path.find_position(self.export)
        return self._position

    def read_checkpoint(self, table: str) -> dict[str, Any] | None:
        """Return the checkpoint, None when the table has none."""
        return dict(self.position.checkpoint) or None

    def complete_killed_runs(self) -> None:
        """Do nothing: what a killed run did not commit does not count."""

    def list_existing_tables(self) -> list[str]:
        """Return the name of the export when its table exists."""
        return [] if self.path.find() is None else [self.export]

    def list_uncommitted(self, table: str) -> "list[StoredFile] | None":
        """Return None: a table shows only what is committed."""

    def read(self, spark: "SparkSession", schema: "StructType") -> "DataFrame":
        """Return the rows of the export in the table."""
        found = self.path.find()
        if found is None:
            return spark.createDataFrame([], schema)
        return found.where(self.rows.select(self.export)).select(*(f"`{n}`" for n in schema.names))

    @contextlib.contextmanager
    def commit(self, table: str, *, replace: bool = False) -> Iterator[tuple[TableWrite, dict[str, Any]]]:
        """Yield (what writes rows, checkpoint to fill in before). What is written is committed by then.

        replace: the table is written for the first time, or again with the mode `overwrite`.
        """
        checkpoint: dict[str, Any] = {}
        mode = "append" if self.mode == "overwrite" and not replace else self.mode
        merge = self.merge if mode == "merge" else None
        try:
            yield (
                TableWrite(self.path, self.export, mode, self.position, self.rows, checkpoint, merge),
                checkpoint,
            )
        finally:
            self._position = None  # as others may have written, too


def parse_table(text: str) -> str:
    """Return the name of a table as SQL writes it. Raises BadInput."""
    parts = re.findall(r"`(?:[^`]|``)+`|[^.`\s]+", text)
    if not 2 <= len(parts) <= 6 or ".".join(parts) != text:
        raise BadInput(f"--table {text!r} is not the name of a table", "write CATALOG.DB.NAME")
    return ".".join(part if part.startswith("`") else f"`{part}`" for part in parts)


def check_settings(name: str, format: str, settings: Mapping[str, str]) -> None:
    """Raise BadInput when Spark would not know the catalog of a table, or forget the table. settings: of the
    session."""
    catalog, *rest = re.findall(r"`((?:[^`]|``)+)`", name)
    own = len(rest) < 2 or catalog == "spark_catalog"
    is_path = format == "delta" and catalog.lower() == format
    is_kept = settings.get(CATALOG) == HIVE or any(
        key.startswith("spark.sql.catalog.spark_catalog.") for key in settings
    )
    if own and not is_path and not is_kept:
        path = ", or --table 'delta.`/folder`' needs none" if format == "delta" else ""
        raise BadInput(
            f"{name.replace('`', '')} is in the catalog of this session, which is gone when it ends",
            f"--conf {CATALOG}={HIVE} keeps it in a metastore{path}",
        )
    if not own and f"spark.sql.catalog.{catalog}" not in settings:
        raise BadInput(
            f"Spark has no catalog {catalog}",
            f"name its class with --conf spark.sql.catalog.{catalog}=CLASS, and what that needs",
        )
