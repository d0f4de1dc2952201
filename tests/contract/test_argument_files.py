"""`@FILE` on any command line stands for the lines of the file, as with `nats`."""

from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "one": "a line",
        "two": "a\nb\n",
        "commented": "# what it is\n\n  \nvalue\r\n",
        "flags": "--count=2\nhello\n",
        "nested": "@one\n",
        "itself": "@itself\n",
        "pair": "kv\nput\n",
        "rest": "--\n@one\n",
        "json": "--json\n",
    }.items():
        Path(name).write_text(text, newline="")


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("kv put B k @one", "a line"),
        ("kv put B k @commented", "value"),
        ("kv put B k @nested", "a line"),
        ("kv put B k -- @one", "@one"),
        ("kv put B -- k @missing", "@missing"),
        ("kv put B k @rest", "@one"),
        ("@pair B k @one", "a line"),
        ("@json kv put B k value", "value"),
    ],
)
def test_a_file_is_replaced_by_its_lines(line: str, value: str, cli: Cli, url: str) -> None:
    js.bucket(url, "B")
    done = cli(line, status=0)
    assert cli("kv get B k --raw", status=0).out == value
    assert done.out.startswith("{") == ("@json" in line)


def test_flags_come_from_files_too(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s.>")
    cli("pub s.a -J @flags", status=0)
    cli("pub @two", status=0)
    assert js.ask(url, "STREAM.INFO.S")["state"]["messages"] == 2
    assert "'@one' is not a valid header" in cli("pub s x --header=@one", status=64).err
    assert "'a line' is not a valid header" in cli("pub s x --header @one", status=64).err


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "kv put B k @missing",
            "cannot read the arguments in 'missing': No such file or directory; @FILE stands",
        ),
        ("kv put B k @", "@ names no file of arguments"),
        ("pub s @itself", "the arguments in itself contain @itself again"),
        (
            "pub s @two",
            "unexpected extra argument (b); the lines of @FILE are arguments; the content of a file goes",
        ),
        ("stream ls @.", "Is a directory"),
    ],
)
def test_what_cannot_be_replaced_is_refused(line: str, words: str, offline_cli: Cli) -> None:
    refused = offline_cli(line, status=64)
    assert words in refused.err and refused.out == ""
    assert len(refused.err.splitlines()) == 1
