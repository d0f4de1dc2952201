"""Is an exported table what the stream says? Both are read, reduced by Spark to a count, a range of sequences
and a digest, and compared; where they differ, row by row."""

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class Summary(NamedTuple):
    """first, last: sequences, None for none. digest: 32 hex digits, of all columns, in any order of rows."""

    messages: int
    first: int | None
    last: int | None
    digest: str


class Verdict(NamedTuple):
    """table, stream: the parts that are compared. missing: in the stream, not in the table. changed: other
    values. twice: rows beyond the first of a sequence. foreign: outside of what was exported. gone: only in
    the table, deleted from the stream since; no fault."""

    table: Summary
    stream: Summary
    missing: int = 0
    changed: int = 0
    twice: int = 0
    foreign: int = 0
    gone: int = 0

    @property
    def good(self) -> bool:
        return not (self.missing or self.changed or self.twice or self.foreign)


def verify(table: "DataFrame", stream: "DataFrame", first: int, end: int, left: int) -> Verdict:
    """table: as read back. stream: the same columns, from a second read of [left, end). [first, end) is what
    was exported, `left` the first sequence that the stream still has."""
    from pyspark.sql import functions as F

    columns = stream.columns
    ours = table.select("sequence", _hash(table, columns))
    theirs = stream.select("sequence", _hash(stream, columns))
    outside = (F.col("sequence") < first) | (F.col("sequence") >= end) | F.col("sequence").isNull()
    counted = ours.agg(
        F.count(F.when(outside, 1)).alias("foreign"),
        F.count(F.when(~outside & (F.col("sequence") < left), 1)).alias("gone"),
    ).collect()[0]
    compared = ours.where(~outside & (F.col("sequence") >= left))
    one, other = _summary(compared), _summary(theirs)
    verdict = Verdict(one, other, foreign=counted["foreign"], gone=counted["gone"])
    # The part that the stream has no more can be checked for repetitions only.
    old = ours.where(~outside & (F.col("sequence") < left))
    if counted["gone"]:
        verdict = verdict._replace(twice=counted["gone"] - old.select("sequence").distinct().count())
    return verdict if one == other else _differences(verdict, compared, theirs)


def _hash(frame: "DataFrame", columns: list[str]) -> "Column":
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType, MapType, StructType

    parts: list[Column] = []
    for field in (frame.schema[name] for name in columns):
        column = F.col(f"`{field.name.replace('`', '``')}`")
        if isinstance(field.dataType, (ArrayType, MapType, StructType)):
            column = F.to_json(column)
        parts += [column, column.isNull()]  # the hash passes over nulls
    return F.xxhash64(*parts).alias("hash")


def _summary(frame: "DataFrame") -> Summary:
    row: Any = frame.selectExpr(
        "count(1) AS messages", "min(sequence) AS first", "max(sequence) AS last",
        "coalesce(bit_xor(hash), 0) AS mixed",
        # A pair of the same rows would vanish from bit_xor.
        "coalesce(CAST(pmod(sum(CAST(hash AS DECIMAL(38, 0))), 18446744073709551616) AS STRING), '0')"
        " AS added",
    ).collect()[0]  # fmt: skip
    digest = f"{row['mixed'] & (1 << 64) - 1:016x}{int(row['added']):016x}"
    return Summary(row["messages"], row["first"], row["last"], digest)


def _differences(verdict: Verdict, table: "DataFrame", stream: "DataFrame") -> Verdict:
    from pyspark.sql import functions as F

    mine = table.groupBy("sequence").agg(F.count("*").alias("n"), F.collect_set("hash").alias("hashes"))
    row: Any = (
        mine.join(stream, "sequence", "full_outer")
        .selectExpr(
            "count_if(n IS NULL) AS missing",
            "count_if(n > 0 AND hash IS NOT NULL AND hashes != array(hash)) AS changed",
            "coalesce(sum(n - 1), 0) AS twice",
            "count_if(hash IS NULL) AS gone",
        )
        .collect()[0]
    )
    return verdict._replace(
        missing=row["missing"],
        changed=row["changed"],
        twice=verdict.twice + row["twice"],
        gone=verdict.gone + row["gone"],
    )
