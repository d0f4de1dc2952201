"""Chains of backups: `backup stream --since`, and what reads them."""

import os
import random
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from jsctl.jetstream.backup.archive import ArchiveReader, Consumer, Message
from jsctl.jetstream.backup.archive_file import read_blocks
from jsctl.jetstream.backup.chain import opening_snapshot
from jsctl.jetstream.backup.files import DATA, GONE, LINK_DATA, MANIFEST, META, open_backup
from tests.support import js
from tests.support.js import ask, publish, publish_framed
from tests.support.run import Cli
from tests.support.stored import stored


def read(path: Path) -> tuple[dict[str, Any], list[bytes]]:
    """The consumers of a backup, and its messages as entries."""
    reader = ArchiveReader(yields="messages")
    consumers: dict[str, Any] = {}
    messages: list[bytes] = []
    with opening_snapshot(open_backup(path)) as file:
        for _, block in read_blocks(file):
            for item in reader.feed(block):
                if isinstance(item, Consumer):
                    consumers[item.name] = item.content
                elif isinstance(item, Message):
                    messages.append(item.raw)
    reader.finish()
    return consumers, messages


def make_chain(cli: Cli, url: str, folder: Path) -> list[Path]:
    """A backup and two links, with deletes between them."""
    js.stream(url, "W", "w.>")
    paths = [folder / "d1", folder / "d2", folder / "d3"]
    for number, path in enumerate(paths):
        for count in range(20):
            publish(url, f"w.{count % 3}", os.urandom(40))
        ask(url, "STREAM.MSG.DELETE.W", {"seq": 3 + 7 * number})
        cli(f"backup stream W {path}" + (f" --since {paths[number - 1]}" if number else ""), status=0)
    return paths


def change_at_random(cli: Cli, url: str, chance: random.Random) -> None:
    for _ in range(chance.randint(1, 5)):
        state = ask(url, "STREAM.INFO.W")["state"]
        sequence = chance.randint(state["first_seq"], max(state["first_seq"], state["last_seq"]))
        match chance.randint(0, 7):
            case 0 | 1 | 2:
                for _ in range(chance.randint(1, 30)):
                    header = chance.choice((b"NATS/1.0\r\n\r\n", b"NATS/1.0\r\nA: 1\r\n\r\n"))
                    publish_framed(
                        url, f"w.{chance.randint(0, 3)}", header, os.urandom(chance.choice((0, 99)))
                    )
            case 3 if any(message.sequence == sequence for message in stored(url, "W")):
                ask(url, "STREAM.MSG.DELETE.W", {"seq": sequence})
            case 4:
                ask(url, "STREAM.PURGE.W", {"filter": f"w.{chance.randint(0, 3)}"})
            case 5:
                ask(url, "STREAM.PURGE.W", chance.choice(({"seq": sequence}, {"keep": 10})))
            case 6 if chance.random() < 0.2:
                ask(url, "STREAM.PURGE.W")
            case _ if state["messages"]:
                acks = chance.choice(("", "--no-ack"))
                cli(f"consumer next W C --count {chance.randint(1, 5)} {acks} --timeout 100ms")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_a_chain_restores_exactly(cli: Cli, url: str, tmp_path: Path, seed: int) -> None:
    """A property over random changes between the links: what is read of a chain is what a full backup has,
    and what is restored is what was in the stream."""
    chance = random.Random(seed)
    js.stream(url, "W", "w.>", max_msgs_per_subject=chance.choice((-1, 5)))
    config = {"durable_name": "C", "ack_policy": "explicit"}
    ask(url, "CONSUMER.DURABLE.CREATE.W.C", {"stream_name": "W", "config": config})
    path = tmp_path / "0"
    cli(f"backup stream W {path}", status=0)
    for number in range(1, 5):
        change_at_random(cli, url, chance)
        since, path = path, tmp_path / (f"{number}.tgz" if chance.random() < 0.3 else str(number))
        cli(f"backup stream W {path} --since {since}", status=0)
        cli(f"backup stream W {tmp_path}/full --overwrite", status=0)
        assert read(path) == read(tmp_path / "full")
        report = cli(f"backup validate {path} --json", status=0).json
        assert report["messages"] == ask(url, "STREAM.INFO.W")["state"]["messages"]
    had, state = stored(url, "W"), ask(url, "STREAM.INFO.W")["state"]
    consumers = []
    for restored in (tmp_path / "full", path):
        ask(url, "STREAM.DELETE.W")
        cli(f"backup restore stream {restored}", status=0)
        assert stored(url, "W") == had
        after = ask(url, "STREAM.INFO.W")["state"]
        for key in ("messages", "bytes", "first_seq", "last_seq", "num_deleted"):
            assert after.get(key) == state.get(key), key
        consumer = ask(url, "CONSUMER.INFO.W.C")
        consumers.append(
            {key: consumer[key] for key in ("delivered", "ack_floor", "num_ack_pending", "num_pending")}
        )
    assert consumers[0] == consumers[1]


