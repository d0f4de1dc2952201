"""`backup edit`: which messages stay, what the result is, and that a server restores it."""

import json
import shlex
from fnmatch import fnmatchcase
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from jsctl.jetstream.backup.archive import ArchiveReader, Message
from jsctl.jetstream.backup.archive_file import ArchiveWriter
from jsctl.jetstream.backup.files import DATA, META
from jsctl.jetstream.backup.s2 import ARCHIVE_END, FrameReader
from tests.support import js
from tests.support.archives import HEADERS, MESSAGES, SECOND, build_archive, pack, write_backup
from tests.support.js import ask
from tests.support.run import Cli
from tests.support.stored import stored


def read(folder: Path) -> list[Message]:
    """The messages of a backup."""
    reader = ArchiveReader(yields="messages")
    frames = FrameReader().feed((folder / DATA).read_bytes())
    found = [item for frame in frames for item in reader.feed(frame.decode()) if isinstance(item, Message)]
    reader.finish()
    return found


@pytest.mark.parametrize(
    ("flags", "kept", "dropped"),
    [
        ("", [1, 2, 4, 5, 6], {}),
        ("--subject ORDERS.new", [1, 4], {"subject": 3}),
        ("--subject ORDERS.* --subject ORDERS.new.*", [1, 2, 4, 5, 6], {}),
        ("--subject 'ORDERS.>' --exclude-subject ORDERS.paid", [1, 4, 6], {"subject": 2}),
        ("--first-seq 2 --last-seq 4", [2, 4], {"sequence": 3}),
        ("--after 1970-01-01T00:00:02Z --before 1970-01-01T00:00:05Z", [2, 4], {"time": 3}),
        ("--before 1h --first-seq 5", [5, 6], {"sequence": 3}),
        ("--header x-batch", [2, 5], {"header": 3}),
        ("--header X-Batch:8", [], {"header": 5}),
        ("--header X-Batch:8 --header X-Batch:7", [2, 5], {"header": 3}),
        ("--exclude-header X-Batch", [1, 4, 6], {"header": 2}),
        ("--payload-match '^message [12]$'", [1, 2], {"payload": 3}),
        ("--exclude-payload-match 6", [1, 2, 4, 5], {"payload": 1}),
        ("--last-per-subject 1", [4, 5, 6], {"last_per_subject": 2}),
        ("--last-per-subject 2 --first-seq 2", [2, 4, 5, 6], {"sequence": 1}),
        ("--first-seq 100", [], {"sequence": 5}),
    ],
)
@pytest.mark.parametrize("size", [1 << 20, 70])
def test_filters(
    offline_cli: Cli, tmp_path: Path, flags: str, kept: list[int], dropped: dict[str, int], size: int
) -> None:
    """Of one frame, and of frames that stay as a whole, in part, or not at all."""
    source = write_backup(tmp_path / "b", pack(build_archive(MESSAGES), size))
    line = f"backup edit {source} {tmp_path}/e {flags}"
    preview = offline_cli(f"{line} --dry-run --json", status=0).json
    assert not (tmp_path / "e").exists()
    report = offline_cli(f"{line} --json", status=0).json
    assert {**report, "dry_run": True} == preview
    assert [message.sequence for message in read(tmp_path / "e")] == kept
    assert report["dropped"] == dropped and report["messages"] == len(kept)
    state = report["state"]
    assert (state["first_seq"], state["last_seq"]) == (kept[0] if kept else 8, 7)
    raw = {message.sequence: message.raw for message in read(source)}
    assert all(message.raw == raw[message.sequence] for message in read(tmp_path / "e"))
    offline_cli(f"backup validate {tmp_path}/e", status=0)
    assert (tmp_path / "e").stat().st_mode & 0o777 == 0o700
    assert {(entry.name, entry.stat().st_mode & 0o777) for entry in (tmp_path / "e").iterdir()} == {
        (DATA, 0o600),
        (META, 0o600),
    }


messages = st.lists(
    st.tuples(
        st.sampled_from([b"ORDERS.new", b"ORDERS.paid", b"ORDERS.void"]),
        st.integers(1, 3),
        st.sampled_from([b"", HEADERS]),
        st.binary(max_size=300),
    ),
    max_size=60,
)
numbers = st.none() | st.integers(1, 180)
patterns = st.sampled_from([None, "ORDERS.new", "ORDERS.*", "ORDERS.paid"])


