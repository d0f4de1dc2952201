#!/bin/sh
# PySpark and pyarrow: toArrow() fails for a VARIANT column with a null in it.
#
# PySpark 4.3.0, pyarrow 26.0.1 (needs Java 17 or newer). collect() of the same frame works. A variant is a struct
# of two fields that are not nullable; toArrow() casts the table that it has received to the same type again, and
# pyarrow refuses that for a null struct.
#
# Seen: ArrowInvalid: Can't view array of type struct<value: binary not null, metadata: binary not null> as
# struct<value: binary not null, metadata: binary not null>: nulls in input cannot be viewed as non-nullable
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q pyspark==4.3.0 pyarrow==26.0.1 pandas==2.3.3
"$folder/venv/bin/python" - <<'PY'
import pyarrow
from pyspark.sql import SparkSession

spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")
frame = spark.sql("SELECT * FROM VALUES (parse_json('1')), (NULL) AS t(v)")
assert [row.v is None for row in frame.collect()] == [False, True]
assert frame.where("v IS NOT NULL").toArrow().num_rows == 1
try:
    frame.toArrow()
except pyarrow.ArrowInvalid as error:
    print("ArrowInvalid:", error)
else:
    raise SystemExit("toArrow() works now")
java = spark.sparkContext._gateway.proc
spark.stop()
java.stdin.close()
java.wait()
PY
