"""The columns to partition a table of messages by."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from jsctl.errors import BadInput
from jsctl.spark.decoding.model import BAD_PAYLOAD

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""What Hive, and so Spark, calls the folder of a partition for no value."""
NO_VALUE_PATTERN = f"^_*{NO_VALUE}$"


def parse_partitions(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the values of --partition-by as (column, SQL).

    They are date, hour (which brings its date), subject:N, the Nth token of the subject, from 1, and
    field:NAME, a field of payloads. Raises BadInput.
    """
    columns: dict[str, str] = {}
    for name in names:
        token = re.fullmatch(r"subject:([1-9]\d{0,2})", name)
        if name in ("date", "hour"):
            columns["date"] = "to_date(timestamp)"
            if name == "hour":
                columns["hour"] = "hour(timestamp)"
        elif token:
            columns[f"subject_{token[1]}"] = _as_folder(f"get(split(subject, '[.]'), {int(token[1]) - 1})")
        elif path := parse_field(name):
            column = re.sub(r"\W", "_", f"field_{'_'.join(path)}")
            if column in columns:
                raise BadInput(f"--partition-by names two fields that would be {column}", "name one of them")
            quoted = ".".join(f"`{part.replace('`', '``')}`" for part in path)
            columns[column] = _as_folder(f"nullif(CAST({quoted} AS STRING), '')")
        else:
            raise BadInput(
                f"--partition-by {name!r} is not date, hour, subject:N or field:NAME",
                "for example subject:2 or field:customer",
            )
    return list(columns.items())


def parse_field(name: str) -> tuple[str, ...]:
    """Return the path of a field of payloads that --partition-by names; empty for anything else."""
    start, _, path = name.partition("field:")
    return tuple(path.split(".")) if not start and all(path.split(".")) else ()


def _as_folder(text: str) -> str:
    """Return SQL for a text of which each value has a folder of its own: one that is called like the folder
    for no value gets another `_`."""
    return f"regexp_replace({text}, '{NO_VALUE_PATTERN}', '_$0')"


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
