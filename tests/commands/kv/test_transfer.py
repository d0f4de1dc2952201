"""A bucket that is exported and imported again."""

import json
from pathlib import Path

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
