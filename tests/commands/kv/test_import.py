"""`kv import`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli


def test_import_asks_and_reads_stdin(config: Cli, url: str) -> None:
    exported = config("kv export CONFIG 'user.*' --latest", status=0).out
    assert [json.loads(line)["key"] for line in exported.splitlines()] == ["user.1"]
    questions = config("kv import CONFIG", stdin=exported, answers=[False], status=0).asked[0]
    assert "Bucket CONFIG holds 5 entries" in questions
    dry = config("kv import CONFIG --dry-run --json", stdin=exported, status=0).json
    assert dry == {
        "dry_run": True,
        "place": dry["place"],
        "would": "store 1 value in bucket CONFIG",
        "bucket": "CONFIG",
        "values": 1,
        "markers": 0,
    }
    assert "cannot ask" in config("kv import CONFIG", stdin=exported, status=64).err
    config("kv import CONFIG --force", stdin=exported, status=0)
    assert config("kv get CONFIG user.1 --json", status=0).json["revision"] == 6
    assert len(config("kv export CONFIG --json", status=0).json) == 6


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("[1]", "an entry must be a JSON object"),
        ("{", "is not JSON"),
        ('{"key": "a b"}', "not a valid key"),
        ('{"key": "a.>"}', "not a valid key"),
        ('{"key": "a", "operation": "ADD"}', "not a valid operation"),
        ('{"key": "a", "value": 5}', "cannot be read"),
        ('{"key": "a", "value_base64": "%"}', "cannot be read"),
    ],
)
def test_damaged_lines_are_named(cli: Cli, url: str, line: str, words: str) -> None:
    js.bucket(url, "B")
    refused = cli("kv import B", stdin=f'{{"key": "x", "value": ""}}\n{line}\n', status=64)
    assert "stdin line 2" in refused.err
    assert words in refused.err
    assert len(refused.err.splitlines()) == 1


def test_markers_have_the_name_of_an_export_or_of_their_header(cli: Cli, url: str) -> None:
    js.bucket(url, "B", max_msgs_per_subject=2)
    records = [{"key": "k", "operation": name} for name in ("DEL", "DELETE")]
    cli("kv import B", stdin="\n".join(map(json.dumps, records)), status=0)
    assert [one["operation"] for one in cli("kv history B k --json", status=0).json] == ["DELETE"] * 2


def test_a_line_without_an_end_is_read_no_further(cli: Cli, url: str, tmp_path: Path) -> None:
    js.bucket(url, "B")
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(1 << 40)  # takes no room on the disk
    refused = cli(f"kv import B {tmp_path}/huge --force", status=64)
    assert "has a line of more than 67,108,864 bytes, which no server takes" in refused.err


@pytest.mark.slow
def test_a_file_is_checked_before_anything_is_stored(cli: Cli, url: str, tmp_path: Path) -> None:
    js.bucket(url, "B")
    lines = [json.dumps({"key": f"k.{number}", "value": "x" * 20}) for number in range(15_000)]
    file = tmp_path / "with blank.jsonl"
    file.write_text("\n".join([*lines, "{", *lines]))
    refused = cli(["kv", "import", "B", str(file)], status=64)
    assert "line 15001 is not JSON" in refused.err
    command = [sys.executable, "-m", "jsctl", "kv", "import", "B"]
    with file.open() as stdin:
        ended = subprocess.run(
            command, env={**os.environ, **cli.environ}, stdin=stdin, capture_output=True, check=False
        )
    assert (ended.returncode, b"stdin line 15001 is not JSON" in ended.stderr) == (64, True)
    assert js.info(url, "KV_B")["state"]["messages"] == 0
    # A pipe is read once: what was stored is said, and the status is not that of nothing done.
    with subprocess.Popen(["cat", str(file)], stdout=subprocess.PIPE) as pipe:
        ended = subprocess.run(
            command, env={**os.environ, **cli.environ}, stdin=pipe.stdout, capture_output=True, check=False
        )
    assert ended.returncode == 1 and b" entries had been sent, of which " in ended.stderr
    file.write_text("\n".join(lines))
    with file.open() as stdin:
        subprocess.run(
            [*command, "--force"],
            env={**os.environ, **cli.environ},
            stdin=stdin,
            capture_output=True,
            check=True,
        )
    assert js.info(url, "KV_B")["state"]["num_subjects"] == 15_000
