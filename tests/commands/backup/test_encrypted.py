"""Encrypted backups: `--encrypt-to`, `--identity`, and what each verb makes of them."""

import os
import random
import shutil
import sys
import tarfile
import threading
from pathlib import Path

import pytest

from jsctl.base import posix
from jsctl.jetstream.backup.encryption import Keys
from jsctl.jetstream.backup.files import DATA, GONE, LINK_DATA, MANIFEST, META, open_backup
from tests.commands.backup.test_pipe import run
from tests.support.js import ask, info, publish, stream
from tests.support.killing import kill_points
from tests.support.run import Cli
from tests.support.stored import stored

pyrage = pytest.importorskip("pyrage")


def make_key(folder: Path, name: str = "key.txt") -> tuple[Path, str]:
    """A new key: its file as age-keygen writes it, and its public part."""
    identity = pyrage.x25519.Identity.generate()
    path, public = folder / name, str(identity.to_public())
    path.write_text(f"# created: 2026-01-01T00:00:00Z\n# public key: {public}\n{identity}\n")
    return path, public


def unlock(folder: Path, key: Path, target: Path) -> Path:
    """Decrypt each file of a backup by itself, as `age -d -i KEY FILE` does."""
    identity = pyrage.x25519.Identity.from_str(key.read_text().splitlines()[-1])
    target.mkdir()
    for path in folder.iterdir():
        assert path.name.endswith(".age") and path.read_bytes().startswith(b"age-encryption.org/v1\n")
        (target / path.stem).write_bytes(pyrage.decrypt(path.read_bytes(), [identity]))
    return target


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["", ".tgz"])
def test_every_verb_reads_one(cli: Cli, mixed: str, tmp_path: Path, ending: str) -> None:
    key, public = make_key(tmp_path)
    path, had = tmp_path / f"e{ending}", stored(mixed, "ORDERS")
    saved = cli(f"backup stream ORDERS {path} --encrypt-to {public} --json", status=0).json
    assert saved["encrypted"] and saved["messages"] == 9
    cli(f"backup stream ORDERS {tmp_path}/plain", status=0)
    plain = cli(f"backup info {tmp_path}/plain --json --subjects", status=0).json
    page = cli(f"backup info {path} --identity {key} --json --subjects", status=0).json
    assert page == {**plain, "encrypted": True, "declared": page["declared"]}
    assert cli(f"backup validate {path} --identity {key}", status=0).out.startswith("OK: ")
    drill = cli(f"backup drill {path} --identity {key} --json", status=0).json
    assert drill["exact"] and drill["messages"] == 9
    ages = cli(f"doctor --backups {tmp_path} --identity {key} --json", status=0).json
    assert "ORDERS" in str(ages)
    ask(mixed, "STREAM.DELETE.ORDERS")
    cli.environ["JSCTL_IDENTITY"] = str(key)
    cli(f"backup restore stream {path}", status=0)
    assert stored(mixed, "ORDERS") == had
    assert [each["name"] for each in ask(mixed, "CONSUMER.LIST.ORDERS")["consumers"]] == ["NEW"]


@pytest.mark.slow
def test_nothing_of_the_stream_is_in_clear(cli: Cli, url: str, tmp_path: Path) -> None:
    stream(url, "SECRETNAME", "secretsubject.>", description="secretwords")
    publish(url, "secretsubject.1", b"secretpayload")
    config = {"durable_name": "SECRETREADER", "ack_policy": "explicit"}
    ask(
        url,
        "CONSUMER.DURABLE.CREATE.SECRETNAME.SECRETREADER",
        {"stream_name": "SECRETNAME", "config": config},
    )
    key, public = make_key(tmp_path)
    (tmp_path / "pub").write_text(f"# ours\n{public}\n")
    d1, d2 = tmp_path / "d1", tmp_path / "d2"
    cli(f"backup stream SECRETNAME {d1} --encrypt-to {tmp_path}/pub", status=0)
    publish(url, "secretsubject.2", b"secretpayload")
    cli(f"backup stream SECRETNAME {d2} --since {d1} --encrypt-to {public} --identity {key}", status=0)
    assert {path.name for path in d1.iterdir()} == {f"{name}.age" for name in (DATA, META, MANIFEST)}
    assert {path.name for path in d2.iterdir()} == {
        f"{name}.age" for name in (LINK_DATA, GONE, META, MANIFEST)
    }
    piped = run(cli, f"J backup stream SECRETNAME - --encrypt-to {public} > {tmp_path}/d3.tgz")
    assert piped.returncode == 0, piped
    with tarfile.open(tmp_path / "d3.tgz") as tar:
        assert all("SECRET" not in name for name in tar.getnames())
        tar.extractall(tmp_path / "d3", filter="data")
    for path in (path for folder in (d1, d2, tmp_path / "d3") for path in folder.rglob("*")):
        assert path.is_dir() or b"secret" not in path.read_bytes().lower(), path
    validated = run(cli, f"J backup validate - --identity {key} < {tmp_path}/d3.tgz")
    assert validated.returncode == 0 and validated.stdout.startswith("OK: "), validated
    plain = unlock(d1, key, tmp_path / "unlocked")
    assert cli(f"backup validate {plain} --json", status=0).json["messages"] == 1


