"""`errors`: the server's list, and files of the same form."""

import json
from pathlib import Path

import pytest

from jsctl.jetstream import error_codes
from tests.support.run import Cli

ONE = {"constant": "JSOneErr", "code": 400, "error_code": 10500, "description": "one", "mine": 7}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "errors.json"
    path.write_text(json.dumps([ONE]))
    return path


def test_the_list(offline_cli: Cli) -> None:
    told = offline_cli("errors ls", status=0).out
    assert "10059" in told and "stream not found" in told
    assert len(offline_cli("err ls --json", status=0).json) == len(told.splitlines()) - 2
    assert "JSStreamNotFoundErr" in offline_cli("errors ls ^10059$", status=0).out
    assert "╭" in offline_cli("errors ls", tty=True, status=0).out
    offline_cli("errors ls nothing-like-this", status=3)
    offline_cli("errors ls '('", status=64)
    offline_cli("errors ls . colour", status=64)


def test_sorting(offline_cli: Cli) -> None:
    def codes(line: str, key: str = "error_code") -> list[int]:
        return [entry[key] for entry in offline_cli(f"errors ls {line} --json", status=0).json]

    assert codes("") == sorted(codes(""))
    assert codes("-R") == sorted(codes(""), reverse=True)
    assert codes(". http", "code") == sorted(codes("", "code"))
    texts = [e["description"].lower() for e in offline_cli("errors ls . d --json", status=0).json]
    assert texts == sorted(texts)


def test_lookup(offline_cli: Cli) -> None:
    told = offline_cli("errors lookup 10059", status=0).out
    assert "NATS Error Code: 10059" in told and "jsctl stream ls" in told
    offline_cli("errors lookup 9", status=3)
    offline_cli("errors lookup x", status=64)


def test_our_own_list_is_sound() -> None:
    found = error_codes.load()
    assert len(found) > 200 and not error_codes.duplicates(found)


def test_a_file(offline_cli: Cli, file: Path) -> None:
    assert "one" in offline_cli(f"errors --errors {file} lookup 10500", status=0).out
    assert "Validated 1 errors" in offline_cli(f"errors validate {file}", status=0).out
    for wrong in (
        {"code": 0},
        {"error_code": 5},
        {"constant": ""},
        {"description": "{x}"},
        {"description": "a {b"},
    ):
        file.write_text(json.dumps([{**ONE, **wrong}]))
        failed = offline_cli(f"errors validate {file}", status=1)
        assert "failed: " in failed.err and "is invalid" in failed.err
    file.write_text(json.dumps([ONE, ONE]))
    assert "more than once" in offline_cli(f"errors validate {file}", status=1).err
    file.write_text("{")
    offline_cli(f"errors validate {file}", status=64)
    offline_cli("errors validate", status=64)


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
