"""`kv edit`."""

import sys
from pathlib import Path

from tests.support import js
from tests.support.run import Cli


def test_edit(config: Cli, url: str) -> None:
    shown = config("kv edit CONFIG --history 3 --ttl 30d --dry-run", status=2).out
    assert ["history", "5", "3"] in [line.split() for line in shown.splitlines()]
    config("kv edit CONFIG --history 3 --description x", answers=[True], status=0)
    live = js.info(url, "KV_CONFIG")["config"]
    assert (live["max_msgs_per_subject"], live["description"]) == (3, "x")
    assert config("kv edit CONFIG --history 3", status=0).out == "No difference in configuration\n"
    config("kv edit CONFIG --history 4", answers=[False], status=0)
    assert js.info(url, "KV_CONFIG")["config"]["max_msgs_per_subject"] == 3
    config("kv edit CONFIG --history 4", status=0)  # a script of nats, which has no --force
    assert js.info(url, "KV_CONFIG")["config"]["max_msgs_per_subject"] == 4
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


def test_no_editor_opens_for_a_sealed_bucket(config: Cli, tmp_path: Path) -> None:
    config("stream seal KV_CONFIG --force", status=0)
    config.environ["EDITOR"] = f"touch {tmp_path}/opened"
    assert "sealed stream" in config("kv edit CONFIG user.1", status=1).err
    assert not (tmp_path / "opened").exists()


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
