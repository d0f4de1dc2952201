"""What people and files hand over: small inputs take little memory and time, or are refused in one line."""

import io
import os
import random
import tarfile
import time
from functools import partial
from pathlib import Path

import pytest

from jsctl.base.files import CONFIG_SIZE
from jsctl.base.json_text import parse_json
from jsctl.base.units import parse_bytes, parse_duration, parse_time_ns
from jsctl.jetstream.backup.files import open_backup
from jsctl.jetstream.backup.s2 import FrameScanner, decompress_block
from jsctl.jetstream.config.documents import parse_document
from jsctl.jetstream.declared.load import load
from jsctl.jetstream.find.expression import compile_expression
from jsctl.jetstream.message import dump
from jsctl.nats.templates import Moment, compile_template
from tests.fuzz.record import Record, max_seconds
from tests.support import js
from tests.support.hostile import mutate_bytes
from tests.support.run import Cli

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
        lambda text: dump.parse_record(parse_json(text)),
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


def multiplied_loops() -> str:
    """10,000 streams with 10,000 consumers each."""
    consumer = "{for: {j: 0..9999}, name: 'C{{j}}'}"
    return f"streams: [{{for: {{i: 0..9999}}, name: 'S{{{{i}}}}', consumers: [{consumer}]}}]"


def repeated_list() -> str:
    """10,000 streams with 100,000 subjects each."""
    subjects = ", ".join(["a"] * 100_000)
    stream = "{for: {i: 0..9999}, name: 'S{{i}}', subjects: '{{s}}'}"
    return f"vars: {{s: [{subjects}]}}\nstreams: [{stream}]"


