#!/bin/sh
# PySpark: a VARIANT has decimals of up to 38 digits, and VariantVal.toPython() and toJson() round them to 28.
#
# PySpark 4.3.0, Python 3.11. The bytes of the variant have all digits, and Spark's own to_json writes them. Python's
# part multiplies the digits by a power of ten in the default context of its decimal module, which has a precision
# of 28.
#
# Seen:
#   JSON      1234567890123456789012345678901.25
#   toPython  1.234567890123456789012345679E+30
#   toJson    1.234567890123456789012345679E+30
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q pyspark==4.3.0
"$folder/venv/bin/python" - <<'PY'
from decimal import Context, Decimal, localcontext

from pyspark.sql.types import VariantVal

text = "1234567890123456789012345678901.25"
variant = VariantVal.parseJson(text)
value = variant.toPython()
print("JSON     ", text)
print("toPython ", value)
print("toJson   ", variant.toJson())
with localcontext(Context(prec=38)):
    exact = variant.toPython()
print("in a context of 38 digits", exact)
assert exact == Decimal(text), "the variant has all digits"
assert value != Decimal(text), "toPython() no longer rounds"
PY