@given(
    messages,
    numbers,
    numbers,
    numbers,
    numbers,
    patterns,
    patterns,
    st.booleans(),
    st.sampled_from([70, 1 << 20]),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_filters(
    offline_cli: Cli,
    tmp_path_factory: pytest.TempPathFactory,
    drawn: list[tuple[bytes, int, bytes, bytes]],
    first: int | None,
    last: int | None,
    after: int | None,
    before: int | None,
    subject: str | None,
    excluded: str | None,
    with_header: bool,
    size: int,
) -> None:
    """The result is what a filter over the messages gives, and is valid."""
    assume((first or 0) <= (last or 999) and (after or 0) < (before or 999))
    sequences = accumulate(step for _, step, _, _ in drawn)
    stored = [
        (name, at, headers, data) for at, (name, _, headers, data) in zip(sequences, drawn, strict=True)
    ]
    folder = tmp_path_factory.mktemp("edit")
    archive = build_archive(stored, last=max([7, *(at for _, at, _, _ in stored)]))
    line = ["backup", "edit", str(write_backup(folder / "b", pack(archive, size))), str(folder / "e")]
    flags = {"first-seq": first, "last-seq": last, "subject": subject, "exclude-subject": excluded}
    times = {"after": after, "before": before}
    flags |= {key: at and f"1970-01-01T00:{at // 60:02}:{at % 60:02}Z" for key, at in times.items()} | {
        "header": "X-Batch" if with_header else None
    }
    line += [f"--{key}={value}" for key, value in flags.items() if value is not None]
    expected = [
        message
        for message in stored
        if (first or 0) <= message[1] <= (last or 999)
        and (after or 0) <= message[1] < (before or 999)
        and fnmatchcase(message[0].decode(), subject or "*")
        and not fnmatchcase(message[0].decode(), excluded or "")
        and (message[2] or not with_header)
    ]
    offline_cli(shlex.join(line), status=0)
    found = [
        (message.subject, message.sequence, message.header_block, message.data)
        for message in read(folder / "e")
    ]
    assert found == expected
    assert all(message.time == message.sequence * SECOND for message in read(folder / "e"))
    offline_cli(f"backup validate {folder}/e", status=0)


def test_the_writer_keeps_no_view() -> None:
    """A few bytes of each block are kept, and the blocks are freed."""
    written = bytearray()
    with ArchiveWriter(written.extend) as writer:
        for number in range(100):
            block = bytearray([number]) * 1000
            writer.add(memoryview(block)[:10])
            block.clear()  # raises BufferError while a view exists
        writer.finish()
    content = b"".join(bytes(frame.decode()) for frame in FrameReader().feed(bytes(written)))
    assert content == b"".join(bytes([number]) * 10 for number in range(100)) + ARCHIVE_END


def test_the_page(offline_cli: Cli, tmp_path: Path) -> None:
    source = write_backup(tmp_path / "b")
    line = f"backup edit {source} {tmp_path}/e --subject ORDERS.new --renumber"
    page = offline_cli(line, terminal_error=True, status=0)
    assert page.err.startswith(f"Editing backup in {source} with ")
    for line in (
        "Messages Kept: 2",
        "Dropped by Subject Filter: 3",
        "Consumers Dropped: 1",
        "Last Sequence: 2",
    ):
        assert line in page.out
    assert [message.sequence for message in read(tmp_path / "e")] == [1, 2]
    assert "Dry Run, Nothing" in offline_cli(f"backup edit {source} {tmp_path}/f --dry-run", status=0).out
    line = f"backup edit {source} {tmp_path}/f --last-per-subject 1"
    assert " in 2 passes\n" in offline_cli(line, terminal_error=True, status=0).err


def test_limits_that_remove_messages(offline_cli: Cli, tmp_path: Path) -> None:
    limits: dict[str, Any] = {"max_msgs": 2, "max_bytes": 10, "max_age": 1, "max_msgs_per_subject": 1}
    source = write_backup(tmp_path / "b", **limits)
    report = offline_cli(f"backup edit {source} {tmp_path}/e --last-per-subject 3 --json", status=0).json
    assert len(report["warnings"]) == 4


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        ("--kv-compact", "requires a KV bucket backup"),
        ("--kv-compact --last-per-subject 1", "mutually exclusive"),
        ("--payload-match (", "invalid payload expression"),
        (r"--payload-match \pL", "invalid payload expression"),
        ("--after yesterday", "invalid time"),
        ("--after 1h --before 2h", "earlier"),
        ("--first-seq 3 --last-seq 2", "above"),
        ("--first-seq -1", "not a valid sequence"),
        ("--last-seq -1", "not a valid sequence"),
        ("--after 0001-01-01T00:00:00Z", "outside"),
        ("--before 1677-09-21T00:12:43Z", "outside"),
        ("--before 9999-12-31T23:59:59Z", "outside"),
        ("--subject a..b", "valid subject"),
        ("--header :x", "header name"),
        ("--last-per-subject 0", "--last-per-subject"),
        ("--obfuscation-key x", "requires --obfuscate"),
    ],
)
def test_bad_flags(offline_cli: Cli, tmp_path: Path, flags: str, reason: str) -> None:
    source = write_backup(tmp_path / "b")
    refused = offline_cli(["backup", "edit", str(source), f"{tmp_path}/e", *flags.split()], status=64)
    assert reason in refused.err and not (tmp_path / "e").exists()


