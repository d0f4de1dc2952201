"""`server network` start, stop, restart, kill, pause, resume and lame-duck."""

import errno
import os

import pytest

from jsctl.localserver import processes
from tests.support.networks import Networks

pytestmark = pytest.mark.cluster


def test_a_server_in_lame_duck_mode_is_restarted(networks: Networks, pair: str) -> None:
    before = processes.find(networks.folder(pair), "leaf")
    assert before
    networks(f"lame-duck leaf -n {pair}")
    networks(f"resume leaf -n {pair}")  # it was not paused
    assert networks.servers(pair) == {"hub": "up", "leaf": "lame duck"}
    networks(f"start leaf -n {pair}")
    assert networks.servers(pair) == {"hub": "up", "leaf": "up"}
    after = processes.find(networks.folder(pair), "leaf")
    assert after and after.pid != before.pid
    networks(f"wait {pair}")


def test_a_paused_server_does_not_answer_until_it_resumes(networks: Networks, pair: str) -> None:
    networks.at(pair, "stream add PAUSED --subjects paused --js-domain leaf --defaults")
    networks(f"pause leaf -n {pair}")
    assert networks.servers(pair)["leaf"] == "paused"
    networks.at(pair, "stream ls --context pair-leaf --timeout 500ms", status=4)
    networks(f"resume leaf -n {pair}")
    assert "[]" not in networks.at(pair, "stream ls --context pair-leaf --json")


def test_run_says_how_a_killed_server_of_its_network_starts_again(networks: Networks, pair: str) -> None:
    line = f"server run hub-leaf --port 0 --name {pair}"
    networks(f"kill leaf -n {pair}")
    error = networks.cli(line, status=1).err
    assert f"start leaf again with jsctl server network start leaf --network {pair}, stop it with" in error
    networks(f"start leaf -n {pair}")
    assert "again" not in networks.cli(line, status=1).err


def test_a_full_disk_keeps_no_server_running(networks: Networks, monkeypatch: pytest.MonkeyPatch) -> None:
    def save(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "network.json")

    networks("up single --port 0 --name full")
    folder = networks.folder("full")
    server = processes.find(folder, "server")
    assert server
    with monkeypatch.context() as patch:
        patch.setattr("jsctl.localserver.networks.save_state", save)
        assert "No space left on device" in networks("stop --all -n full", 1)
        assert not server.is_running()
    networks("start --all -n full")
    with monkeypatch.context() as patch:
        patch.setattr("jsctl.localserver.network.save_state", save)
        networks("down full --force")
    assert not folder.exists()


def test_only_what_was_changed_is_named(networks: Networks, pair: str) -> None:
    def names(line: str, key: str) -> list[str]:
        document = networks.cli(f"server network {line} -n {pair} --json", status=0).json
        return list(document[key])

    assert names("start --all", "started") == []
    assert names("resume --all", "resumed") == []
    assert names("stop leaf", "stopped") == ["leaf"]
    assert "no server" in networks(f"stop leaf -n {pair}")
    assert names("pause --all", "paused") == ["hub"]
    assert names("pause --all", "paused") == []
    assert names("resume --all", "resumed") == ["hub"]
    assert "stop hub of" in networks(f"stop --all --dry-run -n {pair}")
    assert names("stop --all", "stopped") == ["hub"]
    assert names("start leaf", "started") == ["leaf"]
    assert names("start --all", "started") == ["hub"]
    networks(f"wait {pair}")
