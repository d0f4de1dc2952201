"""JSON with a schema beside Spark's `from_json`: the differences are those that the manual states."""

import re
from typing import Any

import pyarrow as pa
import pytest

from jsctl.spark.decoding.columns import PayloadColumns
from jsctl.spark.decoding.model import Decoding

pytestmark = pytest.mark.spark

NUMBERS = re.split(
    r"\s+",
    """1 -1 0 -0 1.0 1.5 1e2 1E2 1e-1 1.5e1 127 128 -129 32768 2147483648 9223372036854775807
    9223372036854775808 12345678901234567890123456789012345678 123456789012345678901234567890123456789
    1e400 1e-400 0.1 100.005 100.015 99999999.995 01 - +1 .5 NaN Infinity -Infinity""",
)
TEXTS = [
    f'"{text}"'
    for text in re.split(
        "[|]",
        "|1|1.5| 1 |1_000|1,000|１２|1e2|NaN|Infinity|-Infinity|INF|+INF|-INF|inf|nan|+Infinity|true|x|null"
        "|0x1F|1d|1f|1 000|1'000",
    )
]
OTHERS = ["null", "true", "false", "[]", "{}", "[1]", '{"a":1}']
STRINGS = ['"a\\u0041"', "[1, 2]", '{"b": 1.10, "a": [1e2]}', '"\\ud83d\\ude00"', '"\\ud800"', "1.10"]
TIMES = [
    f'"{text}"'
    for text in """2026-11-21|2026-1-2|2026-11-21T06:57:05Z|2026-11-21 06:57:05|2026-11-21T06:57:05
        |2026-11-21x06:57:05|2026-11-21_06:57:05|20261121T065705|20261121|2026-W47-6|2026-325
        |2026-11-21T06:57:05,123|2026-11-21T06|2026-11-21T06:57|2026-11-21T6:7|2026-11-21T06:57:05.1234567Z
        |2026-11-21T06:57:05.1Z|2026-11-21T06:57:05+02:00|2026-11-21T06:57:05+0200|2026-11-21T06:57:05+02
        |2026-11-21T06:57:05 +02:00|2026-11-21T06:57:05 Europe/Berlin|2026-11-21T06:57:05 UTC
        |2026-11-21T06:57:05z|2026-11-21T06:57:05UTC|2026-11-21T24:00:00Z|2026-11-21T06:57:60Z|2026-02-30
        |0001-01-01T00:00:00Z|9999-12-31T23:59:59.999999Z|10000-01-01T00:00:00Z|+10000-01-01|-0001-01-01
        |0000-01-01|2026-11-21 garbage|2026-11-21Tgarbage|2026|2026-11|26-11-21|06:57:05|T06:57:05Z|now
        |1700000000|2026-11-21T06:57:05.123456789123|2026/11/21|11/21/2026|2026-11-21T06:57:05-00:00
        |2026-11-21T06:57:05+18:00|2026-11-21T06:57:05+19:00|2026-11-21T06:57:05+02:00:30|２０２６-11-21
        |2026-11-21T06:57:05Z[UTC]""".replace("\n", "")
    .replace(" " * 8, "")
    .split("|")
] + ["0", "1700000000", "1700000000000", "1.5", "-1", "1e9", '" 2026-11-21 "']
BASE64 = [
    f'"{text}"'
    for text in ("AAE=", "AAE", "AA==", "", "*", "A A E=", "AAE=\\r\\n", "_-8=", "/+8=", "AAE=AAE=")
]
KEYS = [
    '{"a":1,"a":2}',
    '{"A":1}',
    '{"":1}',
    '{"a":null}',
    '{"a":"x"}',
    '"{}"',
    '[{"a":1}]',
    '[1,"x"]',
    "[null]",
]

VALUES = {
    "TINYINT SMALLINT INT BIGINT FLOAT DOUBLE DECIMAL(4,2) DECIMAL(38,10) BOOLEAN": [
        *NUMBERS,
        *TEXTS,
        *OTHERS,
    ],
    "STRING": [*NUMBERS, *TEXTS, *OTHERS, *STRINGS, *KEYS],
    "BINARY": [*BASE64, *OTHERS, "1"],
    "DATE TIMESTAMP TIMESTAMP_NTZ": [*TIMES, *OTHERS],
    "ARRAY<INT> MAP<STRING,INT> STRUCT<a:INT>": [*KEYS, *OTHERS],
}
ROOTS = """{"v":1}|{"v":1,"v":2}|{"V":1}|{"V":1,"v":2}|[{"v":1}]|[]|[{"v":1},{"v":2}]|{"v":1} x|{"v":1}{"v":2}
    |{}|null|1|"x"||  |{"v":1|{v:1}|{'v':1}|{"v":1}//c|/*c*/{"v":1}|{"v":1,}|{"v":1}]|{"x":{"v":3},"v":1}
    |{"x":bad,"v":1}|{"x":1,"":2,"v":1}""".replace("\n    ", "").split("|")

