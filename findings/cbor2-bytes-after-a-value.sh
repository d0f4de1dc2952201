#!/bin/sh
# cbor2 6.3.0 and msgpack 1.2.4: what follows a value is passed over by one, and an error of the other.
#
# A payload is one value of CBOR (RFC 8949), or it is not CBOR. `cbor2.loads` returns the first value and says nothing
# of bytes behind it, so that text that begins with a digit is read as a number: "1 apple" is -18. `msgpack.unpackb`
# raises ExtraData for the same. Who tells formats apart by whether they can be read has to look at what is left:
# a CBORDecoder on a BytesIO shows how far it has read.
#
# Seen: -18, with 6 of 7 bytes left; ExtraData.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q cbor2==6.3.0 msgpack==1.2.4
cat >"$folder/try.py" <<'PYTHON'
import io

import cbor2
import msgpack

payload = b"1 apple"
value = cbor2.loads(payload)
stream = io.BytesIO(payload)
first = cbor2.CBORDecoder(stream).decode()
left = len(stream.read())
print("cbor2:", value, "left:", left)
try:
    other = msgpack.unpackb(payload)
except msgpack.ExtraData as error:
    other = type(error).__name__
print("msgpack:", other)
assert (value, first, left, other) == (-18, -18, 6, "ExtraData"), "the behaviour has changed"
PYTHON
"$folder/venv/bin/python" "$folder/try.py"