@pytest.mark.slow
def test_without_the_key_each_verb_says_so_in_one_line(cli: Cli, mixed: str, tmp_path: Path) -> None:
    key, public = make_key(tmp_path)
    other, _ = make_key(tmp_path, "other.txt")
    (tmp_path / "b").mkdir()
    path = tmp_path / "b" / "e"
    cli(f"backup stream ORDERS {path} --encrypt-to {public}", status=0)
    before = {each.name: each.read_bytes() for each in path.iterdir()}
    lines = [
        f"backup validate {path}",
        f"backup validate {path} --receipt {tmp_path}/r",
        f"backup info {path}",
        f"backup drill {path}",
        f"backup restore stream {path} --name COPY --subjects c.>",
        f"backup edit {path} {tmp_path}/copy --decrypt",
        f"backup stream ORDERS {tmp_path}/next --since {path} --encrypt-to {public}",
        f"backup stream ORDERS {path} --overwrite --encrypt-to {public}",
        f"backup prune {tmp_path}/b --keep 1d --force",
    ]
    for line in lines:
        refused = cli(line)
        assert refused.status == 64 and refused.out == "", (line, refused)
        assert refused.err == (
            f"jsctl: error: the backup in {path} is encrypted; name the file of its key with --identity or "
            "JSCTL_IDENTITY\n"
        )
        wrong = cli(f"{line} --identity {other}")
        assert wrong.status == 64 and wrong.out == "" and f"no key in {other} opens " in wrong.err, wrong
        assert wrong.err.count("\n") == 1
    for flag in ("", f"--identity {other}"):
        report = cli(f"doctor --backups {tmp_path}/b {flag}", status=1)
        assert "no good backup" in " ".join(report.out.split())
        assert cli(f"backup restore account {tmp_path}/b {flag}").status != 0
    assert {each.name: each.read_bytes() for each in path.iterdir()} == before
    assert sorted(each.name for each in tmp_path.iterdir()) == ["b", "key.txt", "other.txt"]
    for text in ("", "hello", "AGE-SECRET-KEY-1QQQQ"):
        other.write_text(text)
        refused = cli(f"backup info {path} --identity {other}", status=64)
        assert "secret key of age" in refused.err and "QQQQ" not in refused.err
    assert "cannot read identity" in cli(f"backup info {path} --identity {tmp_path}/nope", status=64).err
    for value in ("age1nothing", f"{tmp_path}/nope", str(other), str(key)):
        refused = cli(f"backup stream ORDERS {tmp_path}/n --encrypt-to {value}", status=64)
        assert refused.err.count("\n") == 1 and "SECRET" not in refused.err
        assert not (tmp_path / "n").exists()