def test_pages(cli: Cli, url: str, tmp_path: Path) -> None:
    paths = make_chain(cli, url, tmp_path)
    assert {entry.name for entry in paths[2].iterdir()} == {LINK_DATA, GONE, META, MANIFEST}
    page = cli(f"backup info {paths[2]} --json", status=0).json
    assert page["chain"] == {"parts": [str(path) for path in paths], "new": 20, "gone": 1}
    assert page["messages"] == page["declared"]["messages"] == 57
    text = cli(f"backup info {paths[2]}", status=0).out
    assert "Gone Since Parent: 1" in text and "not taken at one instant" in text
    cli(f"backup edit {paths[2]} {tmp_path}/e --last-per-subject 1", status=0)
    assert (tmp_path / "e" / DATA).exists()
    assert cli(f"backup validate {tmp_path}/e --json", status=0).json["messages"] == 3
    saved = cli(f"backup stream W {tmp_path}/d4 --since {paths[2]} --json", status=0).json
    assert (saved["messages"], saved["new"], saved["gone"], saved["since"]) == (57, 0, 0, "d3")


def test_damage_is_never_called_valid(cli: Cli, url: str, tmp_path: Path) -> None:
    """Each file of each part in turn: a flipped bit, a lost end, a lost file; and parents that were
    exchanged."""
    paths = make_chain(cli, url, tmp_path)
    chance = random.Random(os.urandom(4))
    for file in [entry for path in paths for entry in path.iterdir()]:
        data = file.read_bytes()
        at = chance.randrange(len(data))
        flipped = data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
        for damaged in (flipped, data[:at], None):
            file.unlink() if damaged is None else file.write_bytes(damaged)
            _check_refused(cli, f"{file} {at} {damaged!r}", paths[2])
            file.write_bytes(data)
    for path in paths[:2]:
        path.rename(tmp_path / "away")
        _check_refused(cli, "missing", paths[2])
        shutil.copytree(paths[2], path)
        _check_refused(cli, "exchanged", paths[2])
        shutil.rmtree(path)
        (tmp_path / "away").rename(path)
    cli(f"backup validate {paths[2]}", status=0)


def _check_refused(cli: Cli, label: str, path: Path) -> None:
    for line in (f"backup validate {path}", f"backup restore stream {path} --name OTHER"):
        outcome = cli(line)
        assert outcome.status != 0, label
        assert outcome.err.count("\n") == 1 and outcome.err.startswith("jsctl: error: "), (label, outcome.err)
        assert outcome.out == "", label


def test_damage_is_named_in_words(cli: Cli, url: str, tmp_path: Path) -> None:
    path = make_chain(cli, url, tmp_path)[2]
    (path / GONE).write_bytes(b"\xff\x06 S2")
    words = f"the backup in {path} is damaged: a line of {GONE} is not two numbers above those before it"
    assert words in cli(["backup", "validate", str(path)], status=64).err
    (path / GONE).unlink()
    words = f"cannot read {GONE} of {path}: No such file or directory; use another backup"
    assert words in cli(["backup", "validate", str(path)], status=64).err


