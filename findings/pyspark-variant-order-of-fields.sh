#!/bin/sh
# Spark: a field of a VARIANT that Python has made is not found, although it is there.
#
# PySpark 4.3.0 with its Spark (needs Java 17 or newer). The fields of an object in a variant are sorted by name,
# and from 32 fields on variant_get searches them by halves. Spark's JVM compares names as Java does, by UTF-16
# units, in which U+FFFF comes after U+10400 (D801 DC00). PySpark's VariantVal.parseJson sorts them as Python
# does, by code points, in which it comes before.
#
# Seen, for an object of 42 fields that has both names:
#   made by parse_json of SQL      U+10400: 2, U+FFFF: 1
#   made by VariantVal.parseJson   U+10400: None, U+FFFF: 1
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q pyspark==4.3.0
PYSPARK_PYTHON="$folder/venv/bin/python" "$folder/venv/bin/python" - <<'PY'
import json

from pyspark.sql import SparkSession
from pyspark.sql.functions import udf
from pyspark.sql.types import VariantType, VariantVal

spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")
fields = {f"k{n:02}": n for n in range(40)} | {"\uffff": 1, "\U00010400": 2}
frame = spark.createDataFrame([(json.dumps(fields, ensure_ascii=False),)], "text string")
parse = udf(VariantVal.parseJson, VariantType(), useArrow=False)
found = {}
variants = {
    "SQL": frame.selectExpr("parse_json(text) AS v"),
    "Python": frame.select(parse("text").alias("v")),
}
for maker, made in variants.items():
    row = made.selectExpr(
        "try_variant_get(v, '$[\"\U00010400\"]', 'int') AS high",
        "try_variant_get(v, '$[\"\uffff\"]', 'int') AS low",
        "to_json(v) AS text",
    ).collect()[0]
    assert json.loads(row["text"]) == fields, "the field is there"
    found[maker] = row["high"], row["low"]
    print(f"made by {maker}: U+10400: {row['high']}, U+FFFF: {row['low']}")
assert found == {"SQL": (2, 1), "Python": (None, 1)}, "the order is the same now"
java = spark.sparkContext._gateway.proc
spark.stop()
java.stdin.close()
java.wait()
PY
