"""`account restore` on real servers."""

import json
import os
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, assume, example, given, settings
from hypothesis import strategies as st

from jsctl.errors import ApiError
from jsctl.jetstream.backup.account_files import UNFINISHED
from jsctl.jetstream.backup.files import DATA, MANIFEST, META
from jsctl.jetstream.state import MARK
from tests.support.account_backups import remove_all, statuses
from tests.support.cases import sample
from tests.support.js import ask, publish, stream
from tests.support.run import Cli
from tests.support.stored import stored


def test_broken_entries_are_named(cli: Cli, account: str, tmp_path: Path) -> None:
    cli(f"backup account {tmp_path}/all", status=0)
    data = tmp_path / "all" / "MEM" / DATA
    data.write_bytes(data.read_bytes()[:-3])
    (tmp_path / "all" / "EMPTY").mkdir()
    remove_all(cli)
    failed = cli(f"backup restore account {tmp_path}/all --json", status=1)
    rows = {row["stream"]: row for row in failed.json}
    assert rows["MEM"]["status"] == "failed" and "is truncated" in rows["MEM"]["remark"]
    assert rows["EMPTY"]["status"] == "failed"
    assert rows["ORDERS"]["status"] == rows["A_MIRROR"]["status"] == "restored"
    again = cli(f"backup restore account {tmp_path}/all", status=1)
    assert again.out.splitlines()[-1].startswith("Restored 2 of 4 streams ")


def test_a_restore_that_is_resumed(cli: Cli, account: str, tmp_path: Path) -> None:
    cli(f"backup account {tmp_path}/all", status=0)
    remove_all(cli)
    cli(f"backup restore stream {tmp_path}/all/ORDERS", status=0)
    rows = cli(f"backup restore account {tmp_path}/all --json", status=0).json
    assert statuses(rows) == {"A_MIRROR": "restored", "MEM": "restored", "ORDERS": "unchanged"}
    publish(account, "ORDERS.new", b"later")
    rows = cli(f"backup restore account {tmp_path}/all --json", status=0).json
    assert set(statuses(rows).values()) == {"unchanged"}
    assert len(stored(account, "ORDERS")) == 31
    for line in ("stream rmm ORDERS 3 --force", "stream purge ORDERS --force"):
        cli(line, status=0)
        assert (
            statuses(cli(f"backup restore account {tmp_path}/all --json", status=1).json)["ORDERS"]
            == "failed"
        )


def test_a_stream_that_was_empty(cli: Cli, url: str, tmp_path: Path) -> None:
    stream(url, "NEW", "new")
    stream(url, "PURGED", "purged")
    publish(url, "purged", b"1")
    ask(url, "STREAM.PURGE.PURGED")
    cli(f"account backup {tmp_path}/all", status=0)
    publish(url, "new", b"1")
    publish(url, "purged", b"2")
    rows = cli(f"account restore {tmp_path}/all --json", status=0).json
    assert statuses(rows) == {"NEW": "unchanged", "PURGED": "unchanged"}


@pytest.mark.slow
def test_what_is_newer_than_the_backup(cli: Cli, account: str, tmp_path: Path) -> None:
    cli(f"backup account {tmp_path}/all", status=0)
    config = ask(account, "STREAM.INFO.ORDERS")["config"]
    ask(account, "STREAM.UPDATE.ORDERS", {**config, "metadata": {MARK: "restore x"}})
    publish(account, "ORDERS.new", b"later")
    line = f"backup restore account {tmp_path}/all --force"
    newer = "left, with 31 messages, 1 of them (31) newer than the backup"
    refused = " ".join(cli(line, status=1).out.split())
    assert newer in refused and "use --allow-data-loss" in refused
    remark = {row["stream"]: row for row in cli(f"{line} --dry-run --json").json["streams"]}["ORDERS"][
        "remark"
    ]
    assert remark.endswith("with 1 message newer than the backup")
    kept = cli(line, tty=True, answers=[False], status=1)
    assert "was left as it is" in " ".join(kept.out.split())
    assert len(stored(account, "ORDERS")) == 31
    cli(f"{line} --allow-data-loss", status=0)
    assert len(stored(account, "ORDERS")) == 30


