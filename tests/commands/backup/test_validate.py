"""`backup validate`: what is damaged is never called valid, and the last intact entry is named."""

from pathlib import Path

import pytest

from jsctl.jetstream.backup.files import DATA, LEGACY_DATA
from tests.support.archives import MESSAGES, build_archive, pack, write_backup
from tests.support.run import Cli


def test_a_whole_backup(offline_cli: Cli, tmp_path: Path) -> None:
    backup = write_backup(tmp_path / "b")
    outcome = offline_cli(f"backup validate {backup}", terminal_error=True, status=0)
    assert outcome.out == "OK: 8 entries, 1 consumer, 5 messages, 3 subjects, sequences 1 to 6\n"
    assert outcome.err.startswith(f"Validating backup in {backup} with ")
    assert offline_cli(f"backup validate {backup} --no-progress", status=0).err == ""
    assert offline_cli(f"backup validate {backup} --json", status=0).json["messages"] == 5
    assert "━" in offline_cli(f"backup validate {backup}", tty=True, status=0).err
    empty = write_backup(tmp_path / "e", pack(build_archive([], last=0, consumers=0)))
    assert offline_cli(f"backup validate {empty}", status=0).out.endswith(" subjects, no messages\n")


@pytest.mark.parametrize("size", [1 << 20, 40])
def test_each_damage_is_found(offline_cli: Cli, tmp_path: Path, size: int) -> None:
    """Each byte flipped, in three ways, and each prefix, of one frame and of many."""
    backup = write_backup(tmp_path / "b")
    data = pack(build_archive(MESSAGES[:3]), size)
    damaged = [data[:length] for length in range(len(data))]
    for at, byte in enumerate(data):
        damaged += [data[:at] + bytes([byte ^ mask]) + data[at + 1 :] for mask in (1, 0x80, 0xFF)]
    damaged += [data + data[10:], data + b"\x01\x05\x00\x00" + bytes(5)]
    for content in damaged[:: 1 if size > 40 else 3]:
        (backup / DATA).write_bytes(content)
        refused = offline_cli(f"backup validate {backup} --no-progress")
        assert refused.status == 64 and refused.err.count("\n") == 1, content
        assert "last good entry" in refused.err


def test_the_last_good_entry(offline_cli: Cli, tmp_path: Path) -> None:
    data = pack(build_archive(MESSAGES), 60)
    backup = write_backup(tmp_path / "b", data[:-20])
    refused = offline_cli(f"backup validate {backup}", status=64)
    assert "it is truncated (last good entry: entry #6, message ORDERS.paid, sequence 5)" in refused.err


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([MESSAGES[1], MESSAGES[0]], "does not come after sequence 2"),
        ([(b"", 0, b"", b"x")], "in place of a message"),
    ],
)
def test_what_a_server_refuses(
    offline_cli: Cli, tmp_path: Path, messages: list[tuple[bytes, int, bytes, bytes]], reason: str
) -> None:
    backup = write_backup(tmp_path / "b", pack(build_archive(messages)))
    assert reason in offline_cli(f"backup validate {backup}", status=64).err


def test_what_is_no_backup(offline_cli: Cli, tmp_path: Path) -> None:
    backup = write_backup(tmp_path / "b", b"not an archive")
    (backup / DATA).rename(backup / LEGACY_DATA)
    assert (
        "is not a NATS Server 2.15 stream backup" in offline_cli(f"backup validate {backup}", status=64).err
    )
    (backup / DATA).write_bytes(b"")
    assert "holds both" in offline_cli(f"backup validate {backup}", status=64).err
    assert offline_cli(f"backup validate {tmp_path}/nope", status=3).err.count("\n") == 1


def test_a_backup_with_a_digest(cli: Cli, mixed: str, tmp_path: Path) -> None:
    for name in ("b", "c.tgz"):
        cli(f"backup stream ORDERS {tmp_path}/{name}", status=0)
        shown = cli(f"backup validate {tmp_path}/{name}", status=0).out
        assert shown == "OK: 12 entries, 1 consumer, 9 messages, 3 subjects, sequences 2 to 11\n"
    meta = tmp_path / "b" / "backup.json"
    meta.write_text(meta.read_text().replace("ORDERS", "ORDERZ"))
    assert "was changed after the backup" in cli(f"backup validate {tmp_path}/b", status=64).err
