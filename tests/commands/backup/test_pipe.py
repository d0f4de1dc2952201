"""Backups through pipes: `-` in place of a path."""

import gzip
import os
import random
import subprocess
import sys
import tarfile
import zlib
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.stored import stored

JSCTL = f"{sys.executable} -m jsctl"


def run(cli: Cli, line: str) -> subprocess.CompletedProcess[str]:
    """Run a line of a shell in which a pipe fails with its first part; J stands for jsctl."""
    words = ["bash", "-o", "pipefail", "-c", line.replace("J ", f"{JSCTL} ")]
    environ = {**os.environ, **cli.environ}
    return subprocess.run(words, env=environ, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_round_trip(cli: Cli, mixed: str, tmp_path: Path) -> None:
    file, had = tmp_path / "o.tgz", stored(mixed, "ORDERS")
    line = f"J backup stream ORDERS - | tee {file} | J backup restore stream - --name COPY --subjects 'c.>'"
    done = run(cli, line)
    assert done.returncode == 0 and 'Restored stream "COPY"' in done.stdout, done
    assert stored(mixed, "COPY") == had
    with tarfile.open(file) as tar:
        tar.extractall(tmp_path / "unpacked", filter="data")
    assert cli(f"backup validate {tmp_path}/unpacked/ORDERS", status=0).out.startswith("OK: ")
    for verb in ("validate", "info", "drill"):
        piped = run(cli, f"cat {file} | J backup {verb} - --json")
        assert piped.returncode == 0 and piped.stderr == "" and '"messages": 9' in piped.stdout, piped
    assert run(cli, f"J backup validate - < {file}").returncode == 0
    assert run(cli, f"J backup edit - {tmp_path}/edited --obfuscate < {file}").returncode == 0
    assert cli(f"backup info {tmp_path}/edited --json", status=0).json["messages"] == 9


@pytest.mark.slow
def test_what_ends_early_or_is_changed_is_refused(cli: Cli, mixed: str, tmp_path: Path) -> None:
    file = tmp_path / "o.tgz"
    assert run(cli, f"J backup stream ORDERS - > {file}").returncode == 0
    content, part, chance = file.read_bytes(), tmp_path / "part", random.Random(1)
    before = js.info(mixed, "ORDERS")
    cases = [b"", *(content[: chance.randrange(len(content) // 2)] for _ in range(3))]
    cases.append(content[:-8] + bytes([content[-8] ^ 1]) + content[-7:])  # the checksum at the end
    for _ in range(3):
        at = chance.randrange(len(content) // 3, len(content) // 2)
        changed = content[:at] + bytes([content[at] ^ (1 << chance.randrange(8))]) + content[at + 1 :]
        with suppress(OSError, EOFError, zlib.error):
            if gzip.decompress(changed) == gzip.decompress(content):  # a bit that gzip does not read
                continue
        cases.append(changed)
    for case in cases:
        part.write_bytes(case)
        for verb in ("validate -", "restore stream - --name COPY --subjects 'c.>'"):
            refused = run(cli, f"cat {part} | J backup {verb}")
            assert refused.returncode != 0 and refused.stdout == "", (case, refused)
            assert refused.stderr.splitlines()[-1].startswith("jsctl: error: ")
            assert "is not a backup" not in refused.stderr, "it is one that is damaged"
    assert "COPY" not in cli("stream ls --names", status=0).out
    assert js.info(mixed, "ORDERS")["state"] == before["state"]


@pytest.mark.slow
def test_a_reader_that_ends(cli: Cli, mixed: str) -> None:
    ended = run(cli, "J backup stream ORDERS - | true")
    assert ended.returncode == 1 and "nobody reads it" in ended.stderr, ended
    failed = run(cli, "J backup stream NOPE - | J backup restore stream -")
    assert failed.returncode != 0 and "ended without a backup" in failed.stderr, failed


def test_what_a_pipe_does_not_take(cli: Cli, mixed: str, tmp_path: Path) -> None:
    assert "terminal" in cli("backup stream ORDERS -", tty=True, status=64).err
    assert "terminal" in cli("backup restore stream -", tty=True, status=64).err
    assert "stdout" in cli("backup stream ORDERS - --json", status=64).err
    assert cli("backup stream ORDERS - --dry-run --json", status=0).json["path"] == "stdout"
    assert "--overwrite" in cli("backup stream ORDERS - --overwrite", status=64).err
    assert "--receipt" in cli(f"backup validate - --receipt {tmp_path}/r", status=64).err