BOMBS = {
    "aliases": lambda: parse_document(nested_aliases(), "f"),
    "variables": lambda: load([("f", nested_variables())], {}),
    "braces": lambda: compile_template(b"{{" * 20_000 + b" " * 200_000),
    "random": lambda: compile_template(b"{{Random 1 67108864}}" * 10),
    "twenty digits": lambda: compile_template(b"{{Random 1 99999999999999999999}}"),
    "deep JSON": lambda: parse_json("[" * 100_000),
    "deep JSON with brackets in texts": lambda: parse_json('["]",' * 900 + "0" + ',"["]' * 900),
    "deep JSON with objects": lambda: parse_json('{"a":[' * 90 + "1" + "]}" * 90),
    "JSON of many values": lambda: parse_json("[" + "[]," * 5_000_000 + "0]"),
    "deep expression": lambda: compile_expression("a[" * 51 + "1" + "]" * 51),
    "digits": lambda: parse_json("9" * 5000),
    "duration": lambda: parse_duration("9" * 5000 + "s"),
    "block": lambda: decompress_block(b"\x80\x80\x80\x80\x06\x04aa" + b"\xfe\xff\xff\xff\x01\x00\x00" * 50),
    "frame": lambda: FrameScanner().feed(b"\xff\x06\x00\x00S2sTwO\x00\xff\xff\xff"),
    "loops": lambda: load([("f", multiplied_loops())], {}),
    "loops over a list": lambda: load([("f", repeated_list())], {}),
    "loop": lambda: load([("f", "streams: [{for: {i: 0..99999999999999999999}, name: a}]")], {}),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bomb(name: str) -> None:
    with Record(f"bomb: {name}") as record:
        record.tried(BOMBS[name])
        assert record.outcomes["refused"] or name == "braces", "it was taken"


def test_header_of_a_backup(tmp_path: Path) -> None:
    """A header that claims 8 GiB, which compresses to nothing."""
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, 100 << 20
    packed = tmp_path / "b.tgz"
    with tarfile.open(packed, "w:gz") as tar:
        tar.addfile(header, io.BytesIO(bytes(100 << 20)))
    with Record("bomb: header of a .tgz file") as record:
        record.tried(lambda: open_backup(packed))
        assert record.outcomes["refused"]


READERS = (
    "stream add X --config {}",
    "stream edit S --config {} --force",
    "backup restore stream {}",
    "backup restore stream backup --config {}",
    "backup restore account {}",
    "apply -f {} --force",
    "diff -f {}",
    "pub --from-dump {}",
    "errors edit {}",
    "context add X --creds {}",
    "context add X --nkey {}",
    "context add X --tlsca {}",
    "stream ls --creds {}",
    "stream ls --tlsca {}",
    "stream ls --nkey {}",
)


@pytest.mark.long
def test_files(cli: Cli, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a flag names: one line, and nothing is read for ever."""
    monkeypatch.chdir(tmp_path)
    js.stream(url, "S", "s.>")
    cli("backup stream S backup", status=0)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(1 << 40)
    (tmp_path / "digits").write_text("name: " + "9" * 5000)
    (tmp_path / "json digits").write_text('{"name": ' + "9" * 5000 + "}")
    (tmp_path / "deep").write_text("[" * 5000)
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    names = ["/dev/zero", "nul\0", "half\ud800", "missing", ".", *map(str, tmp_path.iterdir())]
    valid = {(str(tmp_path / "backup"), "backup restore stream {}"), (".", "pub --from-dump {}")}
    with Record("files") as record:
        for name in names:
            for reader in READERS:
                if (name, reader) in valid:
                    continue
                started = time.monotonic()
                outcome = cli([word.replace("{}", name) for word in reader.split()])
                record.slowest = max(record.slowest, time.monotonic() - started)
                assert record.slowest < max_seconds(), (reader, name)
                if reader.startswith("context add") and outcome.status == 0:
                    continue  # what is in the file matters when somebody logs in
                assert outcome.status in (1, 3, 64), (reader, name, outcome)
                says_why = (
                    outcome.err.count("\n") == 1 or "streams in" in outcome.out
                )  # of many, the result does
                assert says_why and "bug in" not in outcome.err, (reader, name, outcome)
                record.count(f"status {outcome.status}")


def test_stdin_is_bounded_in_bytes(cli: Cli) -> None:
    for line in ("stream add X --config -", "diff -f -", "apply -f - --force"):
        refused = cli(line, stdin="é" * (CONFIG_SIZE // 2 + 1), status=64)
        assert "16,777,216 bytes" in refused.err and refused.err.count("\n") == 1


def test_records_of_a_dump_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    monkeypatch.setattr(dump, "RECORD_SIZE", 3000)
    for name, text in (("lines", '{"subject": "a"}\n'), ("zeros", '{"subject": "a"}\0'), ("one line", "")):
        (tmp_path / name).write_text(text + '{"subject": "a", "data": "%s"}' % ("x" * 3000))
        refused = cli(["pub", "--from-dump", str(tmp_path / name)], status=64)
        assert f"line {2 if name == 'lines' else 1}: more than 3,000 bytes" in refused.err


def test_lines_without_end(offline_cli: Cli, tmp_path: Path) -> None:
    """Of a script of the shell, and a regular expression that is too deep for Python."""
    lines = {"long": "stream ls " + "x" * (10 << 20), "open": "stream ls '" + "\n" * 200_000}
    with Record("lines and patterns") as record:
        for name, text in lines.items():
            (tmp_path / name).write_text(text)
            refused = offline_cli(["shell", "-f", str(tmp_path / name)], status=64)
            assert "line 1 has more than" in refused.err and refused.err.count("\n") <= 2, refused
            record.count("refused")
        for pattern in ("(" * 5000, "a{99999999999}"):
            for line in ("schema search {}", "errors ls {}", "events {}", "stream view S --match {}"):
                refused = offline_cli([word.replace("{}", pattern) for word in line.split()])
                assert refused.status != 0 and "bug in" not in refused.err, (line, refused.err[-200:])
                record.count("refused")


@pytest.mark.long
def test_files_that_are_not_regular(offline_cli: Cli, tmp_path: Path) -> None:
    """Archives of audits, their reports, and recordings."""
    os.mkfifo(tmp_path / "pipe")
    with Record("devices and pipes") as record:
        for name in ("/dev/zero", str(tmp_path / "pipe")):
            for line in (
                "audit analyze {}",
                "audit report {}",
                "server list --archive {}",
                "report --replay {} --json",
            ):
                refused = offline_cli([word.replace("{}", name) for word in line.split()])
                assert refused.status in (1, 3, 64) and refused.err.count("\n") == 1, (line, refused)
                record.count(f"status {refused.status}")


def test_names_that_are_not_utf_8(cli: Cli, url: str) -> None:
    """As Python has the bytes of a command line that it cannot decode."""
    js.stream(url, "S", "s.>")
    for line in (
        *("stream info {}", "stream add {} --defaults --subjects q", "consumer ls {}", "kv info {}"),
        *(
            "object add {}",
            "object info {}",
            "object watch {}",
            "service info {}",
            "pub {} x",
            "request {} x",
        ),
        *("pub s.a x --reply {}", "pub s.a x --header A:{}", "sub {}", "kv get {} key", "counter get {}"),
    ):
        refused = cli([word.replace("{}", "\udcff") for word in line.split()])
        assert refused.status in (3, 64), (line, refused)
        assert "bug in" not in refused.err and refused.err.count("\n") == 1, (line, refused)
