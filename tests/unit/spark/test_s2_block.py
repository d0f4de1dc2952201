"""Blocks of S2, which executors read in Python alone, and the rest of jsctl with wasmtime."""

import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from jsctl.jetstream.backup.s2 import build_frame
from jsctl.schema.payloads.compression import decompress

IDENTIFIER = b"\xff\x06\x00\x00S2sTwO"


@given(st.lists(st.sampled_from([b"a", b"orders.new ", bytes(range(256)), b"x" * 70_000]), max_size=12))
def test_equals_what_was_compressed(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    assert decompress(IDENTIFIER + build_frame(data), "s2") == data


def test_executors_need_pyarrow_alone() -> None:
    code = (
        "import sys; sys.modules['crc32c'] = sys.modules['wasmtime'] = None\n"
        "import jsctl.schema.payloads.compression, jsctl.spark.datasource, jsctl.spark.source.batch_reader"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