def test_targets(offline_cli: Cli, tmp_path: Path) -> None:
    source = write_backup(tmp_path / "b")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("x")
    (tmp_path / "empty").mkdir()
    for target in ("b", "b/inside", "full"):
        offline_cli(f"backup edit {source} {tmp_path}/{target}", status=64)
    for target in ("empty", "deep/e", "e.tgz"):
        offline_cli(f"backup edit {source} {tmp_path}/{target}", status=0)
        offline_cli(f"backup validate {tmp_path}/{target}", status=0)
    damaged = write_backup(tmp_path / "d", pack(build_archive(MESSAGES))[:-8])
    offline_cli(f"backup edit {damaged} {tmp_path}/x", status=64)
    assert {entry.name for entry in tmp_path.iterdir()} == {"b", "full", "empty", "deep", "e.tgz", "d"}


def test_obfuscation(offline_cli: Cli, tmp_path: Path) -> None:
    source = write_backup(tmp_path / "b", description="secret")
    outcome = offline_cli(f"backup edit {source} {tmp_path}/e --obfuscate", status=0)
    key = tmp_path / "e.keys.json"
    assert f"Key File: {key}" in outcome.out and key.stat().st_mode & 0o777 == 0o600
    assert "ORDERS" not in (tmp_path / "e" / META).read_text() + str(read(tmp_path / "e"))
    config = json.loads((tmp_path / "e" / META).read_text())["config"]
    assert "description" not in config and len(config["name"]) == 16
    messages = read(tmp_path / "e")
    assert [message.data.strip(b"0") for message in messages] == [b""] * 5
    assert [len(message.data) for message in messages] == [9, 9, 0, 9, 360]
    subject = messages[4].subject.decode()
    shown = offline_cli(f"backup lookup {key} {config['name']} {subject} nope", status=0).out
    assert shown == "ORDERS\nORDERS.new.eu\nnope\n"
    (tmp_path / "e").rename(tmp_path / "first")
    assert "already exists" in offline_cli(f"backup edit {source} {tmp_path}/e --obfuscate", status=64).err
    again = f"backup edit {source} {tmp_path}/f --obfuscate --obfuscation-key {key}"
    offline_cli(again, status=0)
    assert (tmp_path / "f" / DATA).read_bytes() == (tmp_path / "first" / DATA).read_bytes()
    assert (tmp_path / "f.keys.json").read_bytes() == key.read_bytes()
    key.write_text(key.read_text().replace('"ORDERS"', '"OTHERS"'))
    assert "does not fit the secret" in offline_cli(again, status=64).err


@pytest.mark.parametrize("flags", ["", "--exclude-subject ORDERS.1", "--renumber", "--obfuscate"])
def test_a_server_restores_the_result(cli: Cli, mixed: str, tmp_path: Path, flags: str) -> None:
    cli(f"backup stream ORDERS {tmp_path}/b", status=0)
    had = stored(mixed, "ORDERS")
    state = cli(f"backup edit {tmp_path}/b {tmp_path}/e {flags} --json", status=0).json["state"]
    cli("stream rm ORDERS --force", status=0)
    cli(f"backup restore stream {tmp_path}/e --name E --subjects e", status=0)
    info = ask(mixed, "STREAM.INFO.E")["state"]
    keys = ("messages", "first_seq", "last_seq", "consumer_count")
    assert {key: info[key] for key in keys} == {key: state[key] for key in keys}
    assert flags or stored(mixed, "E") == had


def test_buckets(cli: Cli, url: str, tmp_path: Path) -> None:
    for line in ("add B --history 5", "put B k1 v1", "put B k1 v2", "put B k2 x", "del B k2 --force"):
        cli(f"kv {line}", status=0)
    cli(f"backup stream KV_B {tmp_path}/b", status=0)
    report = cli(f"backup edit {tmp_path}/b {tmp_path}/e --kv-compact --json", status=0).json
    assert (report["source_messages"], report["messages"], report["dropped"]) == (4, 1, {"kv_compact": 3})
    page = cli(f"backup edit {tmp_path}/b {tmp_path}/f --exclude-header KV-Operation", status=0).out
    assert "KV Tombstones Removed by Content Filters: 1" in page
    js.ask(url, "STREAM.DELETE.KV_B")
    cli(f"backup restore stream {tmp_path}/e", status=0)
    assert cli("kv get B k1 --raw", status=0).out.strip() == "v2"
