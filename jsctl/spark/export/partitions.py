"""The columns to partition a table of messages by, in SQL for Spark, and in Arrow for tasks that write."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from jsctl.errors import BadInput
from jsctl.spark.decoding.model import BAD_PAYLOAD

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import DataType, StructType

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""What Hive, and so Spark, calls the folder of a partition for no value."""
NO_VALUE_PATTERN = f"^_*{NO_VALUE}$"


class Partition(NamedTuple):
    """A column to partition by. sql: its value. build: the same from the columns of messages and of their
    decoded payloads. type: as JSON has types of Spark."""

    name: str
    sql: str
    build: "Callable[[Mapping[str, pa.Array]], pa.Array]"
    type: str = "string"


def parse_partitions(names: Sequence[str]) -> list[Partition]:
    """Return what the values of --partition-by mean.

    They are date, hour (which brings its date), subject:N, the Nth token of the subject, from 1, and
    field:NAME, a field of payloads. Raises BadInput.
    """
    columns: dict[str, Partition] = {}
    for name in names:
        token = re.fullmatch(r"subject:([1-9]\d{0,2})", name)
        if name in ("date", "hour"):
            found = [_DATE, _HOUR] if name == "hour" else [_DATE]
        elif token:
            found = [_partition_by_token(int(token[1]))]
        elif path := parse_field(name):
            found = [_partition_by_field(path)]
            if found[0].name in columns:
                raise BadInput(
                    f"--partition-by names two fields that would be {found[0].name}", "name one of them"
                )
        else:
            raise BadInput(
                f"--partition-by {name!r} is not date, hour, subject:N or field:NAME",
                "for example subject:2 or field:customer",
            )
        columns |= {column.name: column for column in found}
    return list(columns.values())


def _build_date(columns: "Mapping[str, pa.Array]") -> "pa.Array":
    import pyarrow as pa

    return columns["timestamp"].cast(pa.timestamp("us")).cast(pa.date32(), safe=False)


def _build_hour(columns: "Mapping[str, pa.Array]") -> "pa.Array":
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.hour(columns["timestamp"]).cast(pa.int32())


_DATE = Partition("date", "to_date(timestamp)", _build_date, "date")
_HOUR = Partition("hour", "hour(timestamp)", _build_hour, "integer")


def _partition_by_token(number: int) -> Partition:
    sql = _as_folder(f"get(split(subject, '[.]'), {number - 1})")
    return Partition(f"subject_{number}", sql, partial(_build_tokens, number))


def _build_tokens(number: int, columns: "Mapping[str, pa.Array]") -> "pa.Array":
    import pyarrow as pa

    subjects = columns["subject"].dictionary_encode()
    tokens = [(subject or "").split(".") for subject in subjects.dictionary.to_pylist()]
    values = [tokens[number - 1] if number <= len(tokens) else None for tokens in tokens]
    return _as_folders(pa.array(values, pa.string())).take(subjects.indices)


def _partition_by_field(path: Sequence[str]) -> Partition:
    """Return the column with the texts of a field, null for empty ones."""
    quoted = ".".join(f"`{part.replace('`', '``')}`" for part in path)
    sql = _as_folder(f"nullif(CAST({quoted} AS STRING), '')")
    return Partition(re.sub(r"\W", "_", f"field_{'_'.join(path)}"), sql, partial(_build_texts, path))


def _build_texts(path: Sequence[str], columns: "Mapping[str, pa.Array]") -> "pa.Array":
    import pyarrow as pa
    import pyarrow.compute as pc

    column = columns[path[0]]
    for name in path[1:]:
        column = pc.struct_field(column, column.type.get_field_index(name))
    texts = column.cast(pa.string())
    return _as_folders(pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts))


def parse_field(name: str) -> tuple[str, ...]:
    """Return the path of a field of payloads that --partition-by names; empty for anything else."""
    start, _, path = name.partition("field:")
    return tuple(path.split(".")) if not start and all(path.split(".")) else ()


def _as_folder(text: str) -> str:
    """Return SQL for a text of which each value has a folder of its own: one that is called like the folder
    for no value gets another `_`."""
    return f"regexp_replace({text}, '{NO_VALUE_PATTERN}', '_$0')"


def _as_folders(texts: "pa.Array") -> "pa.Array":
    """Return the same of texts."""
    import pyarrow.compute as pc

    return pc.replace_substring_regex(texts, NO_VALUE_PATTERN, r"_\0")


def check_partition_fields(columns: "StructType", partition_by: Sequence[str]) -> None:
    """Raise BadInput unless the fields to partition by are among the columns, with types whose texts are the
    same everywhere."""
    from pyspark.sql.types import BooleanType, DateType, IntegralType, StringType, StructType

    for path in filter(None, map(parse_field, partition_by)):
        name = ".".join(path)
        type: DataType = columns
        for part in path:
            if not isinstance(type, StructType) or part not in type.names:
                known = ", ".join(field for field in columns.names if field != BAD_PAYLOAD)
                raise BadInput(f"--partition-by field:{name}: no payload has this field", f"use {known}")
            type = type[part].dataType
        if not isinstance(type, (BooleanType, DateType, IntegralType, StringType)):
            raise BadInput(
                f"--partition-by field:{name}: its type is {type.simpleString()}",
                "use a field that is text, a whole number, a date, or true or false",
            )
