#!/bin/sh
# fastavro: a UUID in a fixed of 16 bytes, which Avro 1.12 allows, is read and written as bytes.
#
# fastavro 1.13.1. A UUID in a string becomes uuid.UUID, in both directions. For a fixed, the logical type is
# ignored without a warning, so that a reader gets bytes, and a writer that is given a uuid.UUID fails.
# LOGICAL_READERS["fixed-uuid"] adds the reader.
#
# Seen:
#   string   UUID('00000000-0000-0000-0000-000000000005')
#   fixed    b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x05'
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q fastavro==1.13.1
"$folder/venv/bin/python" - <<'PY'
import io
import uuid

import fastavro
from fastavro.read import LOGICAL_READERS

ID = uuid.UUID(int=5)
TEXT = {"type": "string", "logicalType": "uuid"}
FIXED = {"type": "fixed", "name": "Id", "size": 16, "logicalType": "uuid"}


def read(schema: dict, written: object) -> object:
    out = io.BytesIO()
    parsed = fastavro.parse_schema(dict(schema))
    fastavro.schemaless_writer(out, parsed, written)
    return fastavro.schemaless_reader(io.BytesIO(out.getvalue()), parsed, None)


print("string  ", repr(read(TEXT, ID)))
print("fixed   ", repr(read(FIXED, ID.bytes)))
assert read(TEXT, ID) == ID
assert read(FIXED, ID.bytes) == ID.bytes, "a fixed is read as a UUID now"
try:
    read(FIXED, ID)
except TypeError as error:
    print("writing ", error)
else:
    raise SystemExit("a UUID is written to a fixed now")
LOGICAL_READERS["fixed-uuid"] = lambda data, *_: uuid.UUID(bytes=data)
assert read(FIXED, ID.bytes) == ID
PY
