"""Each file that a verb takes: a named pipe that nobody else opens, a device without end, a link to itself.

It ends in time, in one line or with what was asked."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from jsctl import files
from tests.contract.test_commands import VERBS, resolve
from tests.fuzz.commands import is_endless, lines, prepare, without_spark
from tests.fuzz.record import Record
from tests.fuzz.test_answers import run
from tests.support.run import Cli

pytestmark = pytest.mark.slow

GLOBAL = {"--creds", "--nkey", "--tlscert", "--tlskey", "--tlsca", "--store"}
"""Flags of many verbs, which are read in one place: tried once."""

WORDS = ("file", "path", "folder", "archive", "directory", "input")
"""What is in the names of arguments that are files."""


def takes_file(parameter: click.Parameter) -> bool:
    if isinstance(parameter, click.Option):
        return any(word in (parameter.metavar or "") for word in ("FILE", "PATH"))
    return any(word in (parameter.name or "") for word in WORDS)


def parameters() -> Iterator[tuple[str, click.Parameter]]:
    """The verbs that can be run here, with each parameter of theirs that is a file."""
    tried = set()
    for path in VERBS:
        for parameter in resolve(path.split()).params:
            flag = parameter.opts[0]
            if takes_file(parameter) and flag not in tried:
                yield path, parameter
                tried |= GLOBAL & {flag}


def with_file(line: list[str], path: str, parameter: click.Parameter, file: str) -> list[str]:
    """The command line with this file for the parameter."""
    line = list(line)
    if isinstance(parameter, click.Option):
        flag = next((flag for flag in parameter.opts if flag in line), "")
        if flag:
            line[line.index(flag) + 1] = file
            return line
        return [*line, parameter.opts[0], file]
    arguments = [one.name for one in resolve(path.split()).params if isinstance(one, click.Argument)]
    at = len(path.split()) + arguments.index(parameter.name)
    return [*line[:at], file, *line[at + (at < len(line) and not line[at].startswith("-")) :]]


def test_every_file(
    cli: Cli, url: str, offline_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(files, "PIPE_SECONDS", 0.02)
    prepare(cli, url, tmp_path)
    pipe, loop = tmp_path / "pipe", tmp_path / "loop"
    os.mkfifo(pipe)
    loop.symlink_to(loop)
    known: dict[str, Any] = lines(tmp_path)
    faults = []
    with without_spark(), Record("files of verbs") as record:
        for number, (path, parameter) in enumerate(parameters()):
            if path not in known:
                continue
            for file in (pipe, (Path("/dev/zero"), loop)[number % 2]):
                line = with_file(known[path], path, parameter, str(file))
                try:
                    run(offline_cli, None, line, record, endless=is_endless(path), url=url)
                except AssertionError as fault:
                    faults.append(str(fault)[-500:])
            assert pipe.is_fifo() and loop.is_symlink(), (path, parameter.name)
    assert not faults, "\n".join(faults)


def test_pipes_with_another_end(cli: Cli, url: str, tmp_path: Path) -> None:
    """They are waited for, and work."""
    pipe, result = tmp_path / "pipe", tmp_path / "result"
    os.mkfifo(pipe)
    cli("object add BOX", status=0)
    if not (writer := os.fork()):
        pipe.write_text("hello")
        os._exit(0)
    cli(["object", "put", "BOX", str(pipe), "--name", "x", "--force"], status=0)
    os.waitpid(writer, 0)
    if not (reader := os.fork()):
        result.write_bytes(pipe.read_bytes())
        os._exit(0)
    cli(["object", "get", "BOX", "x", "--output", str(pipe), "--force"], status=0)
    os.waitpid(reader, 0)
    assert result.read_text() == "hello"
