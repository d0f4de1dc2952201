"""`kv export`."""

import json
from pathlib import Path

from tests.support.run import Cli


def test_values_are_lines_of_json(config: Cli, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in config("kv export CONFIG", status=0).out.splitlines()]
    assert [(one["operation"], one["key"], one["revision"]) for one in lines] == [
        ("PUT", "user.1", 1),
        ("PUT", "user.1", 2),
        ("PUT", "user.2", 3),
        ("DELETE", "user.2", 4),
        ("PUT", "logo", 5),
    ]
    assert (lines[0]["value"], lines[4]["value_base64"]) == ("Ann", "AP8K")
    assert config("kv export CONFIG --json", status=0).json == lines
    file = tmp_path / "config.jsonl"
    config(f"kv export CONFIG 'user.*' --latest --output {file}", status=0)
    assert json.loads(file.read_text())["revision"] == 2


def test_no_bucket(cli: Cli) -> None:
    assert "bucket NOPE not found" in cli("kv export NOPE", status=3).err
