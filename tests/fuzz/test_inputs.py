"""What people and files hand over: small inputs take little memory and time, or are refused in one line."""

import io
import os
import random
import tarfile
from functools import partial
from pathlib import Path

import pytest

from jsctl.errors import BadInput
from jsctl.files import read_bytes
from jsctl.jetstream.backup.files import open_backup
from jsctl.jetstream.backup.s2 import FrameScanner, decompress_block
from jsctl.jetstream.config.documents import parse_document
from jsctl.jetstream.declared.load import load
from jsctl.jetstream.find.expression import compile_expression
from jsctl.jetstream.message.dump import outgoing
from jsctl.json_text import parse_json
from jsctl.nats.templates import Moment, compile_template
from jsctl.units import parse_bytes, parse_duration, parse_time_ns
from tests.fuzz.record import Record
from tests.support.hostile import mutate_bytes

SEEDS = {
    "template": (
        lambda text: compile_template(text.encode()).render(Moment(1)),
        "a {{Count}} {{Random 1 9}}",
    ),
    "duration": (parse_duration, "1y2M3d4h5m6s7ms"),
    "size": (parse_bytes, "10GiB"),
    "time": (parse_time_ns, "2026-11-21T06:57:05.123456789Z"),
    "expression": (
        compile_expression,
        'state.messages > 10 and (config.name matches "a.*") or x in [1, 2]',
    ),
    "configuration": (
        lambda text: parse_document(text, "f"),
        "name: &a S\nsubjects: [*a, 'b']\nage: 5\n",
    ),
    "declared": (
        lambda text: load([("f", text)], {}),
        "vars: {a: b}\nstreams:\n- for: {i: 0..3}\n  name: S{{i}}\n  subjects: ['{{a}}.{{i}}']\n",
    ),
    "dump": (
        lambda text: outgoing(parse_json(text)),
        '{"subject": "a", "headers": {"K": ["v"]}, "data_base64": "YQ=="}',
    ),
}


@pytest.mark.parametrize("name", SEEDS)
def test_parser(name: str, cases: int) -> None:
    parse, seed = SEEDS[name]
    with Record(name) as record:
        for number in range(cases):
            text = mutate_bytes(seed.encode(), random.Random(number)).decode(errors="replace")
            record.tried(partial(parse, text))


def nested_aliases() -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    return "\n".join(lines)


def nested_variables() -> str:
    lines = ["vars:", "  v0: xxxxxxxxxx"]
    lines += [f"  v{n}: '{''.join([f'{{{{v{n - 1}}}}}'] * 10)}'" for n in range(1, 10)]
    return "\n".join(lines)


BOMBS = {
    "aliases": lambda: parse_document(nested_aliases(), "f"),
    "variables": lambda: load([("f", nested_variables())], {}),
    "braces": lambda: compile_template(b"{{" * 20_000 + b" " * 200_000),
    "random": lambda: compile_template(b"{{Random 1 67108864}}" * 10),
    "twenty digits": lambda: compile_template(b"{{Random 1 99999999999999999999}}"),
    "deep JSON": lambda: parse_json("[" * 100_000),
    "digits": lambda: parse_json("9" * 5000),
    "duration": lambda: parse_duration("9" * 5000 + "s"),
    "block": lambda: decompress_block(b"\x80\x80\x80\x80\x06\x04aa" + b"\xfe\xff\xff\xff\x01\x00\x00" * 50),
    "frame": lambda: FrameScanner().feed(b"\xff\x06\x00\x00S2sTwO\x00\xff\xff\xff"),
    "loop": lambda: load([("f", "streams: [{for: {i: 0..99999999999999999999}, name: a}]")], {}),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bomb(name: str) -> None:
    with Record(f"bomb: {name}") as record:
        record.measured(BOMBS[name])
        assert record.outcomes["refused"] or name == "braces", "it was taken"


def test_header_of_a_backup(tmp_path: Path) -> None:
    """A header that claims 8 GiB, which compresses to nothing."""
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, 100 << 20
    packed = tmp_path / "b.tgz"
    with tarfile.open(packed, "w:gz") as tar:
        tar.addfile(header, io.BytesIO(bytes(100 << 20)))
    with Record("bomb: header of a .tgz file") as record:
        record.measured(lambda: open_backup(packed))
        assert record.outcomes["refused"]


def test_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "large").write_bytes(bytes(2 << 20))
    with Record("files") as record:
        for name in ("/dev/zero", "pipe", "loop", "large", "nul\0", "half\ud800", "missing", "."):
            with pytest.raises(BadInput):
                read_bytes(tmp_path / name)
            record.tried(partial(read_bytes, tmp_path / name))
