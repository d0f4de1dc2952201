"""Values of headers that are not UTF-8 keep their bytes: in JSON, in files, and when they are sent again."""

import base64
import json
from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli

VALUE = b"a\xff\xfe b"
BLOCK = b"NATS/1.0\r\nText: gr\xc3\xbc\xc3\x9f\r\nBin: " + VALUE + b"\r\nBin: text\r\n\r\n"
ENCODED = [base64.b64encode(VALUE).decode(), "dGV4dA=="]


@pytest.fixture
def stored(cli: Cli, url: str) -> Cli:
    js.stream(url, "S", "s.>", allow_atomic=True)
    js.publish_framed(url, "s.a", BLOCK, b"x")
    return cli


def fetch_block(url: str, sequence: int, stream: str = "S") -> bytes:
    message = js.ask(url, f"STREAM.MSG.GET.{stream}", {"seq": sequence})["message"]
    return base64.b64decode(message["hdrs"])


@pytest.mark.parametrize(
    "line",
    ["stream view S --json", "sub --stream S --all --count 1 --json", "consumer next S C --json --no-ack"],
)
def test_json_has_base64_under_a_name_that_says_so(line: str, stored: Cli, url: str) -> None:
    js.ask(url, "CONSUMER.CREATE.S.C", {"stream_name": "S", "config": {"durable_name": "C"}, "action": ""})
    shown = stored(line, status=0).out
    record = json.loads(shown) if shown.startswith("{") else json.loads(shown)[0]
    assert record["headers"] == {"Text": ["grüß"]}
    assert record["headers_base64"] == {"Bin": ENCODED}
    assert "\ufffd" not in shown


@pytest.mark.parametrize("dump", ["dump.jsonl", "folder"])
@pytest.mark.parametrize("flags", ["", "-H New:1", "--atomic"])
def test_a_dump_is_sent_again_as_it_was(dump: str, flags: str, stored: Cli, url: str, tmp_path: Path) -> None:
    stored(f"sub --stream S --all --count 1 --dump {tmp_path}/{dump}", status=0)
    stored(f"pub --from-dump {tmp_path}/{dump} s.b -J {flags}", status=0)
    assert fetch_block(url, 2).startswith(BLOCK[:-2])


def test_entries_of_buckets(cli: Cli, url: str, tmp_path: Path) -> None:
    for bucket in ("A", "B"):
        js.bucket(url, bucket)
    js.publish_framed(url, "$KV.A.key", BLOCK, b"x")
    cli(f"kv export A --output {tmp_path}/a.jsonl", status=0)
    assert json.loads((tmp_path / "a.jsonl").read_text())["headers_base64"] == {"Bin": ENCODED}
    cli(f"kv import B {tmp_path}/a.jsonl", status=0)
    assert fetch_block(url, 1, "KV_B").startswith(BLOCK[:-2])


def test_people_see_which_bytes(stored: Cli) -> None:
    assert "Bin: a\\xff\\xfe b" in stored("stream view S", status=0).out
