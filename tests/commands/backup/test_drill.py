"""`backup drill` on a server of its own."""

import tempfile
from pathlib import Path

import pytest

from tests.commands.backup.test_chain import make_chain
from tests.support.archives import write_backup
from tests.support.js import ask
from tests.support.run import Cli


@pytest.mark.slow
def test_a_chain_is_exact_and_nothing_is_left(
    cli: Cli, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_chain(cli, url, tmp_path)[-1]
    config = {"durable_name": "C", "ack_policy": "explicit"}
    ask(url, "CONSUMER.DURABLE.CREATE.W.C", {"stream_name": "W", "config": config})
    cli("consumer next W C --count 3", status=0)
    cli("consumer next W C --count 2 --no-ack", status=0)
    cli(f"backup stream W {tmp_path}/d4 --since {path}", status=0)
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    report = cli(f"backup drill {tmp_path}/d4 --json", status=0).json
    assert report["exact"] and report["messages"] == 57 and report["consumers"] == 1
    assert report["expected_ns"] >= report["restore_ns"] > 0
    assert "The backup restores exactly" in cli(f"backup drill {tmp_path}/d4", status=0).out
    assert not list(folder.iterdir())


@pytest.mark.slow
def test_what_is_not_restored_is_named(offline_cli: Cli, tmp_path: Path) -> None:
    """The stream's limit is below what the backup holds, and its messages are older than its maximum age."""
    source = write_backup(tmp_path / "b", max_msgs=3, max_age=10**9)
    report = offline_cli(f"backup drill {source} --json", status=1).json
    assert not report["exact"]
    assert (report["missing"], report["different"], report["sequences"]) == (2, 0, [1, 2])
    assert report["expiring"] == 5
    assert "differs from the backup" in offline_cli(f"backup drill {source}", status=1).out


def test_a_damaged_backup(offline_cli: Cli, tmp_path: Path) -> None:
    source = write_backup(tmp_path / "b", b"not an archive")
    outcome = offline_cli(f"backup drill {source}")
    assert outcome.status != 0 and outcome.err.count("\n") == 1 and not outcome.out
