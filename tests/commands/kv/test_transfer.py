"""`kv export`, `kv import` and `kv diff` on a real server."""

import json
from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli


def entries(cli: Cli, bucket: str) -> list[dict[str, object]]:
    """What an export holds, without what is new in a copy."""
    lines = cli(f"kv export {bucket}", status=0).out.splitlines()
    dropped = ("bucket", "created")
    return [{k: v for k, v in json.loads(line).items() if k not in dropped} for line in lines]


def test_a_copy_is_the_same(config: Cli, url: str, tmp_path: Path) -> None:
    js.publish_framed(url, "$KV.CONFIG.h", b"NATS/1.0\r\nX-A: b\r\nNats-Msg-Id: 7\r\n\r\n", b"\xff" * 3)
    js.publish(url, "$KV.CONFIG.odd!\x01key", "ü\x1b\n".encode())
    config("kv purge CONFIG logo --force", status=0)
    config("kv update CONFIG user.1 Zed 2", status=0)
    file = tmp_path / "config.jsonl"
    assert "Wrote 8 entries" in config(f"kv export CONFIG --output {file}", status=0).out
    js.bucket(url, "COPY", max_msgs_per_subject=5)
    stored = config(f"kv import COPY {file}", status=0).out
    assert stored == "Stored 6 values and 2 markers in bucket COPY\n"
    before, after = entries(config, "CONFIG"), entries(config, "COPY")
    assert [{**one, "revision": 0} for one in before] == [{**one, "revision": 0} for one in after]
    assert next(one for one in after if one["key"] == "h")["headers"] == {"X-A": ["b"]}
    assert "hold the same values" in config("kv diff CONFIG COPY", status=0).out


def test_import_asks_and_reads_stdin(config: Cli, url: str) -> None:
    exported = config("kv export CONFIG 'user.*' --latest", status=0).out
    assert [json.loads(line)["key"] for line in exported.splitlines()] == ["user.1"]
    questions = config("kv import CONFIG", stdin=exported, answers=[False], status=0).asked[0]
    assert "Bucket CONFIG holds 5 values" in questions
    assert config("kv import CONFIG --dry-run --json", stdin=exported, status=0).json == {
        "dry_run": True,
        "would": "store 1 value in bucket CONFIG",
        "bucket": "CONFIG",
        "values": 1,
        "markers": 0,
    }
    assert "cannot ask" in config("kv import CONFIG", stdin=exported, status=64).err
    config("kv import CONFIG --force", stdin=exported, status=0)
    assert config("kv get CONFIG user.1 --json", status=0).json["revision"] == 6
    assert len(config("kv export CONFIG --json", status=0).json) == 6


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("[1]", "an entry is a JSON object"),
        ("{", "is not JSON"),
        ('{"key": "a b"}', "not a valid key"),
        ('{"key": "a.>"}', "not a valid key"),
        ('{"key": "a", "operation": "ADD"}', "not an operation"),
        ('{"key": "a", "value": 5}', "cannot be read"),
        ('{"key": "a", "value_base64": "%"}', "cannot be read"),
    ],
)
def test_damaged_lines_are_named(cli: Cli, url: str, line: str, words: str) -> None:
    js.bucket(url, "B")
    refused = cli("kv import B", stdin=f'{{"key": "x", "value": ""}}\n{line}\n', status=64)
    assert "stdin line 2" in refused.err
    assert words in refused.err
    assert len(refused.err.splitlines()) == 1


def test_diff(config: Cli, url: str) -> None:
    js.bucket(url, "OTHER")
    for key, value in (("user.1", "Bob"), ("logo", "text"), ("new", "1")):
        config(f"kv put OTHER {key} {value}", status=0)
    shown = config("kv diff CONFIG OTHER", status=2).out.splitlines()
    assert [line.split()[:2] for line in shown[2:4]] == [["logo", "changed"], ["new", "added"]]
    assert shown[-1] == "1 added, 0 removed, 1 changed, 1 the same"
    document = config("kv diff OTHER CONFIG --json", status=2).json
    assert document["same"] == 1
    assert [(one["key"], one["change"]) for one in document["differences"]] == [
        ("logo", "changed"),
        ("new", "removed"),
    ]
    assert config("kv diff CONFIG OTHER 'user.*'", status=0).out.startswith("CONFIG and OTHER hold the same")
    config("kv diff CONFIG NOPE", status=3)
