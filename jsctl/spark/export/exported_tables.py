"""Reading of tables that `jsctl export stream` wrote, and conversion of their rows back into messages.

The checkpoint of a table records how payloads and headers were stored. Subjects that are not UTF-8 cannot be
restored, as no format can store them.
"""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from jsctl.errors import BadInput
from jsctl.spark.decoding.model import BAD_PAYLOAD, WITH_FIELDS
from jsctl.spark.export.commit_log import StateReader, TableState, read_state
from jsctl.spark.export.formats import FILE_FORMATS, build_spark_options
from jsctl.spark.export.stream_target import KIND, read_checkpoint
from jsctl.spark.export.target import read_marker
from jsctl.spark.export.text_formats import to_base64
from jsctl.spark.session.folders import read_path, write_path
from jsctl.spark.session.hadoop import HadoopPath, Place, StoredFile

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
    from pyspark.sql.types import StructType


def find_tables(path: Place) -> tuple[str, dict[Place, dict[str, Any]]]:
    """Return the format and the tables, with their checkpoints, of an export's folder. `path` may also be one
    of its tables, or a part of one.

    Both are empty for any other path. Raises JsctlError when they cannot be read.
    """
    path = path.absolute()
    for folder in (path, *path.parents):
        marker = read_marker(folder) if folder.is_dir() else None
        if marker and marker.get("kind") == KIND:
            if folder == path:
                tables: dict[Place, str] = {folder / str(name): str(name) for name in marker["tables"]}
            else:
                tables = {path: _find_table(folder, path)}
            checkpoints = {table: read_checkpoint(folder, name) for table, name in tables.items()}
            return str(marker.get("format")), {
                table: checkpoint for table, checkpoint in checkpoints.items() if checkpoint is not None
            }
    return "", {}


def _find_table(folder: Any, path: Any) -> str:
    """Return the name of the table in a folder that a path is in."""
    return str(path.relative_to(folder).parts[0])


def read_table(
    spark: "SparkSession",
    folder: Place,
    format: str,
    schema: "StructType",
    files: Sequence[StoredFile] | None = None,
    read: StateReader = read_state,
) -> "DataFrame":
    """Return a table as it was written, empty if it has no files. Raises what Spark raises.

    files: of the folder, those to read; None for all that count.
    """
    reader = spark.read.format(format).options(**build_spark_options(format))
    if format in FILE_FORMATS:
        reader = reader.schema(schema)
        if isinstance(folder, HadoopPath):
            counted = find_committed(folder, read) if files is None else files
            return load_files(reader, folder, counted, schema)
    if not folder.exists():
        return spark.createDataFrame([], schema)
    return reader.load(read_path(folder))


def load_files(
    reader: "DataFrameReader",
    folder: HadoopPath,
    files: Sequence[StoredFile] | None,
    schema: "StructType | str | None" = None,
) -> "DataFrame":
    """Return what a reader reads of a folder: these files, or everything if `files` is None.

    schema: of a table without files. Raises what Spark raises.
    """
    if files is None:
        return reader.load(read_path(folder))
    if not files and schema is not None:
        return folder.find_session().createDataFrame([], schema)
    paths = [read_path(file.path) for file in files]
    return reader.option("basePath", write_path(folder)).load(paths)


def find_committed(folder: HadoopPath, read: StateReader = read_state) -> list[StoredFile] | None:
    """Return the files of an exported table that count; None when all in the folder do."""
    for root in folder.parents:
        state = read(root)
        if state is None:
            continue
        name = _find_table(root, folder)
        table = state.tables.get(name, TableState())
        files = folder.list_files()
        committed = [file for file in files if table.counts(file, root / name)]
        visible = [file for file in committed if not file.path.name.startswith(("_", "."))]
        return visible if len(committed) < len(files) or not visible else None
    return None


def read_exported(
    spark: "SparkSession",
    folder: Place,
    format: str,
    checkpoint: dict[str, Any],
    read: StateReader = read_state,
) -> "DataFrame":
    """Return a table with the columns that its checkpoint names. Raises what Spark raises."""
    from pyspark.sql.types import StructType

    return read_table(spark, folder, format, StructType.fromJson(checkpoint["columns"]), read=read)


def check_columns(folder: object, checkpoint: dict[str, Any], names: Collection[str]) -> list[str]:
    """Return the names of the columns of a table. names: those of the rows to add or compare.

    Raises BadInput when the table has one that these lack: earlier versions called base64 `data`.
    """
    columns = list(dict.fromkeys(field["name"] for field in checkpoint["columns"]["fields"]))
    if missing := next((name for name in columns if name not in names), ""):
        raise BadInput(
            f"an earlier version wrote {folder}: its column {missing} does not say that it is base64",
            "export the stream to another folder",
        )
    return columns


def check_has_payloads(folder: Place, checkpoint: dict[str, Any]) -> None:
    """Raise BadInput when the payloads are not in the table."""
    settings = checkpoint["settings"]
    if settings.get("bucket") or settings.get("objects"):
        raise BadInput(f"{folder} is a table of a bucket, not of messages", "export its stream to import it")
    if settings.get("query"):
        raise BadInput(f"{folder} is the result of a query, not a table of messages", "import an export")
    if settings.get("keep_data"):
        return
    if settings.get("decode") in WITH_FIELDS:
        raise BadInput(
            f"the payloads are not in {folder}, which was exported with --decode {settings['decode']}",
            "export it with --keep-data",
        )
    if settings.get("decompress"):
        raise BadInput(
            f"the payloads in {folder} were decompressed", "export it without --decompress to import it"
        )


def restore_messages(table: "DataFrame", format: str, checkpoint: dict[str, Any]) -> "DataFrame":
    """Return the columns stream, subject, sequence, timestamp, data (binary), and headers if they were
    exported.
    """
    from pyspark.sql import functions as f

    decode = checkpoint["settings"].get("decode")
    # CSV has no binary type and stores base64; for JSON, Spark decodes that itself.
    as_text = format == "csv"

    def find(name: str) -> "Column":
        # Earlier versions called it `data` in every format.
        return f.col(f"{name}_base64" if f"{name}_base64" in table.columns else name)

    def build_binary_column(name: str) -> "Column":
        return f.to_binary(find(name), f.lit("base64")) if as_text else find(name)

    if decode == "text":
        payload = f.col("data").cast("binary")
    elif decode == "base64":
        payload = (find("data") if as_text else to_base64(find("data"))).cast("binary")
    else:
        payload = build_binary_column("data")
    if decode in ("text", "base64"):
        payload = f.coalesce(payload, build_binary_column(BAD_PAYLOAD))
    payload = f.coalesce(payload, f.lit("").cast("binary"))
    columns = [f.col(name) for name in ("stream", "subject", "sequence", "timestamp")]
    if "headers" in table.columns:
        pairs = "array<struct<key: string, value: binary>>"
        headers = f.col("headers").cast(pairs)
        if as_text:
            fields = "array<struct<key: string, value_base64: binary, value: binary>>"
            headers = f.transform(
                f.from_json("headers", fields),
                lambda pair: f.struct(
                    pair["key"].alias("key"),
                    f.coalesce(pair["value_base64"], pair["value"]).alias("value"),
                ),
            )
        columns.append(headers.alias("headers"))
    return table.select(*columns, payload.alias("data"))