@pytest.mark.slow
def test_a_chain_and_prune(cli: Cli, url: str, tmp_path: Path) -> None:
    key, public = make_key(tmp_path)
    stream(url, "W", "w.>")
    folder = tmp_path / "b"
    folder.mkdir()
    cli.environ["JSCTL_IDENTITY"] = str(key)
    paths = [folder / f"d{number}" for number in range(3)]
    for number, path in enumerate(paths):
        for _ in range(20):
            publish(url, f"w.{number}", os.urandom(40))
        ask(url, "STREAM.MSG.DELETE.W", {"seq": 3 + 7 * number})
        since = f"--since {paths[number - 1]}" if number else ""
        cli(f"backup stream W {path} --encrypt-to {public} {since}", status=0)
    receipt = tmp_path / "receipt"
    report = cli(f"backup validate {paths[2]} --receipt {receipt} --json", status=0).json
    assert len(report["read"]) == 3
    report = cli(f"backup validate {paths[2]} --receipt {receipt} --json", status=0).json
    assert len(report["known"]) == 3 and report["messages"] == 57
    had = stored(url, "W")
    ask(url, "STREAM.DELETE.W")
    cli(f"backup restore stream {paths[2]}", status=0)
    assert stored(url, "W") == had
    plan = cli(f"backup prune {folder} --keep 1d --force --json", status=0).json
    assert [row["result"] for row in plan] == ["kept"] * 3
    cli(f"backup edit {paths[2]} {folder}/whole --last-per-subject 1", status=64)
    cli(f"backup edit {paths[2]} {folder}/whole --last-per-subject 1 --encrypt-to {public}", status=0)
    assert {path.name for path in (folder / "whole").iterdir()} == {f"{DATA}.age", f"{META}.age"}
    assert cli(f"backup validate {folder}/whole --json", status=0).json["messages"] == 3
    cli(f"backup edit {paths[2]} {tmp_path}/clear --decrypt", status=0)
    del cli.environ["JSCTL_IDENTITY"]
    assert cli(f"backup validate {tmp_path}/clear --json", status=0).json["messages"] == 57
    refused = cli(f"backup edit {tmp_path}/clear {tmp_path}/o --obfuscate --encrypt-to {public}", status=64)
    assert "key file" in refused.err and not (tmp_path / "o").exists()


def test_a_chain_is_encrypted_as_a_whole(cli: Cli, mixed: str, tmp_path: Path) -> None:
    key, public = make_key(tmp_path)
    cli(f"backup stream ORDERS {tmp_path}/e --encrypt-to {public}", status=0)
    cli(f"backup stream ORDERS {tmp_path}/p", status=0)
    refused = cli(f"backup stream ORDERS {tmp_path}/n --since {tmp_path}/e --identity {key}", status=64)
    assert "is encrypted: a chain is as a whole" in refused.err
    refused = cli(f"backup stream ORDERS {tmp_path}/n --since {tmp_path}/p --encrypt-to {public}", status=64)
    assert "is not encrypted: a chain is as a whole" in refused.err
    refused = cli(f"backup stream ORDERS {tmp_path}/e --overwrite --identity {key}", status=64)
    assert "and the new one would not be; add --encrypt-to" in refused.err
    cli(f"backup stream ORDERS {tmp_path}/e --overwrite --identity {key} --encrypt-to {public}", status=0)
    shutil.copy(tmp_path / "p" / META, tmp_path / "e")
    assert "holds both" in cli(f"backup validate {tmp_path}/e --identity {key}", status=64).err


