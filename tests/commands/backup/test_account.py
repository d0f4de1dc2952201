"""`account backup`, and the way back, on real servers."""

import json
from pathlib import Path

from jsctl.jetstream.backup.account_files import UNFINISHED, open_account_backup
from tests.support.account_backups import remove_all, statuses
from tests.support.js import ask, stream
from tests.support.run import Cli
from tests.support.servers import RealServer
from tests.support.stored import stored

RESTRICTED = """
listen: "127.0.0.1:{port}"
jetstream { store_dir: "{store}" }
authorization { users: [
  { user: all, password: all }
  { user: some, password: some, permissions: { publish: { deny: ["$JS.API.STREAM.SNAPSHOT.LOST"] } } }
] }
"""


def test_round_trip(cli: Cli, account: str, tmp_path: Path) -> None:
    had = {name: stored(account, name) for name in ("ORDERS", "MEM")}
    outcome = cli(f"backup account {tmp_path}/all --json", terminal_error=True, status=0)
    assert statuses(outcome.json) == {"A_MIRROR": "saved", "MEM": "saved", "ORDERS": "saved"}
    assert "Performing backup of all 3 streams" in outcome.err
    # Nothing but folders: the nats tool restores no other.
    assert all(entry.is_dir() for entry in (tmp_path / "all").iterdir())
    remove_all(cli)
    back = cli(f"a restore {tmp_path}/all", status=0)
    assert "Restored 3 of 3 streams" in back.out
    assert {name: stored(account, name) for name in had} == had
    assert ask(account, "STREAM.INFO.MEM")["config"]["storage"] == "memory"
    assert ask(account, "CONSUMER.INFO.ORDERS.NEW")["config"]["description"] == "fresh"
    assert len(stored(account, "A_MIRROR")) == 30


def test_an_empty_account(cli: Cli, tmp_path: Path) -> None:
    assert "no streams" in cli(f"backup account {tmp_path}/all", status=3).err
    assert not (tmp_path / "all").exists()


def test_an_existing_target_is_asked_for(cli: Cli, account: str, tmp_path: Path) -> None:
    cli(f"backup account {tmp_path}/all", status=0)
    assert "--overwrite" in cli(f"backup account {tmp_path}/all", status=64).err
    cli("stream rm MEM --force", status=0)
    cli(f"backup account {tmp_path}/all", tty=True, answers=[True], status=0)
    assert {entry.name for entry in (tmp_path / "all").iterdir()} == {"ORDERS", "A_MIRROR"}
    assert [entry.name for entry in tmp_path.glob("all*")] == ["all"]
    (tmp_path / "all" / "notes.txt").write_text("mine")
    refused = cli(f"backup account {tmp_path}/all --force", status=64)
    assert "choose another target" in refused.err


def test_a_stream_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    server = RealServer(tmp_path / "server", RESTRICTED).start()
    try:
        for name in ("GOOD", "LOST", "WELL"):
            stream(server.url_for("all"), name, name)
        cli = Cli(tmp_path / "config", server.url_for("some"))
        for form in ("", " --json"):
            failed = cli(f"backup account {tmp_path}/all --force{form}", status=1)
            assert "LOST" in failed.out
        assert statuses(failed.json) == {"GOOD": "saved", "LOST": "failed", "WELL": "saved"}
        record = json.loads((tmp_path / "all.partial" / UNFINISHED).read_text())
        assert "LOST" in record["failed"]
        assert not (tmp_path / "all" / "LOST").exists()
    finally:
        server.stop()


def test_a_mirror_comes_after_its_origin(cli: Cli, account: str, tmp_path: Path) -> None:
    cli(f"backup account {tmp_path}/all", status=0)
    order = [backup.stream for backup in open_account_backup(tmp_path / "all").backups]
    assert order.index("ORDERS") < order.index("A_MIRROR")