def test_a_link_in_a_pipe_is_refused(cli: Cli, url: str, tmp_path: Path) -> None:
    path = make_chain(cli, url, tmp_path)[-1]
    cli(f"backup stream W {tmp_path}/d4.tgz --since {path}", status=0)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(pipe.write_bytes, (tmp_path / "d4.tgz").read_bytes())
        refused = cli(f"backup validate {pipe}", status=64)
        writing.result()
    assert "needs its parents beside it" in refused.err and refused.err.count("\n") == 1


def test_refusals(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "W", "w.>")
    js.stream(url, "OTHER", "other.>")
    publish(url, "w.1", count=5)
    cli(f"backup stream W {tmp_path}/d1", status=0)
    for line, remark in (
        (f"W {tmp_path}/d2 --since {tmp_path}/d0", "there is no backup at"),
        (f"OTHER {tmp_path}/d2 --since {tmp_path}/d1", "holds a backup of stream W, not of OTHER"),
        (f"W {tmp_path}/d1 --since {tmp_path}/d1 --overwrite", "choose another target"),
        (f"W {tmp_path}/d1/inside --since {tmp_path}/d1", "choose another target"),
    ):
        for flag in ("", " --dry-run"):
            outcome = cli(f"backup stream {line}{flag}")
            assert outcome.status != 0 and remark in outcome.err and outcome.err.count("\n") == 1
    empty = ["backup", "stream", "W", f"{tmp_path}/d2", "--since", ""]
    assert "--since is empty" in cli(empty, status=64).err  # as where a script's variable is not set
    ask(url, "STREAM.DELETE.W")
    js.stream(url, "W", "w.>")
    publish(url, "w.1", count=9)
    refused = cli(f"backup stream W {tmp_path}/d2 --since {tmp_path}/d1", status=64)
    assert "was made anew since the backup" in refused.err and "without --since" in refused.err
    assert not (tmp_path / "d2").exists()


def test_a_parent_is_not_replaced(cli: Cli, url: str, tmp_path: Path) -> None:
    paths = make_chain(cli, url, tmp_path)
    for flag in ("", " --dry-run"):
        refused = cli(f"backup stream W {paths[1]} --overwrite{flag}", status=64)
        assert f"{paths[2]} is a link that needs the backup in {paths[1]}" in refused.err
    cli(f"backup stream W {paths[2]} --since {paths[1]} --overwrite", status=0)
    cli(f"backup validate {paths[2]}", status=0)


def test_a_receipt(cli: Cli, url: str, tmp_path: Path) -> None:
    """A part is read once, and again when it was changed; what is damaged is not noted."""
    paths = make_chain(cli, url, tmp_path)
    line = f"backup validate {{}} --receipt {tmp_path}/receipt.json --json"
    first = cli(line.format(paths[1]), status=0).json
    assert (first["read"], first["known"]) == ([str(path) for path in paths[:2]], [])
    second = cli(line.format(paths[2]), status=0).json
    assert (second["read"], second["known"]) == ([str(paths[2])], [str(path) for path in paths[:2]])
    assert second["messages"] == 57
    assert not cli(line.format(paths[2]), status=0).json["read"]
    noted = (tmp_path / "receipt.json").read_bytes()
    for path, name in ((paths[0], DATA), (paths[1], GONE), (paths[2], LINK_DATA)):
        data = (path / name).read_bytes()
        (path / name).write_bytes(data[:-2] + b"00")
        assert cli(line.format(paths[2])).status != 0
        (path / name).write_bytes(data)
        assert (tmp_path / "receipt.json").read_bytes() == noted
    (tmp_path / "receipt.json").write_text("[]")
    assert "is not a receipt" in cli(line.format(paths[2]), status=64).err
