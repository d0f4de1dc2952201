"""`completion`: scripts where each shell looks for them. tests/contract/test_completion.py has shells use
them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from jsctl.commands.completing.shells import FILES
from jsctl.commands.installing.completions import find_place
from tests.support.run import Cli

PLACES = {
    "bash": [".local/share/bash-completion/completions/jsctl"],
    "zsh": [".local/share/jsctl/completion/_jsctl", ".zshrc"],
    "fish": [".config/fish/completions/jsctl.fish"],
    "powershell": [".local/share/jsctl/completion/jsctl.ps1", ".config/powershell/profile.ps1"],
}


@pytest.fixture
def home_cli(tmp_path: Path) -> Cli:
    """jsctl with a home folder, and without the folders of the XDG variables; it finds no other program."""
    cli = Cli(tmp_path)
    del cli.environ["XDG_CONFIG_HOME"]
    return cli


def files(home: Path) -> set[str]:
    return {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}


def test_help_and_errors_name_the_shells(offline_cli: Cli) -> None:
    shown = offline_cli("completion --help", status=0).out
    for shell in FILES:
        assert f"Print the completion script for {'PowerShell' if shell == 'powershell' else shell}" in shown
        for error in (
            offline_cli("completion install", environ={"SHELL": ""}, status=64).err,
            offline_cli("completion install", environ={"SHELL": "/bin/csh"}, status=64).err,
        ):
            assert "name one with --shell: bash, zsh, fish, powershell" in error, shell


@pytest.mark.parametrize("shell", PLACES)
def test_install_says_where_and_uninstall_leaves_nothing(shell: str, home_cli: Cli) -> None:
    name = "pwsh" if shell == "powershell" else shell
    environ = {"SHELL": f"/usr/bin/{name}", "PATH": ""}
    shown = home_cli("completion install", environ=environ, status=0).out
    assert files(home_cli.home) == set(PLACES[shell])
    assert all(str(home_cli.home / path) in shown for path in PLACES[shell])
    assert (home_cli.home / PLACES[shell][0]).read_text() == home_cli(f"completion {shell}", status=0).out
    first = {path: (home_cli.home / path).read_text() for path in PLACES[shell]}
    again = home_cli(f"completion install --shell {shell} --json", environ={"PATH": ""}, status=0).json
    assert again == {"shell": shell, "files": [str(home_cli.home / path) for path in PLACES[shell]]}
    assert first == {path: (home_cli.home / path).read_text() for path in PLACES[shell]}, "twice the line"
    gone = home_cli("completion uninstall", environ=environ, status=0).out
    assert all(str(home_cli.home / path) in gone for path in PLACES[shell])
    assert all((home_cli.home / path).read_text() == "" for path in files(home_cli.home))
    assert "no completion of jsctl is installed" in home_cli("completion uninstall", environ=environ).out


@pytest.mark.parametrize("before", [b"", b"PS1='$ '", b"# \xe9\nalias l=ls\r\n\n\n"])
def test_a_start_up_file_keeps_its_bytes(before: bytes, home_cli: Cli) -> None:
    target = home_cli.home / "dotfiles" / "zshrc"
    target.parent.mkdir()
    target.write_bytes(before)
    target.chmod(0o640)
    (home_cli.home / ".zshrc").symlink_to(target)
    home_cli("completion install --shell zsh", status=0)
    assert target.read_bytes().startswith(before) and len(target.read_bytes()) > len(before)
    home_cli("completion uninstall --shell zsh", status=0)
    assert target.read_bytes().rstrip(b"\n") == before.rstrip(b"\n")
    assert target.stat().st_mode & 0o777 == 0o640 and (home_cli.home / ".zshrc").is_symlink()


def test_a_profile_in_utf_16_stays(home_cli: Cli) -> None:
    profile = home_cli.home / ".config" / "powershell" / "profile.ps1"
    profile.parent.mkdir(parents=True)
    profile.write_text("Set-PSReadLineOption", encoding="utf-16")
    error = home_cli("completion install --shell powershell", environ={"PATH": ""}, status=64).err
    assert "UTF-16" in error and profile.read_text(encoding="utf-16") == "Set-PSReadLineOption"


def test_a_folder_that_cannot_be_written_is_one_line(home_cli: Cli) -> None:
    (home_cli.home / ".local").write_text("a file")
    error = home_cli("completion install --shell bash", status=1).err
    assert error.startswith("jsctl: error: cannot write ") and error.count("\n") == 1


def test_places_follow_the_variables_of_the_shells(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path), "PATH": ""}
    assert find_place("bash", {**home, "BASH_COMPLETION_USER_DIR": "/x"}).script == Path(
        "/x/completions/jsctl"
    )
    assert find_place("zsh", {**home, "ZDOTDIR": "/z"}).startup == Path("/z/.zshrc")
    assert find_place("fish", {**home, "XDG_CONFIG_HOME": "/c"}).script == Path(
        "/c/fish/completions/jsctl.fish"
    )
    windows = find_place("powershell", home, "win32")
    assert windows.startup == tmp_path / "Documents" / "PowerShell" / "profile.ps1"
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "pwsh").write_text("#!/bin/sh\necho /moved/profile.ps1\n")
    (tools / "pwsh").chmod(0o755)
    assert find_place("powershell", {**home, "PATH": str(tools)}).startup == Path("/moved/profile.ps1")


BASH_COMPLETION = Path("/usr/share/bash-completion/bash_completion")
LINES = {
    "bash": f". {BASH_COMPLETION}; _completion_loader jsctl; complete -p jsctl",
    "zsh": "print ${_comps[jsctl]}",
    "fish": "complete --do-complete 'jsctl stre'",
}
"""What shows that an interactive shell completes jsctl."""


@pytest.mark.slow
@pytest.mark.parametrize("shell", LINES)
def test_a_new_shell_has_it(shell: str, home_cli: Cli, tmp_path: Path) -> None:
    if not shutil.which(shell) or (shell == "bash" and not BASH_COMPLETION.exists()):
        pytest.skip(f"{shell} or its completion is not installed")
    home_cli(f"completion install --shell {shell}", status=0)
    ran = subprocess.run(
        [shell, "-i", "-c", LINES[shell]],
        env={"HOME": str(tmp_path), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "jsctl" in ran.stdout or "stream" in ran.stdout, ran


def complete_for_powershell(words: list[str], home: Path) -> list[dict[str, str]]:
    """What PowerShell gets for the words before the cursor, the last of them unfinished."""
    ended = subprocess.run(
        [sys.executable, "-m", "jsctl"],
        env={
            **os.environ,
            "_JSCTL_COMPLETE": "powershell_complete",
            "COMP_WORDS": json.dumps(["jsctl", *words]),
            "XDG_CONFIG_HOME": str(home),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stderr == "" and ended.stdout.isascii()
    return [json.loads(line) for line in ended.stdout.splitlines()]


def read_as_powershell(text: str) -> str:
    """The word that PowerShell reads: between quotation marks of any kind, a doubled one is one of them."""
    marks = "'\u2018\u2019\u201a\u201b"
    if text[0] not in marks:
        return text
    assert text[-1] in marks
    inner, word, at = text[1:-1], "", 0
    while at < len(inner):
        if inner[at] in marks:
            assert inner[at + 1] in marks, "the word ends here"
            at += 1
        word += inner[at]
        at += 1
    return word


def test_powershell_gets_words_it_reads_back(home_cli: Cli) -> None:
    folder = home_cli.home / "nats" / "context"
    folder.mkdir(parents=True)
    names = [
        "x y",
        "x'$(calc)'",
        "x\u2019; calc; \u2018",
        "x;calc",
        "x$env:A",
        "x`a",
        "@x",
        "é",
        "1kb",
        "plain",
    ]
    for name in names:
        (folder / f"{name}.json").write_text("{}")
    shown = complete_for_powershell(["context", "rm", ""], home_cli.home)
    assert sorted(item["value"] for item in shown) == sorted(set(names) - {"@x"})  # a file of arguments
    for item in shown:
        assert read_as_powershell(item["insert"]) == item["value"]
        assert item["value"] == "plain" or item["insert"].startswith("'")
    [item] = complete_for_powershell(["str"], home_cli.home)
    assert item == {
        "type": "plain",
        "value": "stream",
        "insert": "stream",
        "help": "Create, inspect, change and remove streams",
    }
    assert [
        item["type"] for item in complete_for_powershell(["stream", "add", "--config", ""], home_cli.home)
    ] == ["file"]


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("pwsh"), reason="no PowerShell")
def test_powershell_completes(home_cli: Cli) -> None:
    script = home_cli("completion powershell", status=0).out
    line = "(TabExpansion2 -inputScript 'jsctl str' -cursorColumn 9).CompletionMatches.CompletionText"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    words = ["pwsh", "-NoProfile", "-Command", f"{script}\n{line}"]
    ran = subprocess.run(words, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True)
    assert ran.stdout == "stream\n"