NOT_HERE = {
    "TINYINT": "128",  # from_json: -128
    "FLOAT|DOUBLE": r'-?(NaN|Infinity)|"\+.*"|"-INF"',
    r"DECIMAL\(.*\)": r'"1,000"|"１２"',
    "STRING": r'-?(NaN|Infinity)|"\\ud800"',
    "BINARY": r'"AAE=.+"',  # with line ends, or several in a row
    "DATE": r'"20261121"|"1700000000"|"2026"|"2026-11"|"([+-]|10000|0000).*"',
    "TIMESTAMP|TIMESTAMP_NTZ": r'"2026-1-2"|"2026-11-21T6:7"|"2026"|"2026-11"|"([+-]|10000|0000).*"'
    r'|".*(UTC|Berlin|:30|\[UTC\])"|"T?06:57.*"|1700000000000',
    "STRUCT<a:INT>": r'\{"":1\}',
}
"""What `from_json` takes, and jsctl does not, by type."""
BAD = object()


def ours(schema: str, texts: list[str]) -> list[Any]:
    columns = PayloadColumns(Decoding("json", schema.encode()), ())
    arrays = columns.decode_arrays(pa.array([text.encode() for text in texts], pa.binary()))
    rows = pa.RecordBatch.from_arrays(arrays, names=columns.schema.names).to_pylist()
    return [BAD if row["bad_payload"] is not None else row["v"] for row in rows]


def theirs(spark: Any, schema: str, texts: list[str]) -> list[Any]:
    from pyspark.sql import functions as F

    frame = spark.createDataFrame(list(enumerate(texts)), "n int, text string")
    parsed = F.from_json("text", f"{schema}, bad STRING", {"columnNameOfCorruptRecord": "bad"})
    # Python has not all years that Spark has.
    value = "CAST(r.v AS STRING)" if re.search("DATE|TIMESTAMP", schema) else "r.v"
    rows = frame.select("n", parsed.alias("r")).selectExpr(
        "n", "r IS NULL OR r.bad IS NOT NULL AS bad", f"{value} AS v"
    )
    return [BAD if row["bad"] else row["v"] for row in rows.orderBy("n").toArrow().to_pylist()]


def is_same(left: Any, right: Any) -> bool:
    if hasattr(left, "isoformat"):
        text = str(left).replace("+00:00", "")
        return text == right or ("." in text and text.rstrip("0") == right)
    return repr(left) == repr(right)


@pytest.mark.parametrize(
    ("type", "values"), [(type, values) for types, values in VALUES.items() for type in types.split()]
)
def test_values(spark: Any, type: str, values: list[str]) -> None:
    texts = [f'{{"v": {value}}}' for value in values]
    pairs = zip(values, ours(f"v {type}", texts), theirs(spark, f"v {type}", texts), strict=True)
    refused = next((pattern for types, pattern in NOT_HERE.items() if re.fullmatch(types, type)), "")
    for value, here, there in pairs:
        if here is BAD and there is not BAD:
            assert re.fullmatch(refused, value), f"{value}: from_json has {there}"
        elif type == "STRING" and value[0] in "-0123456789{":
            assert here is BAD or there is not BAD  # the digits of numbers, the last of repeated keys
        elif (type, value) == ("MAP<STRING,INT>", '{"a":1,"a":2}'):
            assert here == [("a", 2)]
        else:
            assert is_same(here, there), f"{value}: {here}, from_json has {there}"


def test_payloads(spark: Any) -> None:
    pairs = zip(ROOTS, ours("v INT", ROOTS), theirs(spark, "v INT", ROOTS), strict=True)
    different = {text: here for text, here, there in pairs if not is_same(here, there)}
    after = ['{"v":1} x', '{"v":1}{"v":2}', '{"v":1}//c', '{"v":1}]']
    assert different == dict.fromkeys([*after, "{'v':1}", '{"x":1,"":2,"v":1}'], BAD)
