"""`jsctl errors` and its commands."""

import json
from pathlib import Path

from jsctl.jetstream import error_catalog
from tests.support.run import Cli


def test_lookup(offline_cli: Cli) -> None:
    out = offline_cli("errors lookup 10059", status=0).out
    assert "NATS Error Code: 10059" in out and "jsctl stream ls" in out
    offline_cli("errors lookup 9", status=3)
    offline_cli("errors lookup x", status=64)


def test_the_list(offline_cli: Cli) -> None:
    out = offline_cli("errors ls", status=0).out
    assert "10059" in out and "stream not found" in out
    assert len(offline_cli("err ls --json", status=0).json) == len(out.splitlines()) - 2
    assert "JSStreamNotFoundErr" in offline_cli("errors ls ^10059$", status=0).out
    assert "╭" in offline_cli("errors ls", tty=True, status=0).out
    offline_cli("errors ls nothing-like-this", status=3)
    offline_cli("errors ls '('", status=64)
    offline_cli("errors ls . color", status=64)


def test_sorting(offline_cli: Cli) -> None:
    def codes(line: str, key: str = "error_code") -> list[int]:
        return [entry[key] for entry in offline_cli(f"errors ls {line} --json", status=0).json]

    assert codes("") == sorted(codes(""))
    assert codes("-R") == sorted(codes(""), reverse=True)
    assert codes(". http", "code") == sorted(codes("", "code"))
    texts = [e["description"].lower() for e in offline_cli("errors ls . d --json", status=0).json]
    assert texts == sorted(texts)


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


def test_our_own_list_is_sound() -> None:
    result = error_catalog.load()
    assert len(result) > 200 and not error_catalog.find_duplicates(result)


def test_a_file(offline_cli: Cli, file: Path) -> None:
    [one] = json.loads(file.read_text())
    assert "one" in offline_cli(f"errors --errors {file} lookup 10500", status=0).out
    assert offline_cli(f"errors validate {file}", status=0).out == "Validated 1 error\n"
    for wrong in (
        {"code": 0},
        {"error_code": 5},
        {"constant": ""},
        {"description": "{x}"},
        {"description": "a {b"},
    ):
        file.write_text(json.dumps([{**one, **wrong}]))
        failed = offline_cli(f"errors validate {file}", status=1)
        assert "failed: " in failed.err and "is not valid" in failed.err
    file.write_text(json.dumps([one, one]))
    assert "more than once" in offline_cli(f"errors validate {file}", status=1).err
    file.write_text("{")
    offline_cli(f"errors validate {file}", status=64)
    offline_cli("errors validate", status=64)
