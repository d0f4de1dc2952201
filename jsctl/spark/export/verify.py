"""The comparison of an exported table with its stream.

Spark reads both and reduces each to a count, a range of sequences and a digest. If these differ, the two are
compared row by row.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

from jsctl.spark.export.formats import build_spark_options

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class Summary(NamedTuple):
    """A summary of rows. first, last: sequences, None without rows. digest: of all columns, in 32 hexadecimal
    digits; it does not depend on the order of rows."""

    messages: int
    first: int | None
    last: int | None
    digest: str


class Comparison(NamedTuple):
    """The differences between a table and its stream.

    table, stream: summaries of the rows that both should have. The others are numbers of rows. missing:
    messages that the table lacks. changed: rows with other values. repeated: further rows with the same
    sequence. foreign: rows outside the exported range. removed: rows whose message the stream no longer has,
    which does not count against the table.
    """

    table: Summary
    stream: Summary
    missing: int = 0
    changed: int = 0
    repeated: int = 0
    foreign: int = 0
    removed: int = 0

    @property
    def is_same(self) -> bool:
        """Whether the table has exactly the messages that it should have."""
        return not (self.missing or self.changed or self.repeated or self.foreign)


def compare(
    table: "DataFrame", stream: "DataFrame", first: int, end: int, first_available: int
) -> Comparison:
    """Compare a table with its stream.

    Args:
        table: as read back.
        stream: the same columns, from a second read of [first_available, end).
        first, end: the exported sequences, half open.
        first_available: the first sequence of these that the stream still has.
    """
    from pyspark.sql import functions as F

    columns = stream.columns
    table_hashes = table.select("sequence", _build_row_hash(table, columns))
    stream_hashes = stream.select("sequence", _build_row_hash(stream, columns))
    is_foreign = (F.col("sequence") < first) | (F.col("sequence") >= end) | F.col("sequence").isNull()
    counts = table_hashes.agg(
        F.count(F.when(is_foreign, 1)).alias("foreign"),
        F.count(F.when(~is_foreign & (F.col("sequence") < first_available), 1)).alias("removed"),
    ).collect()[0]
    comparable = table_hashes.where(~is_foreign & (F.col("sequence") >= first_available))
    table_summary, stream_summary = _summarize(comparable), _summarize(stream_hashes)
    comparison = Comparison(
        table_summary, stream_summary, foreign=counts["foreign"], removed=counts["removed"]
    )
    if counts["removed"]:
        # The part that the stream no longer has can be checked for repetitions only.
        superseded = table_hashes.where(~is_foreign & (F.col("sequence") < first_available))
        distinct = superseded.select("sequence").distinct().count()
        comparison = comparison._replace(repeated=counts["removed"] - distinct)
    if table_summary == stream_summary:
        return comparison
    return _count_differences(comparison, comparable, stream_hashes)


def _build_row_hash(frame: "DataFrame", columns: list[str]) -> "Column":
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType, MapType, StructType, VariantType

    parts: list[Column] = []
    for field in (frame.schema[name] for name in columns):
        column = F.col(f"`{field.name.replace('`', '``')}`")
        if isinstance(field.dataType, (ArrayType, MapType, StructType, VariantType)):
            column = F.to_json(column, build_spark_options("json"))
        parts += [column, column.isNull()]  # the hash skips nulls
    return F.xxhash64(*parts).alias("hash")


def _summarize(frame: "DataFrame") -> Summary:
    # bit_xor alone would not detect a pair of equal rows.
    total = "pmod(sum(CAST(hash AS DECIMAL(38, 0))), 18446744073709551616)"
    row: Any = frame.selectExpr(
        "count(1) AS messages",
        "min(sequence) AS first",
        "max(sequence) AS last",
        "coalesce(bit_xor(hash), 0) AS mixed",
        f"coalesce(CAST({total} AS STRING), '0') AS added",
    ).collect()[0]
    digest = f"{row['mixed'] & (1 << 64) - 1:016x}{int(row['added']):016x}"
    return Summary(row["messages"], row["first"], row["last"], digest)


def _count_differences(comparison: Comparison, table: "DataFrame", stream: "DataFrame") -> Comparison:
    from pyspark.sql import functions as F

    by_sequence = table.groupBy("sequence").agg(
        F.count("*").alias("n"), F.collect_set("hash").alias("hashes")
    )
    row: Any = (
        by_sequence.join(stream, "sequence", "full_outer")
        .selectExpr(
            "count_if(n IS NULL) AS missing",
            "count_if(n > 0 AND hash IS NOT NULL AND hashes != array(hash)) AS changed",
            "coalesce(sum(n - 1), 0) AS repeated",
            "count_if(hash IS NULL) AS removed",
        )
        .collect()[0]
    )
    return comparison._replace(
        missing=row["missing"],
        changed=row["changed"],
        repeated=comparison.repeated + row["repeated"],
        removed=comparison.removed + row["removed"],
    )
