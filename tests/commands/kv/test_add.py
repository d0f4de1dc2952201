"""`kv add`."""

import base64
import json
from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli


def test_add_makes_what_other_clients_make(cli: Cli, url: str) -> None:
    out = cli(
        "kv add B --history 5 --ttl 1h --marker-ttl 10s --max-value-size 1KB --max-bucket-size 1MB"
        " --description 'a b' --storage memory --compress --metadata team=x",
        status=0,
    ).out
    assert out.startswith("Bucket B was created\n")
    config = js.info(url, "KV_B")["config"]
    metadata = config.pop("metadata")
    assert metadata["team"] == "x"
    wanted = {
        "name": "KV_B",
        "description": "a b",
        "subjects": ["$KV.B.>"],
        "retention": "limits",
        "max_consumers": -1,
        "max_msgs": -1,
        "max_bytes": 1 << 20,
        "max_age": 3600 * 10**9,
        "max_msgs_per_subject": 5,
        "max_msg_size": 1 << 10,
        "discard": "new",
        "storage": "memory",
        "num_replicas": 1,
        "duplicate_window": 120 * 10**9,
        "compression": "s2",
        "allow_direct": True,
        "deny_delete": True,
        "allow_rollup_hdrs": True,
        "allow_msg_ttl": True,
        "subject_delete_marker_ttl": 10 * 10**9,
    }
    assert {key: config.get(key) for key in wanted} == wanted
    again = cli(
        "kv add B --history 5 --ttl 1h --marker-ttl 10s --max-value-size 1KB --max-bucket-size 1MB"
        " --description 'a b' --storage memory --compress --metadata team=x",
        status=0,
    ).out
    assert "already exists, nothing was changed" in again
    other = cli("kv add B", status=1)
    assert "bucket B exists with another configuration (10058); jsctl kv edit B changes it" in other.err


def test_a_configuration_as_a_file(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "bucket.yaml"
    file.write_text("name: B\nhistory: 3\nttl: 2h\nmax_value_size: 1KiB\n")
    cli(f"kv add --config {file} --history 4", status=0)
    document = cli("kv info B --json", status=0).json
    assert document["config"]["history"] == 4
    assert document["config"]["ttl"] == 2 * 3600 * 10**9
    again = tmp_path / "again.json"
    again.write_text(json.dumps(document))
    cli("kv del B --force", status=0)
    cli(f"kv add B --config {again}", status=0)
    assert cli("kv info B --json", status=0).json["config"] == document["config"]
    file.write_text("name: B\nhistry: 3\n")
    assert "did you mean 'history'?" in cli(f"kv add --config {file} --validate", status=64).err


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("'a.b'", "'a.b' is not a valid bucket name: letters, digits, _ and - only"),
        ("B --history 0", "less than 1"),
        ("B --marker-ttl 10ms", "--marker-ttl must be 1s or more"),
        ("B --mirror A --source C", "not both"),
        ("B --mirror-domain hub", "--mirror-domain needs --mirror"),
        ("B --republish-source x", "--republish-destination is missing"),
        ("", "the bucket's name is missing"),
    ],
)
def test_impossible_requests(cli: Cli, flags: str, words: str) -> None:
    refused = cli(f"kv add {flags}", status=64)
    assert words in refused.err
    assert len(refused.err.splitlines()) == 1


def test_a_name_that_is_left_out_is_asked_for(cli: Cli) -> None:
    asked = cli("kv add", answers=["ASKED"], status=0)
    assert asked.asked == ["Bucket Name"]
    assert "Bucket ASKED was created" in asked.out
    asked = cli("object add", answers=["FILES"], status=0)
    assert asked.asked == ["Bucket Name"]


def test_more_history_than_other_clients_know(cli: Cli) -> None:
    assert "warning: a history of 65" in cli("kv add B --history 65", status=0).err


def test_an_origin_that_does_not_exist(cli: Cli) -> None:
    for flag in ("--mirror", "--source"):
        assert "bucket NOPE not found" in cli(f"kv add COPY {flag} NOPE", status=3).err
    assert cli("kv ls --names", status=0).out == ""


def test_a_value_that_expires(cli: Cli, url: str) -> None:
    cli("kv add B --marker-ttl 1m", status=0)
    cli("kv put B key value --ttl 2m", status=0)
    message = js.ask(url, "STREAM.MSG.GET.KV_B", {"last_by_subj": "$KV.B.key"})["message"]
    assert b"Nats-TTL: 120s" in base64.b64decode(message["hdrs"])
    assert cli("kv put B key value --ttl 1ms", status=64).out == ""


def test_an_empty_name_of_an_object(cli: Cli, tmp_path: Path) -> None:
    cli("object add O", status=0)
    (tmp_path / "file").write_text("x")
    refused = cli(["object", "put", "O", str(tmp_path / "file"), "--name", ""], status=64)
    assert "the object's name is empty" in refused.err
