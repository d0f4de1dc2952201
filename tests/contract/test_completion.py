"""The files in completions/ are what `jsctl completion` prints, and they complete; no name runs code."""

import os
import shutil
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from string import ascii_lowercase

import pexpect
import pytest

from jsctl.commands.completing.shells import FILES
from tests.support import js
from tests.support.run import Cli, Terminal
from tests.support.waiting import wait_for

FOLDER = Path(__file__).parents[2] / "completions"


@pytest.mark.parametrize("shell", FILES)
def test_files_are_as_generated(shell: str, offline_cli: Cli) -> None:
    assert (FOLDER / FILES[shell]).read_text() == offline_cli(["completion", shell], status=0).out


def test_nothing_else_is_there() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(FILES.values())


def complete(words: str, at: int, home: Path, shell: str = "bash") -> list[str]:
    ended = subprocess.run(
        [sys.executable, "-m", "jsctl"],
        env={
            **os.environ,
            "_JSCTL_COMPLETE": f"{shell}_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(at),
            "XDG_CONFIG_HOME": str(home),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stderr == ""
    return [line.split(",", 1)[1] for line in ended.stdout.splitlines()]


@pytest.mark.slow
def test_commands_and_flags_complete(tmp_path: Path) -> None:
    assert "stream" in complete("jsctl str", 1, tmp_path)
    assert "ls" in complete("jsctl stream l", 2, tmp_path)
    assert "--names" in complete("jsctl stream ls --na", 3, tmp_path)
    assert complete("jsctl completion ", 2, tmp_path) == ["install", "uninstall", *FILES]
    assert {"help", "version"} <= set(complete("jsctl ", 1, tmp_path))
    assert complete("jsctl help str", 2, tmp_path) == ["stream"]
    assert (
        complete("jsctl help stream clu", 3, tmp_path)
        == ["cluster"]
        == complete("jsctl stream help clu", 3, tmp_path)
    )


def test_context_names_complete(tmp_path: Path, offline_cli: Cli) -> None:
    offline_cli("context add edge --server nats://127.0.0.1:1", status=0)
    assert complete("jsctl --context e", 2, offline_cli.home) == ["edge"]
    assert complete("jsctl context rm e", 3, offline_cli.home) == ["edge"]


# -- names that are commands of a shell -----------------------------------------------------------

RUNS = [
    "x$(touch${IFS}pwn)",
    "x`touch${IFS}pwn`",
    "x;touch${IFS}pwn;",
    "x|touch${IFS}pwn",
    "x&&touch${IFS}pwn&",
    "x'$(touch${IFS}pwn)'",
    'x"$(touch${IFS}pwn)',
    "x(touch${IFS}pwn)",
    "x{touch,pwn}",
    "x~$HOME!!#é",
    "~x",
    "=x",
    "x%s,y",
]
"""Names that a shell would run, expand or cut, were they not quoted."""

NOUNS = ["stream", "consumer", "context"]

NEVER = ["x\x1b[2Jy", "x\x07y", "--force", "x\u202ey"]
"""Names that no completion shows."""


def test_names_are_quoted_for_bash(offline_cli: Cli) -> None:
    folder = offline_cli.home / "nats" / "context"
    folder.mkdir(parents=True)
    for name in [*RUNS, *NEVER, "x y"]:
        (folder / f"{name}.json").write_text("{}")
    quoted = complete("jsctl context rm ", 3, offline_cli.home)
    read = subprocess.run(
        ["bash", "-c", "printf '%s\\n' " + " ".join(quoted)], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert sorted(read) == sorted([*RUNS, "x y"])


@pytest.fixture(params=["bash", "zsh", "fish"])
def shell(request: pytest.FixtureRequest, cli: Cli, tmp_path: Path) -> Iterator[Terminal]:
    """A shell in a pseudo-terminal, with the completions of jsctl, in a folder of its own; `jsctl` in its
    functions and scripts is this project's."""
    name: str = request.param
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed")
    folder, tools = tmp_path / "folder", tmp_path / "tools"
    folder.mkdir()
    tools.mkdir()
    wrapper = tools / "jsctl"
    # Completes; when run, it writes down what the shell gave it.
    wrapper.write_text(
        f'#!/bin/sh\n[ -n "$_JSCTL_COMPLETE" ] && exec "{sys.executable}" -m jsctl\n'
        f'printf "%s\\n" "$@" > "{tmp_path}/given.new"\nmv "{tmp_path}/given.new" "{tmp_path}/given"\n'
    )
    wrapper.chmod(0o755)
    start = {"bash": ["--noprofile", "--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[name]
    spawned: Terminal = pexpect.spawn(
        name,
        start,
        cwd=str(folder),
        env={
            **os.environ,
            **cli.environ,
            "PATH": f"{tools}:{os.environ['PATH']}",
            "PS1": "ready> ",
        },
        dimensions=(40, 200),
        encoding="utf-8",
        timeout=60,
    )
    script = FOLDER / FILES[name]
    spawned.sendline(
        {
            "bash": f"bind 'set enable-bracketed-paste off'; . {script}",
            "zsh": f"PS1='ready> '; autoload -U compinit; compinit -u -D; . {script}",
            "fish": f"function fish_prompt; echo 'ready> '; end; source {script}",
        }[name]
        + f"; touch {tmp_path}/loaded"
    )
    wait_for((tmp_path / "loaded").exists, "the completions are loaded")
    yield spawned
    spawned.close(force=True)


def completed(shell: Terminal, line: str, tmp_path: Path) -> list[str]:
    """What the command gets when `line` is typed, completed with the tab key, and entered."""
    options = tmp_path / "given"
    options.unlink(missing_ok=True)
    shell.send(line)
    shell.send("\t")
    # Tab is done when what is typed after it is echoed.
    shell.send(" end")
    shell.expect("end", timeout=20)
    shell.send("\r")
    wait_for(options.exists, f"jsctl has run for {line!r}")
    return options.read_text().splitlines()


BROKEN = {"ab:c": "ab:cd", "ef=": "ef=gh", "ij@k": "ij@kl:mn", "--context=ab": "--context=ab:cd"}
"""What is typed, and what it becomes: readline takes words apart at these characters."""


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash"], indirect=True)
def test_names_with_colons_and_equals_signs(shell: Terminal, cli: Cli, tmp_path: Path) -> None:
    folder = cli.home / "nats" / "context"
    folder.mkdir(parents=True)
    for name in BROKEN.values():
        if not name.startswith("-"):
            (folder / f"{name}.json").write_text("{}")
    for typed, name in BROKEN.items():
        assert completed(shell, f"jsctl context rm {typed}", tmp_path) == ["context", "rm", name, "end"]


@pytest.mark.slow
@pytest.mark.parametrize("noun", NOUNS)
def test_a_completed_name_is_one_word_that_does_nothing(
    noun: str, shell: Terminal, cli: Cli, url: str, tmp_path: Path
) -> None:
    """Each name once a shell: what quotes them knows no nouns."""
    names = [letter + name for letter, name in zip(ascii_lowercase, RUNS, strict=False)][
        NOUNS.index(noun) :: 3
    ]
    if noun == "context":
        names.append("z x y")
        folder = cli.home / "nats" / "context"
        folder.mkdir(parents=True)
        for name in names:
            (folder / f"{name}.json").write_text("{}")
    elif noun == "stream":
        for name in names:
            js.stream(url, name, f"s{names.index(name)}")
    else:
        js.stream(url, "S", "s")
        for name in names:
            config = {"durable_name": name, "ack_policy": "explicit"}
            js.ask(url, f"CONSUMER.DURABLE.CREATE.S.{name}", {"stream_name": "S", "config": config})
    before = {
        "stream": ["stream", "info"],
        "consumer": ["consumer", "info", "S"],
        "context": ["context", "rm"],
    }
    for name in names:
        typed = " ".join(["jsctl", *before[noun], name[0]])
        assert completed(shell, typed, tmp_path) == [*before[noun], name, "end"]
    assert not list((tmp_path / "folder").iterdir()), "a name has run"


# -- names that were seen before ------------------------------------------------------------------


def complete_now(cli: Cli, words: str, wait: int) -> list[str]:
    """The completions of a line with a wait of so many ms for the server."""
    count = len(words.split()) - (not words.endswith(" "))
    variables = {
        "_JSCTL_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(count),
        "JSCTL_COMPLETE_WAIT": str(wait),
    }
    ended = subprocess.run(
        [sys.executable, "-m", "jsctl"],
        env={**os.environ, **cli.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert ended.stderr == ""
    return [line.split(",", 1)[1] for line in ended.stdout.splitlines() if "," in line]


@pytest.mark.slow
def test_names_are_known_without_their_server(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    js.stream(url, "EVENTS", "events.>")
    cli(f"context add shop --server {url} --select", status=0)
    del cli.environ["NATS_URL"]
    assert complete_now(cli, "jsctl stream info ", 20_000) == ["EVENTS", "ORDERS"]
    [file] = (cli.home / ".cache" / "jsctl" / "names").iterdir()
    assert file.name.startswith("shop-") and stat.S_IMODE(file.stat().st_mode) == 0o600
    js.ask(url, "STREAM.DELETE.EVENTS")
    assert complete_now(cli, "jsctl stream info ", 0) == ["EVENTS", "ORDERS"]
    assert complete_now(cli, "jsctl stream info ", 20_000) == ["ORDERS"]
    assert complete_now(cli, "jsctl stream info ", 0) == ["ORDERS"]
    js.stream(url, "OTHERS", "others")
    assert complete_now(cli, "jsctl stream info O", 20_000) == ["ORDERS", "OTHERS"]
    js.publish(url, "orders.eu.new")
    assert complete_now(cli, "jsctl sub or", 20_000) == ["orders.\\>", "orders.eu.new"]
    assert complete_now(cli, "jsctl pub orders.eu", 20_000) == ["orders.eu.new"]
    file.write_text("[")
    assert complete_now(cli, "jsctl stream info O", 20_000) == ["ORDERS", "OTHERS"]


def test_a_server_that_never_answers_is_not_waited_for(offline_cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        offline_cli.environ["NATS_URL"] = f"nats://127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        assert complete_now(offline_cli, "jsctl stream info ", 150) == []
        assert time.monotonic() - began < 4  # of the 5 s that other commands wait
        # What is asked has ended, too: nothing holds a connection.
        silent.settimeout(2)
        connection, _ = silent.accept()
        with connection:
            connection.settimeout(2)
            while connection.recv(1024):
                pass
