"""`--decode`, `--fields` and `--match`, in all verbs that show messages or values."""

import gzip
import json
from pathlib import Path
from typing import Any

import msgpack
import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.schemas import AVRO, avro_payload, descriptors, protobuf_payload

AMOUNTS = [50, 150, 250]


@pytest.fixture
def packed(cli: Cli, url: str) -> Cli:
    """A stream S of MessagePack, with one payload that is none."""
    js.stream(url, "S", "s.>")
    js.publish_all(
        url,
        [
            *((f"s.{at}", msgpack.packb({"amount": at, "to": {"city": "X"}})) for at in AMOUNTS),
            ("s.bad", b"\xc1\xc1"),
        ],
    )
    return cli


def amounts(records: list[dict[str, Any]]) -> list[int]:
    return [record["decoded"]["amount"] for record in records if "decoded" in record]


def test_view_decodes_and_chooses(packed: Cli) -> None:
    outcome = packed('stream view S --decode msgpack --match "amount > 100" --json', status=0)
    assert amounts(outcome.json) == [150, 250]
    assert outcome.json[0]["data_base64"]  # what was stored stays beside it
    assert (
        "1 message could not be decoded as msgpack; the first: s.bad #4: it is not MessagePack" in outcome.err
    )


def test_what_does_not_decode_is_shown_with_its_reason(packed: Cli) -> None:
    records = packed("stream view S --decode msgpack --json", status=0).json
    assert amounts(records) == AMOUNTS
    assert records[3]["decode_error"].startswith("it is not MessagePack")
    shown = packed("stream view S --decode msgpack", status=0).out
    assert '{"amount": 50, "to": {"city": "X"}}' in shown
    assert "Not decoded: it is not MessagePack" in shown
    raw = packed("stream view S 2 --decode msgpack --fields amount,to.city --raw", status=0).out
    assert [json.loads(line) for line in raw.splitlines()] == [
        {"amount": amount, "to.city": "X"} for amount in AMOUNTS[:2]
    ]


def test_one_message_a_subscription_and_a_consumer(packed: Cli, url: str) -> None:
    assert packed("stream get S 2 --decode msgpack --json", status=0).json["decoded"]["amount"] == 150
    assert '{"amount": 150}' in packed("stream get S 2 --decode auto --fields amount", status=0).out
    lines = packed(
        "sub --stream S --all --terminate-at-end --decode msgpack --json", status=0
    ).out.splitlines()
    assert amounts([json.loads(line) for line in lines]) == AMOUNTS
    js.ask(
        url,
        "CONSUMER.DURABLE.CREATE.S.C",
        {"stream_name": "S", "config": {"durable_name": "C", "ack_policy": "explicit"}},
    )
    assert packed("consumer next S C --decode msgpack --json", status=0).json["decoded"]["amount"] == 50
    assert amounts(packed("consumer next S C --count 3 --decode msgpack --json", status=0).json) == [150, 250]


def test_a_subscription_that_chooses(packed: Cli, tmp_path: Path) -> None:
    saved = tmp_path / "saved.jsonl"
    line = "sub --stream S --all --terminate-at-end --decode msgpack --match 'amount > 100' --raw"
    assert [json.loads(text)["amount"] for text in packed(line, status=0).out.splitlines()] == [150, 250]
    packed(f"sub --stream S --all -T --match 'subject == \"s.150\"' --dump {saved}", status=0)
    assert [json.loads(text)["subject"] for text in saved.read_text().splitlines()] == ["s.150"]
    line = "sub --stream S --all --match 'sequence >= 2' --count 2 --json"
    assert [json.loads(text)["sequence"] for text in packed(line, status=0).out.splitlines()] == [2, 3]


def test_values_of_keys(cli: Cli, url: str) -> None:
    js.bucket(url, "B", max_msgs_per_subject=5)
    for number in (1, 2):
        js.publish(url, "$KV.B.k", gzip.compress(json.dumps({"n": number, "x": "y"}).encode()))
    assert cli("kv get B k --decode gzip,json --json", status=0).json["decoded"] == {"n": 2, "x": "y"}
    assert cli("kv get B k --decode gzip --raw", status=0).out == '{"n": 2, "x": "y"}'
    history = cli("kv history B k --decode auto --fields n --json", status=0).json
    assert [entry["decoded"] for entry in history] == [{"n": 1}, {"n": 2}]
    assert '{"n": 1}' in cli("kv history B k --decode auto --fields n", status=0).out
    cli("kv del B k --force", status=0)
    changes = cli("kv watch B --history --count 3 --decode auto --json", status=0).out.splitlines()
    assert [json.loads(line).get("decoded", {}).get("n") for line in changes] == [2, None][
        -len(changes) :
    ] or ([json.loads(line).get("decoded", {}).get("n") for line in changes] == [1, 2, None])


def test_schemas_in_files(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "S", "s.>")
    js.publish(url, "s.avro", avro_payload(7, city="X"))
    js.publish(url, "s.proto", protobuf_payload(8, city="Y"))
    avro, proto = tmp_path / "order.avsc", tmp_path / "shop files.pb"
    avro.write_text(AVRO)
    proto.write_bytes(descriptors())
    line = (
        f"stream view S --subject s.avro --decode avro --schema-file {avro} --match 'to.city == \"X\"' --json"
    )
    assert cli(line, status=0).json[0]["decoded"]["id"] == 7
    words = ["stream", "get", "S", "2", "--decode", "protobuf", "--schema-file", str(proto)]
    assert cli([*words, "--message", "shop.Order", "--json"], status=0).json["decoded"]["id"] == 8
    assert "the descriptor file has several messages" in cli(words, status=64).err


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("--decode xml", "'xml' is not one of json"),
        ("--decode avro", "needs a schema"),
        ("--decode avro --schema-file missing.avsc", "missing.avsc"),
        ("--decode json --message shop.Order", "--message needs --decode protobuf"),
        ("--decode json,gzip", "must be the last"),
        ("--fields a,,b", "not a list of fields"),
        ("--match 'a >'", "the expression is incomplete"),
        ("--match 'a > 1' --translate cat", "--translate cannot be used"),
    ],
)
def test_flags_that_do_not_fit(packed: Cli, flags: str, words: str) -> None:
    outcome = packed(f"stream view S {flags}")
    assert outcome.status != 0
    assert words in outcome.err
    assert outcome.out == ""


@pytest.mark.parametrize("flags", ["--durable C", "--ack"])
def test_what_does_not_match_is_not_acknowledged(packed: Cli, flags: str) -> None:
    assert (
        "would be acknowledged without being shown"
        in packed(f"sub s.> --match 'a > 1' {flags}", status=64).err
    )


def test_a_missing_library_is_one_line(packed: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "msgpack", None)
    outcome = packed("stream view S --decode msgpack", status=1)
    assert "msgpack is not installed; run: pip install 'jsctl[decode]'" in outcome.err
