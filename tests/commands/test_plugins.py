"""Plugins: programs on PATH and entry points of packages, as commands of the top level."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import jsctl
from jsctl.commands.cli import plugins
from tests.support.run import Cli


@pytest.fixture
def folder(tmp_path: Path, offline_cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder on PATH."""
    folder = tmp_path / "my bin"
    folder.mkdir()
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    monkeypatch.setenv("PATH", path)
    offline_cli.environ["PATH"] = path
    return folder


def add_program(folder: Path, name: str, script: str) -> None:
    file = folder / f"jsctl-{name}"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def test_a_program_on_path(folder: Path, offline_cli: Cli) -> None:
    add_program(folder, "hello", 'echo "$#:$*:$NATS_CONTEXT:$NATS_TIMEOUT:$NATS_PASSWORD"; cat; exit 7')
    words = ["--context", "hub", "--timeout", "3s", "hello", "a b", "--help", "--", "-x"]
    process = offline_cli.start(words, stdin=subprocess.PIPE, environ={"NATS_PASSWORD": "its-own"})
    assert process.communicate("from stdin") == ("4:a b --help -- -x:hub:3s:its-own\nfrom stdin", "")
    assert process.returncode == 7
    assert offline_cli("hello --json", status=7).out.startswith("1:--json:")
    assert offline_cli("help hello", status=7).out.startswith("1:--help:")
    assert offline_cli("--json hello", status=64).err.count("give it behind hello") == 1
    with pytest.raises(jsctl.CommandError) as failed:
        jsctl.run("hello there", environ={**os.environ, **offline_cli.environ})
    assert failed.value.status == 7 and failed.value.data.startswith("1:there:")
    add_program(folder, "ends", "kill -TERM $$")
    assert offline_cli.start("ends").wait() == 143


def test_help_and_completion_name_them(folder: Path, offline_cli: Cli) -> None:
    add_program(folder, "hello", "true")
    (folder / "jsctl-data").write_text("not a program")
    for line in ("--help", "--help --all"):
        page = offline_cli(line, status=0).out
        assert f"\nPlugins:\n  hello       {folder}/jsctl-hello\n" in page.replace("\n              ", " ")
        assert "jsctl-data" not in page
    asked = {"_JSCTL_COMPLETE": "bash_complete", "COMP_LINE": "jsctl hel", "COMP_CWORD": "1"}
    out = offline_cli("", environ={**asked, "COMP_WORDS": "jsctl hel"}).out
    completions = offline_cli.start([], environ={**asked, "COMP_WORDS": "jsctl hel"}).communicate()[0]
    assert "plain,hello" in (out or completions)
    assert "no command 'helo'; did you mean" in offline_cli("helo", status=64).err


def test_a_misspelled_name(folder: Path, offline_cli: Cli) -> None:
    add_program(folder, "hello", "echo hello")
    assert "did you mean 'hello'?" in offline_cli("helo", status=64).err
    assert "did you mean 'stream'?" in offline_cli("strem", status=64).err


def test_ours_cannot_be_hidden(folder: Path, offline_cli: Cli) -> None:
    for name in ("stream", "st", "restore", "help", "version"):
        add_program(folder, name, "echo hidden")
        assert "hidden" not in offline_cli(f"{name} --help").out
    assert "Plugins" not in offline_cli("--help", status=0).out
    for name in ("../x", "a/b", "-x", ""):
        assert plugins.find(name) is None


def test_an_entry_point(
    folder: Path, offline_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    info = site / "my_plugin-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "entry_points.txt").write_text(
        "[console_scripts]\nother = x:y\n\n[jsctl.plugins]\n# ours\nfrompackage = my_plugin:main\n"
    )
    (site / "my_plugin.py").write_text("def main(words):\n    print('words', words)\n    return 5\n")
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", str(site))
    process = offline_cli.start("frompackage a --b", environ={"PYTHONPATH": str(site)})
    assert process.communicate() == ("words ['a', '--b']\n", "") and process.returncode == 5
    assert "frompackage  of the package my_plugin" in offline_cli("--help", status=0).out
    assert plugins.find("other") is None


def test_commands_of_ours_look_for_none() -> None:
    """Neither the module nor PATH costs time where the command is ours."""
    probe = (
        "import sys, os, jsctl.app\n"
        "from jsctl.env import Env\n"
        "from jsctl.base.standard_streams import Streams\n"
        "jsctl.app.run(['context', 'ls'], Env(Streams.real(), os.environ))\n"
        "sys.exit('jsctl.commands.cli.plugins' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", probe], capture_output=True, check=False).returncode == 0
