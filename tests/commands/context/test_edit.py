"""`context edit`."""

import sys
from pathlib import Path

import pytest

from jsctl.contexts.model import KEYS
from jsctl.errors import ExitStatus
from tests.support.contexts import stored, write
from tests.support.run import Cli


def editor(tmp_path: Path, code: str) -> dict[str, str]:
    """An EDITOR that runs `code` over `text` and `path`."""
    script = tmp_path / "an editor.py"
    script.write_text(
        f"import sys, pathlib\npath = pathlib.Path(sys.argv[1])\ntext = path.read_text()\n{code}\n"
    )
    return {"EDITOR": f"'{sys.executable}' '{script}'", "TMPDIR": str(tmp_path)}


@pytest.mark.parametrize("verb", ["edit", "vi"])
def test_edit(cli: Cli, tmp_path: Path, verb: str) -> None:
    write(cli, "a", '{"url": "nats://h", "x_unknown": 1}')
    code = (
        "assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700\n"
        "path.write_text(text.replace('nats://h', 'nats://new'))"
    )
    cli(f"context {verb} a", environ=editor(tmp_path, code), status=0)
    assert stored(cli, "a") == KEYS | {"url": "nats://new", "x_unknown": 1}
    cli("context edit nope", status=ExitStatus.NOT_FOUND)
    assert (
        "set EDITOR"
        in cli("context edit a", environ={"EDITOR": "", "VISUAL": ""}, status=ExitStatus.USAGE).err
    )


def test_edit_keeps_a_broken_text(cli: Cli, tmp_path: Path) -> None:
    write(cli, "a", '{"url": "nats://h"}')
    outcome = cli(
        "context edit a",
        environ=editor(tmp_path, "path.write_text(text.replace('nats://h\"', 'nats://new'))"),
        status=ExitStatus.USAGE,
    )
    assert "line 3, column" in outcome.err and outcome.err.count("\n") == 1
    assert stored(cli, "a") == {"url": "nats://h"}
    saved = Path(outcome.err.rsplit("your text is in ", 1)[1].strip())
    assert "nats://new" in saved.read_text()
    saved.unlink()
    saved.parent.rmdir()


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        (
            {"EDITOR": "/nope/ed"},
            "cannot start the editor '/nope/ed': No such file or directory; nothing was",
        ),
        ({"EDITOR": "/"}, "cannot start the editor '/': Permission denied; nothing was changed"),
        ({"EDITOR": "false"}, "the editor ended with status 1; nothing was changed"),
        ({"EDITOR": "sh -c 'kill -9 $$'"}, "the editor was ended by SIGKILL; nothing was changed"),
        ({"EDITOR": "sh -c 'rm $0'"}, "No such file or directory"),
    ],
)
def test_an_editor_that_fails_leaves_no_password(cli: Cli, variables: dict[str, str], message: str) -> None:
    write(cli, "a", '{"url": "nats://h", "password": "s3cret"}')
    failed = cli("context edit a", environ={"VISUAL": "", **variables})
    assert failed.status in (1, 64) and message in failed.err and failed.err.count("\n") == 1
    assert [path.name for path in (cli.home / "nats" / "context").iterdir()] == ["a.json"]


def test_an_editor_that_fails_after_a_change_keeps_the_text(cli: Cli, tmp_path: Path) -> None:
    write(cli, "a", '{"url": "nats://h"}')
    failed = cli("context edit a", environ=editor(tmp_path, "path.write_text('mine'); sys.exit(3)"), status=1)
    kept = failed.err.rpartition(" ")[2].strip()
    assert "ended with status 3; nothing was changed, your text is in" in failed.err
    assert Path(kept).read_text() == "mine"


def test_without_an_editor_vi_then_nano(cli: Cli, tmp_path: Path) -> None:
    write(cli, "a", '{"url": "nats://h"}')
    variables = {"EDITOR": "", "VISUAL": " ", "PATH": str(tmp_path)}
    assert "set EDITOR" in cli("context edit a", environ=variables, tty=True, status=64).err
    for name in ("nano", "vi"):
        program = tmp_path / name
        program.write_text(f"#!{sys.executable}\nimport sys\nfile = sys.argv[1]\ntext = open(file).read()\n")
        with program.open("a") as file:
            file.write(f"open(file, 'w').write(text.replace('//h', '//h-{name}'))\n")
        program.chmod(0o700)
        cli("context edit a", environ=variables, tty=True, status=0)
    assert stored(cli, "a")["url"] == "nats://h-vi-nano"
    assert "set EDITOR" in cli("context edit a", environ=variables, status=64).err  # in a pipe


def test_edit_again_after_a_mistake(cli: Cli, tmp_path: Path) -> None:
    write(cli, "a", '{"url": "nats://h"}')
    code = (
        "broken, mended = text.replace('}', ']'), text.replace(']', '}').replace('//h', '//i')\n"
        "path.write_text(broken if '}' in text else mended)"
    )
    outcome = cli("context edit a", environ=editor(tmp_path, code), answers=[True], status=0)
    assert len(outcome.asked) == 1
    assert stored(cli, "a")["url"] == "nats://i"


def test_edit_without_a_change(cli: Cli, tmp_path: Path) -> None:
    write(cli, "a", '{"url": "nats://h"}')
    assert (
        "was not changed"
        in cli("context edit a", environ=editor(tmp_path, ""), terminal_error=True, status=0).err
    )
    cli("context edit a", environ=editor(tmp_path, "sys.exit(3)"), status=ExitStatus.FAILURE)
    cli("context edit a", environ={"EDITOR": "/nope/ed"}, status=ExitStatus.FAILURE)
    assert stored(cli, "a") == {"url": "nats://h"}


def test_edit_repairs_a_broken_file(cli: Cli, tmp_path: Path) -> None:
    write(cli, "a", "{broken")
    cli("context edit a", environ=editor(tmp_path, "path.write_text('{}')"), status=0)
    assert stored(cli, "a") == KEYS
