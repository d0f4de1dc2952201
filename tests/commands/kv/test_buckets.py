"""`kv add`, `kv edit`, `kv info`, `kv ls` and the removal of buckets."""

import json
import sys
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
    assert "exists already, nothing was changed" in again
    other = cli("kv add B", status=1)
    assert "bucket B exists with another configuration (10058); jsctl kv edit changes it" in other.err


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
def test_what_cannot_be(cli: Cli, flags: str, words: str) -> None:
    refused = cli(f"kv add {flags}", status=64)
    assert words in refused.err
    assert len(refused.err.splitlines()) == 1


def test_more_history_than_other_clients_know(cli: Cli) -> None:
    assert "warning: a history of 65" in cli("kv add B --history 65", status=0).err


def test_edit(config: Cli, url: str) -> None:
    shown = config("kv edit CONFIG --history 3 --ttl 30d --dry-run", status=2).out
    assert ["history", "5", "3"] in [line.split() for line in shown.splitlines()]
    config("kv edit CONFIG --history 3 --description x", answers=[True], status=0)
    live = js.info(url, "KV_CONFIG")["config"]
    assert (live["max_msgs_per_subject"], live["description"]) == (3, "x")
    assert config("kv edit CONFIG --history 3", status=0).out == "No difference in configuration\n"
    config("kv edit CONFIG --history 4", answers=[False], status=0)
    assert js.info(url, "KV_CONFIG")["config"]["max_msgs_per_subject"] == 3
    assert "cannot ask" in config("kv edit CONFIG --history 4", status=64).err
    assert "nothing to change" in config("kv edit CONFIG", status=64).err


def test_edit_keeps_what_buckets_have_no_word_for(cli: Cli, url: str) -> None:
    js.bucket(url, "B", max_consumers=7, max_msgs=1000)
    cli("kv edit B --max-value-size 1KB --replicas 1 --metadata a=b --force", status=0)
    live = js.info(url, "KV_B")["config"]
    assert (live["max_consumers"], live["max_msgs"], live["max_msg_size"]) == (7, 1000, 1024)
    cli("kv edit B --max-value-size -1 --compress --force", status=0)
    live = js.info(url, "KV_B")["config"]
    assert (live["max_msg_size"], live["compression"], live["metadata"]["a"]) == (-1, "s2", "b")


def test_a_value_in_an_editor(config: Cli) -> None:
    config.environ["EDITOR"] = "sed -i s/Bob/Zed/"
    assert "CONFIG > user.1 revision: 6" in config("kv edit CONFIG user.1", status=0).out
    assert config("kv get CONFIG user.1 --raw", status=0).out == "Zed"
    assert "left as it is" in config("kv edit CONFIG user.1", status=0).out
    assert "is not text" in config("kv edit CONFIG logo", status=64).err
    assert "key none not found" in config("kv edit CONFIG none", status=3).err
    assert "cannot be used together" in config("kv edit CONFIG user.1 --history 3", status=64).err


@pytest.mark.slow
def test_a_value_that_somebody_else_changed_meanwhile(config: Cli, tmp_path: Path, url: str) -> None:
    editor = tmp_path / "editor"
    editor.write_text(
        "#!/bin/sh\n"
        f'[ -e {tmp_path}/done ] || {{ touch {tmp_path}/done; python3 -c "'
        "import sys; sys.path.insert(0, '.'); from tests.support import js;"
        f" js.publish('{url}', '\\$KV.CONFIG.user.1', b'theirs')\"; }}\n"
        'echo mine > "$1"\n'
    )
    editor.chmod(0o755)
    editor.write_text(editor.read_text().replace("python3", sys.executable))
    config.environ["EDITOR"] = str(editor)
    refused = config("kv edit CONFIG user.1", status=1)
    assert "was changed meanwhile, to revision 6" in refused.err
    assert "your text is in" in refused.err
    assert config("kv get CONFIG user.1 --raw", status=0).out == "theirs"
    (tmp_path / "done").unlink()
    config("kv edit CONFIG user.1", answers=[True], status=0)
    assert config("kv get CONFIG user.1 --raw", status=0).out == "mine"


def test_info(config: Cli) -> None:
    shown = config("kv info CONFIG", tty=True, status=0).out
    for line in ("Bucket Name: CONFIG", "History Kept: 5", "Keys: 3", "Values Stored: 5", "KV_CONFIG"):
        assert line in shown
    document = config("kv status CONFIG --json", status=0).json
    assert (document["keys"], document["values"], document["newest_revision"]) == (3, 5, 5)
    assert document["stream"]["config"]["name"] == "KV_CONFIG"
    assert config("kv view", answers=["CONFIG"], status=0).out == config("kv info CONFIG", status=0).out


def test_ls(config: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders")
    js.bucket(url, "A")
    assert config("kv ls --names", status=0).out == "A\nCONFIG\n"
    assert config("kv ls --json", status=0).json == ["A", "CONFIG"]
    rows = config("kv ls", status=0).out.splitlines()
    assert rows[0] == "Key-Value Buckets"
    assert [row.split()[0] for row in rows[2:]] == ["A", "CONFIG"]
    assert config("kv ls --as csv", status=0).out.splitlines()[0].startswith("bucket,description,created")


def test_no_buckets_and_no_keys(cli: Cli, url: str) -> None:
    assert "There are no buckets; jsctl kv add" in cli("kv ls", status=0).out
    assert cli("kv ls --json", status=0).json == []
    js.bucket(url, "B")
    empty = cli("kv ls B", status=0)
    assert (empty.out, empty.err) == ("", "jsctl: no keys in bucket B\n")
    assert cli("kv ls B --json", status=0).json == []
    assert cli("kv ls B --verbose --json", status=0).json == []
    assert cli("kv export B", status=0).out == ""


def test_keys(config: Cli) -> None:
    assert config("kv ls CONFIG", status=0).out == "logo\nuser.1\n"
    assert config("kv ls CONFIG 'user.*' --json", status=0).json == ["user.1"]
    shown = config("kv ls CONFIG --verbose --display-value", status=0).out.splitlines()
    assert shown[1].split() == ["Key", "Created", "Revision", "Size", "Value"]
    assert shown[3].split()[-3:] == ["3", "B", "Bob"]
    assert shown[2].endswith("00 ff 0a")
    rows = config("kv ls CONFIG -v --json", status=0).json
    assert [(row["key"], row["revision"], row["size"]) for row in rows] == [("logo", 5, 3), ("user.1", 2, 3)]
    assert "value" not in rows[0]
    assert "was deleted" in config("kv ls CONFIG user.2", status=3).err


def test_a_bucket_is_removed(config: Cli) -> None:
    dry = config("kv del CONFIG --dry-run", status=0).out
    assert "Would delete bucket CONFIG (5 values" in dry
    assert "cannot ask" in config("kv rm CONFIG", status=64).err
    declined = config("kv del CONFIG", answers=[False], status=0)
    assert "Really delete bucket CONFIG (5 values" in declined.asked[0]
    assert config("kv del CONFIG --force --json", status=0).json == {"bucket": "CONFIG", "deleted": True}
    config("kv info CONFIG", status=3)