def test_a_stream_that_is_gone_from_the_backup(cli: Cli, account: str, tmp_path: Path) -> None:
    cli(f"backup account {tmp_path}/all", status=0)
    for entry in (tmp_path / "all" / "MEM").iterdir():
        entry.unlink()
    (tmp_path / "all" / "MEM").rmdir()
    remove_all(cli)
    failed = cli(f"backup restore account {tmp_path}/all", status=1)
    assert "lacks 1 stream of the backup" in failed.out
    assert len(stored(account, "ORDERS")) == 30


def test_update_streams(cli: Cli, account: str, tmp_path: Path) -> None:
    cli(f"backup {tmp_path}/all --data", status=0)
    cli("stream edit ORDERS --description changed --force", status=0)
    ask(account, "CONSUMER.DELETE.ORDERS.NEW")
    publish(account, "ORDERS.new", b"later")
    refused = cli(f"restore {tmp_path}/all", status=1)
    assert "--update-streams" in refused.out
    rows = cli(f"restore {tmp_path}/all --update-streams --json", status=0).json
    assert statuses(rows) == {"A_MIRROR": "unchanged", "MEM": "unchanged", "ORDERS": "updated"}
    assert "description" not in ask(account, "STREAM.INFO.ORDERS")["config"]
    assert ask(account, "CONSUMER.INFO.ORDERS.NEW")["config"]["description"] == "fresh"
    assert len(stored(account, "ORDERS")) == 31


@pytest.mark.slow
def test_what_an_unfinished_restore_left(cli: Cli, account: str, tmp_path: Path) -> None:
    cli(f"backup account {tmp_path}/all", status=0)
    config = ask(account, "STREAM.INFO.MEM")["config"]
    ask(account, "STREAM.UPDATE.MEM", {**config, "metadata": {MARK: "restore x"}})
    ask(account, "STREAM.PURGE.MEM", {})
    line = f"backup restore account {tmp_path}/all --update-streams"
    assert "is what an unfinished restore left" in " ".join(cli(line, status=1).out.split())
    cli(f"{line} --force", status=0)
    assert len(stored(account, "MEM")) == 20


@pytest.mark.parametrize("what", ["none", "stream", "empty"])
def test_no_backup_there(cli: Cli, account: str, tmp_path: Path, what: str) -> None:
    folder = tmp_path / what
    if what == "stream":
        cli(f"backup stream MEM {folder}", status=0)
    elif what == "empty":
        folder.mkdir()
    refused = cli(f"backup restore account {folder}")
    assert refused.status == (64 if what == "stream" else 3)
    assert refused.err.count("\n") == 1


def test_an_unfinished_account_backup_says_so(cli: Cli, account: str, tmp_path: Path) -> None:
    cli(f"backup account {tmp_path}/all", status=0)
    (tmp_path / "all" / UNFINISHED).write_text(json.dumps({"failed": {"LOST": "server broke off"}}))
    remove_all(cli)
    failed = cli(f"backup restore account {tmp_path}/all", status=1)
    assert "LOST" in failed.out and "server broke off" in failed.out
    assert len(stored(account, "ORDERS")) == 30
    assert "not finished" in cli(f"backup account {tmp_path}/all", status=64).err


BAD = (
    (META, b"[" * 100_000),
    (META, b'{"config": {"name": 7}, "state": {}}'),
    (META, b'{"config": {"name": "MEM"}, "state": {"messages": "many"}}'),
    (META, b"\xff\xfe"),
    (MANIFEST, b'{"complete": true, "format": "x"}'),
    (MANIFEST, b'{"complete": true, "files": []}'),
    (MANIFEST, b'{"complete": true, "files": {"backup.json": 7}}'),
    (MANIFEST, b'{"complete": true, "consumers": 7}'),
    (MANIFEST, b'{"complete": true, "account": 7}'),
    (MANIFEST, b'{"complete": true, "consumers": [{"max_deliver": "x"}], "files": {}}'),
    (DATA, b""),
    (DATA, b"\xff\x06\x00\x00S2sTwO"),
    (DATA, b"no snapshot"),
)