@pytest.mark.slow
def test_a_changed_byte_is_never_valid(cli: Cli, url: str, tmp_path: Path) -> None:
    stream(url, "W", "w.>")
    for _ in range(40):
        publish(url, "w.1", os.urandom(9000))
    key, public = make_key(tmp_path)
    path, chance = tmp_path / "e", random.Random(4)
    cli(f"backup stream W {path} --encrypt-to {public}", status=0)
    for name in sorted(each.name for each in path.iterdir()):
        content = (path / name).read_bytes()
        chunk = 65536 + 16
        cuts = [0, len(content) // 2, len(content) - 1, len(content) - (len(content) - 200) % chunk]
        cases = [content[:cut] for cut in cuts] + [content + b"x"]
        for at in (chance.randrange(len(content)) for _ in range(6)):
            cases.append(content[:at] + bytes([content[at] ^ (1 << chance.randrange(8))]) + content[at + 1 :])
        for case in cases:
            if case == content:
                continue
            (path / name).write_bytes(case)
            for line in (f"backup validate {path}", f"backup restore stream {path} --name C --subjects c.>"):
                refused = cli(f"{line} --identity {key}")
                assert refused.status != 0 and refused.out == "" and refused.err.startswith("jsctl: error: ")
            assert cli(f"doctor --backups {tmp_path} --identity {key}").status == 1
        (path / name).write_bytes(content)
    assert cli(f"backup validate {path} --identity {key}", status=0).out.startswith("OK: ")
    assert info(url, "W")["state"]["messages"] == 40
    assert "C" not in cli("stream ls --names", status=0).out.split()


@pytest.mark.long
def test_a_killed_backup_leaves_the_older_one(cli: Cli, url: str, tmp_path: Path) -> None:
    stream(url, "S", "s.>")
    publish(url, "s.a")
    key, public = make_key(tmp_path)
    (tmp_path / "here").mkdir()
    path = tmp_path / "here" / "e"
    cli.environ["JSCTL_IDENTITY"] = str(key)
    line = f"backup stream S {path} --encrypt-to {public} --overwrite"
    cli(line, status=0)
    publish(url, "s.b")
    counts = []
    for _, call in kill_points(lambda: cli(line, status=0), path.parent, {posix: ["exchange"]}, 2):
        counts.append(cli(f"backup validate {path} --json", status=0).json["messages"])
        assert counts[-1] in (1, 2), call
        assert b"s.b" not in b"".join(each.read_bytes() for each in path.parent.rglob("*") if each.is_file())
        if counts[-1] == 2:
            break
    assert counts.count(1) > 4
    cli(line, status=0)
    assert [each.name for each in path.parent.iterdir()] == ["e"]


@pytest.mark.slow
def test_a_full_disk(cli: Cli, url: str, tmp_path: Path) -> None:
    stream(url, "S", "s.>")
    publish(url, "s.a", os.urandom(900_000))
    _, public = make_key(tmp_path)
    for ending in ("e", "e.tgz"):
        limited = run(cli, f"ulimit -f 100; J backup stream S {tmp_path}/{ending} --encrypt-to {public}")
        assert limited.returncode == 1 and "Traceback" not in limited.stderr, limited
        assert "cannot write to" in limited.stderr and "File too large" in limited.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["key.txt"]


def test_a_missing_package_is_named(
    cli: Cli, mixed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, public = make_key(tmp_path)
    cli(f"backup stream ORDERS {tmp_path}/b/e --encrypt-to {public}", status=0)
    monkeypatch.setitem(sys.modules, "pyrage", None)
    for line in (
        f"backup validate {tmp_path}/b/e --identity {key}",
        f"backup prune {tmp_path}/b --keep 1d --identity {key}",
        f"backup stream ORDERS {tmp_path}/n --encrypt-to {public}",
    ):
        assert cli(line, status=1).err == (
            "jsctl: error: encrypted backups need the package pyrage; run: pip install 'jsctl[age]'\n"
        )
    assert not (tmp_path / "n").exists()


@pytest.mark.slow
def test_a_reader_that_stops_leaves_no_thread(cli: Cli, url: str, tmp_path: Path) -> None:
    stream(url, "S", "s.>")
    for _ in range(30):
        publish(url, "s.a", os.urandom(100_000))
    key, public = make_key(tmp_path)
    cli(f"backup stream S {tmp_path}/e --encrypt-to {public}", status=0)
    before, keys = threading.active_count(), Keys(key)
    with open_backup(tmp_path / "e", keys=keys).open_file(DATA) as file:
        assert file.read(100)
    assert threading.active_count() == before


@pytest.mark.slow
def test_an_account(cli: Cli, mixed: str, tmp_path: Path) -> None:
    key, public = make_key(tmp_path)
    stream(mixed, "B", "b.>")
    publish(mixed, "b.1", b"secretpayload")
    path, had = tmp_path / "all", stored(mixed, "ORDERS")
    cli(f"backup account {path} --encrypt-to {public}", status=0)
    files = [each for each in path.rglob("*") if each.is_file()]
    assert len(files) == 6 and all(each.name.endswith(".age") for each in files)
    assert b"secret" not in b"".join(each.read_bytes() for each in files)
    for line in (f"backup account {path} --overwrite", f"backup account {path} --dry-run"):
        assert "is encrypted, and the new one would not be" in cli(line, status=64).err
    cli(f"backup account {path} --overwrite --encrypt-to {public}", status=0)
    assert cli(f"doctor --backups {tmp_path} --identity {key}", status=0)
    for name in ("ORDERS", "B"):
        ask(mixed, f"STREAM.DELETE.{name}")
    refused = cli(f"backup restore account {path}")
    assert refused.status != 0 and cli("stream ls --names", status=0).out.strip() == ""
    cli(f"backup restore account {path} --identity {key}", status=0)
    assert stored(mixed, "ORDERS") == had and stored(mixed, "B")[0].data == b"secretpayload"
