"""Rows that are stored in a key-value bucket, with the columns that reading a bucket returns.

| column    | Spark type       |                                                                    |
|-----------|------------------|--------------------------------------------------------------------|
| key       | string           |                                                                    |
| value     | binary or string | null deletes the key, unless the column operation says what to do  |
| operation | string           | put, delete or purge; may be left out or null                      |
| bucket, revision | string, long | may be left out: the entry that the row comes from              |

`created` is ignored. Any other columns are refused.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput
from jsctl.jetstream.api import build_api_prefix
from jsctl.jetstream.kv.entry import DELETE, PURGE, PUT, build_headers
from jsctl.jetstream.kv.names import bucket_to_stream, build_subject_prefix, validate_new_key
from jsctl.spark.sink.row import Row, list_columns

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

_COLUMNS = ("key", "value", "operation", "bucket", "revision")
_IGNORED_COLUMNS = ("created",)
_OPERATIONS = {"put": PUT, "delete": DELETE, "del": DELETE, "purge": PURGE}
_HEADERS = {
    operation: tuple((name, text.encode()) for name, text in build_headers(operation))
    for operation in (PUT, DELETE, PURGE)
}


def check_bucket_columns(schema: "StructType") -> None:
    """Raise BadInput unless rows of this schema are entries of a bucket."""
    from pyspark.sql.types import (
        BinaryType,
        StringType,
    )  # the driver has it; a command that is loaded may not

    types = {field.name: field.dataType for field in schema.fields}
    for name in types:
        if name not in (*_COLUMNS, *_IGNORED_COLUMNS):
            raise BadInput(
                f"column {name} is not one of {', '.join(_COLUMNS)}", "select the columns of a bucket"
            )
    for name, allowed_types in (("key", (StringType,)), ("value", (StringType, BinaryType))):
        if name not in types:
            raise BadInput(f"there is no column {name}", "a bucket takes the columns key and value")
        if not isinstance(types[name], allowed_types):
            raise BadInput(f"column {name} is {types[name].simpleString()}", "cast it to string")
    if "operation" in types and not isinstance(types["operation"], StringType):
        raise BadInput(f"column operation is {types['operation'].simpleString()}", "cast it to string")


def list_bucket_rows(settings: Settings, bucket: str, batches: "Iterable[pa.RecordBatch]") -> Iterator[Row]:
    """Yield the rows of Arrow batches as messages of a bucket. Raises BadInput for a row that is no entry."""
    target, prefix = (
        build_subject_prefix(bucket),
        build_api_prefix(settings.js_domain, settings.js_api_prefix),
    )
    if prefix != build_api_prefix():
        target = f"{prefix}.{target}"  # the server maps $JS.<domain>.API.$KV to $KV there
    for values in list_columns(batches, _COLUMNS):
        yield _build_row(target, *values)


def _build_row(target: str, key: Any, value: Any, operation_name: Any, origin: Any, revision: Any) -> Row:
    if key is None:
        raise BadInput("a row has no key", "leave it out: where key IS NOT NULL")
    validate_new_key(key)
    if operation_name is None:
        operation = DELETE if value is None else PUT
    elif operation_name.lower() in _OPERATIONS:
        operation = _OPERATIONS[operation_name.lower()]
    else:
        raise BadInput(
            f"key {key} has the operation {operation_name!r}",
            "use put, delete or purge in the column operation",
        )
    if operation == PUT and value is None:
        raise BadInput(f"key {key} has the operation put, but no value", "use delete to remove the key")
    return Row(
        target + key,
        value if operation == PUT else b"",
        stream=bucket_to_stream(origin) if origin else None,
        sequence=revision,
        own_headers=_HEADERS[operation],
    )
