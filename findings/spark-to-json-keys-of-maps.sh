#!/bin/sh
# Spark: to_json writes the dates and times that are keys of a map as numbers of days and microseconds.
#
# PySpark 4.3.0 with its Spark (needs Java 17 or newer). The same dates as values are written as dates.
#
# Seen:
#   map(date'2026-11-21', date'2026-11-21')   {"20778":"2026-11-21"}
#   map(timestamp'2026-11-21 06:57:05', 1)    {"1795244225000000":1}
#   map(interval 1 day, 1)                    {"86400000000":1}
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q pyspark==4.3.0
"$folder/venv/bin/python" - <<'PY'
from pyspark.sql import SparkSession

spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .config("spark.sql.session.timeZone", "UTC")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")
expected = {
    "map(date'2026-11-21', date'2026-11-21')": '{"20778":"2026-11-21"}',
    "map(timestamp'2026-11-21 06:57:05', 1)": '{"1795244225000000":1}',
    "map(interval 1 day, 1)": '{"86400000000":1}',
}
for value, text in expected.items():
    (row,) = spark.sql(f"SELECT to_json({value})").collect()
    print(f"{value:42} {row[0]}")
    assert row[0] == text, "keys are written in another way now"
java = spark.sparkContext._gateway.proc
spark.stop()
java.stdin.close()
java.wait()
PY
