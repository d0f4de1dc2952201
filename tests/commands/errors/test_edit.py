"""`errors edit` and `errors add`."""

import json
from pathlib import Path

from tests.support.run import Cli


def editor(tmp_path: Path, old: str, new: str) -> dict[str, str]:
    script = tmp_path / "editor.sh"
    script.write_text(f"#!/bin/sh\nsed -i 's/{old}/{new}/' \"$1\"\n")
    script.chmod(0o755)
    return {"EDITOR": str(script)}


def test_edit(offline_cli: Cli, file: Path, tmp_path: Path) -> None:
    environ = editor(tmp_path, '"one"', '"two"')
    offline_cli(f"errors edit {file} 10500", environ=environ, status=0)
    [entry] = json.loads(file.read_text())
    assert entry["description"] == "two" and entry["mine"] == 7
    before = file.read_text()
    offline_cli(f"errors edit {file} 10500", environ=editor(tmp_path, "two", ""), status=64)
    assert file.read_text() == before
    offline_cli(f"errors edit {file}", environ=editor(tmp_path, "nothing", "x"), status=0)
    filled = editor(tmp_path, '""', '"New"')
    failed = offline_cli(f"errors edit {file}", environ=filled, status=64)
    assert "code is missing" in failed.err and file.read_text() == before


def test_add(offline_cli: Cli, file: Path, tmp_path: Path) -> None:
    script = tmp_path / "editor.sh"
    script.write_text('#!/bin/sh\nsed -i \'s/""/"New"/; s/"code": 0/"code": 400/\' "$1"\n')
    script.chmod(0o755)
    offline_cli(f"errors add {file}", environ={"EDITOR": str(script)}, status=0)
    assert [entry["error_code"] for entry in json.loads(file.read_text())] == [10500, 10501]
