#!/bin/sh
# zstandard: a frame that was cut reads as a shorter text, and one after a skippable frame not at all.
#
# python-zstandard 0.25.0. RFC 8878 has skippable frames (3.1.2), which decoders pass over. stream_reader passes over
# them, but says nothing of a frame whose end is missing; decompress() notices that, but takes a skippable frame
# for the data: it fails for what stream_reader reads. decompressobj() says with `eof` whether a frame is whole,
# and stops after each.
#
# Seen:
#   a frame without its last bytes   stream_reader: b'hel'    decompress: ZstdError
#   after a skippable frame          stream_reader: b'hello'  decompress: ZstdError
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q zstandard==0.25.0
"$folder/venv/bin/python" - <<'PY'
import struct

import zstandard

frame = zstandard.compress(b"hello")
skippable = struct.pack("<II", 0x184D2A50, 4) + b"meta"
results = {}
for name, data in (("cut", frame[:-2]), ("after a skippable frame", skippable + frame)):
    streamed = zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).read(100)
    try:
        whole = zstandard.ZstdDecompressor().decompress(data)
    except zstandard.ZstdError as error:
        whole = f"ZstdError: {error}"
    print(f"{name:24} stream_reader: {streamed!r}  decompress: {whole!r}")
    results[name] = streamed, whole
assert results["cut"][0] == b"hel", "stream_reader says that the frame is cut now"
assert str(results["cut"][1]).startswith("ZstdError")
assert results["after a skippable frame"][0] == b"hello"
assert str(results["after a skippable frame"][1]).startswith("ZstdError"), "decompress() passes over it now"
PY
