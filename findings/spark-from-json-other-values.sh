#!/bin/sh
# Spark: from_json reads valid JSON as other values, without a word in the column of corrupt records.
#
# PySpark 4.3.0 with its Spark (needs Java 17 or newer).
#
# Seen:
#   a TINYINT    128                   -128: the parser takes bytes from -128 to 255
#   a DATE       "20261121"            +57443-01-25: a text of digits alone is a number of days since 1970
#   a MAP        {"a": 1, "a": 2}      two entries with the key "a"
#   any          {"v": 1}{"v": 2}      1: what follows the first value is not read, nor by parse_json
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q pyspark==4.3.0
"$folder/venv/bin/python" - <<'PY'
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")


def read(type: str, text: str, shown: str) -> object:
    """The value of v as `shown`, and what is corrupt."""
    parsed = F.from_json("text", f"v {type}, corrupt STRING", {"columnNameOfCorruptRecord": "corrupt"})
    frame = spark.createDataFrame([(text,)], "text string").select(parsed.alias("r"))
    value, corrupt = frame.selectExpr(shown, "r.corrupt").collect()[0]
    print(f"{type:16} {text:20} {value}")
    assert corrupt is None, "it is a corrupt record now"
    return value


assert read("TINYINT", '{"v": 128}', "r.v") == -128
assert read("DATE", '{"v": "20261121"}', "CAST(r.v AS STRING)") == "+57443-01-25"
assert read("MAP<STRING, INT>", '{"v": {"a": 1, "a": 2}}', "to_json(r.v)") == '{"a":1,"a":2}'
assert read("INT", '{"v": 1}{"v": 2}', "r.v") == 1
(row,) = spark.sql("""SELECT to_json(parse_json('{"v": 1}{"v": 2}'))""").collect()
print("parse_json      ", row[0])
assert row[0] == '{"v":1}'
java = spark.sparkContext._gateway.proc
spark.stop()
java.stdin.close()
java.wait()
PY
