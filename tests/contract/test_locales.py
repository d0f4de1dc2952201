"""Locales whose encoding is not UTF-8, and streams that are to have another one."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli

TEXT = "Ürün 10 € – größer"


@pytest.fixture(scope="module")
def latin(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """The variables of a German locale in Latin-1, which few machines have."""
    folder = tmp_path_factory.mktemp("locales")
    if shutil.which("localedef"):
        name = "de_DE.ISO-8859-1"
        line = ["localedef", "-f", "ISO-8859-1", "-i", "de_DE", str(folder / name)]
        if not subprocess.run(line, capture_output=True, check=False).returncode:
            return {"LOCPATH": str(folder), "LC_ALL": name}
    return ASCII


ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
"""As in Python before 3.7."""

VARIABLES: tuple[Mapping[str, str], ...] = (
    {},
    ASCII,
    {"LC_ALL": "C"},
    {"LC_ALL": "POSIX", "PYTHONIOENCODING": "ascii"},
    {"PYTHONIOENCODING": "latin-1"},
    {"PYTHONIOENCODING": "utf-8:strict"},
)


def run(cli: Cli, variables: Mapping[str, str], *args: str | bytes, status: int = 0) -> bytes:
    """Run jsctl in a process; return what it writes to stdout, in bytes."""
    ended = subprocess.run(
        [sys.executable, "-m", "jsctl", *args],
        env={**os.environ, **cli.environ, **variables},
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert ended.returncode == status and b"bug" not in ended.stderr, ended
    return ended.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "number",
    [0, *(pytest.param(number, marks=pytest.mark.long) for number in range(1, len(VARIABLES) + 1))],
)
def test_bytes_stay_as_they_are(
    number: int, latin: Mapping[str, str], cli: Cli, url: str, tmp_path: Path
) -> None:
    variables = [latin, *VARIABLES][number]
    js.stream(url, "S", "s.>")
    raw = TEXT.encode()
    cli("kv add B", status=0)
    cli("object add O", status=0)
    run(cli, variables, "pub", "s.größe", raw, "-H", f"Titel: {TEXT}", "-J")
    message = json.loads(run(cli, variables, "stream", "get", "S", "1", "--json"))
    assert cli("stream get S 1 --json", status=0).json == message
    assert "s.größe" in json.dumps(message, ensure_ascii=False)
    assert TEXT in run(cli, variables, "stream", "get", "S", "1").decode()
    assert f"Titel: {TEXT}" in run(cli, variables, "stream", "get", "S", "1").decode()
    run(cli, variables, "kv", "put", "B", "k", raw)
    assert run(cli, variables, "kv", "get", "B", "k", "--raw") == raw
    assert TEXT in run(cli, variables, "kv", "history", "B", "k", "--as", "table").decode()
    file = tmp_path / "größe €.txt"
    file.write_text("x")
    run(cli, variables, "object", "put", "O", os.fsencode(file), "--name", "Größe")
    assert "Größe" in run(cli, variables, "object", "ls", "O").decode()
    run(cli, variables, "object", "get", "O", "Größe", "--output", os.fsencode(tmp_path / "€"))
    assert (tmp_path / "€").read_text() == "x"
    run(cli, variables, "stream", "edit", "S", "--description", raw, "--force")
    assert TEXT in run(cli, variables, "stream", "info", "S").decode()
    run(cli, variables, "context", "add", "büro", "--description", raw, "--server", url)
    assert TEXT in run(cli, variables, "context", "info", "büro").decode()
    # Of a terminal in Latin-1: a byte that is no UTF-8.
    run(cli, variables, "pub", "s.a", b"\xfc", "-J")
    line = ("sub", "--stream", "S", "--last", "--count", "1", "--raw")
    assert run(cli, variables, *line).rstrip(b"\n") == b"\xfc"
