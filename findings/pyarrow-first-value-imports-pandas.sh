#!/bin/sh
# pyarrow 26.0.1: the first value that is made of Python imports pandas, where it is installed.
#
# `import pyarrow` does not import pandas. `pyarrow.scalar("x", pyarrow.string())` does, as any `pyarrow.array` of a
# list, though neither has anything to do with it: pyarrow looks whether the value is one of pandas'. It takes more
# time than all the rest of a process that writes a small Parquet file, and PySpark's Python workers, which have
# pandas for other reasons, pay it once each. Arrays that are made of buffers do not import it.
#
# Seen: pandas is loaded after the first scalar, not before; the scalar took some 500 ms, the next 10 us.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q pyarrow==26.0.1 pandas==3.1.1
cat >"$folder/try.py" <<'PYTHON'
import sys
import time

import pyarrow as pa

pa.Array.from_buffers(pa.int64(), 1, [None, pa.py_buffer(bytes(8))]).to_pylist()
before = "pandas" in sys.modules
begin = time.perf_counter()
pa.scalar("x", pa.string())
first = time.perf_counter() - begin
after = "pandas" in sys.modules
begin = time.perf_counter()
pa.scalar("y", pa.string())
second = time.perf_counter() - begin
print(f"loaded before: {before}, after: {after}; {first * 1e3:.0f} ms, then {second * 1e6:.0f} us")
assert (before, after) == (False, True), "the behaviour has changed"
PYTHON
"$folder/venv/bin/python" "$folder/try.py"