@pytest.mark.parametrize(("update", "bad"), sample(product(["", " --update-streams"], BAD), 2))
def test_a_bad_entry_does_not_stop_the_others(
    cli: Cli, account: str, tmp_path: Path, update: str, bad: tuple[str, bytes]
) -> None:
    cli(f"backup account {tmp_path}/all", status=0)
    name, content = bad
    (tmp_path / "all" / "MEM" / name).write_bytes(content)
    if not update:
        remove_all(cli)
    failed = cli(f"backup restore account {tmp_path}/all --json{update}")
    rows = {row["stream"]: row["status"] for row in failed.json}
    others = {"unchanged"} if update else {"restored"}
    assert {rows["ORDERS"], rows["A_MIRROR"]} == others
    if "max_deliver" not in str(content):  # consumers are in the snapshot, too
        assert (failed.status, rows["MEM"]) == (1, "failed")
    assert "Traceback" not in failed.err and "bug" not in failed.out


def test_entries_of_other_kinds_are_named(cli: Cli, account: str, tmp_path: Path) -> None:
    cli(f"backup account {tmp_path}/all", status=0)
    remove_all(cli)
    os.mkfifo(tmp_path / "all" / "fifo")
    (tmp_path / "all" / "loop").symlink_to("loop")
    (tmp_path / "all" / "notes.txt").write_text("mine")
    (tmp_path / "all" / "x.tgz").write_bytes(b"\x1f\x8b\x00")
    failed = cli(f"backup restore account {tmp_path}/all --json", status=1)
    assert statuses(failed.json) == {
        "ORDERS": "restored",
        "A_MIRROR": "restored",
        "MEM": "restored",
        "fifo": "failed",
        "loop": "failed",
        "notes.txt": "failed",
        "x.tgz": "failed",
    }


SUBJECTS = ("a", "a.*", "a.>", "a.b", "b.*", "b.c", "*.c", "c")
NAMES = ("A", "B", "C")
subjects = st.dictionaries(
    st.sampled_from(NAMES), st.lists(st.sampled_from(SUBJECTS), min_size=1, max_size=2), min_size=1
)


@pytest.mark.slow
@settings(
    max_examples=12,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@example(saved={"A": ["a.>"], "B": ["a.b"], "C": ["c"]}, there={"C": ["c"], "X": ["*.c"]}, flag="")
@given(
    saved=subjects,
    there=st.dictionaries(
        st.sampled_from([*NAMES, "X", "Y"]), st.lists(st.sampled_from(SUBJECTS), min_size=1)
    ),
    flag=st.sampled_from(["", " --update-streams"]),
)
def test_overlapping_subjects_are_found_first(
    cli: Cli,
    url: str,
    tmp_path_factory: pytest.TempPathFactory,
    saved: dict[str, list[str]],
    there: dict[str, list[str]],
    flag: str,
) -> None:
    """What a dry run says of each stream is what happens to it."""
    folder = tmp_path_factory.mktemp("all")
    try:
        for name, wanted in saved.items():  # one by one, as their subjects may overlap
            if try_stream(url, name, wanted):
                cli(f"backup stream {name} {folder}/{name}", status=0)
                ask(url, f"STREAM.DELETE.{name}")
        assume(any(folder.iterdir()))
        for name, wanted in there.items():
            try_stream(url, name, wanted)
        line = f"backup restore account {folder} --json{flag}"
        planned = statuses(cli(f"{line} --dry-run").json["streams"])
        assert statuses(cli(line).json) == planned
    finally:
        remove_all(cli)


def try_stream(url: str, name: str, wanted: list[str]) -> bool:
    """Create a stream; return whether the server takes its subjects."""
    try:
        stream(url, name, *dict.fromkeys(wanted))
    except ApiError:
        return False
    return True
