"""Each file that a verb takes: a named pipe that nobody else opens, a device without end, a link to itself.

It ends in time, in one line or with what was asked."""

import gzip
import io
import os
import shutil
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from jsctl.base import files
from tests.contract.test_commands import VERBS, resolve
from tests.fuzz.commands import is_endless, lines, make_again, prepare, without_spark
from tests.fuzz.record import Record, cases
from tests.fuzz.test_answers import run
from tests.support.run import Cli

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


@pytest.mark.long
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


def _tar() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        member = tarfile.TarInfo("../x\x1b[2J")
        member.size = 3
        tar.addfile(member, io.BytesIO(b"abc"))
    return buffer.getvalue()


def _zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as whole:
        whole.writestr("../x", "abc")
    return buffer.getvalue()


CONTENTS = {
    "nothing": b"",
    "mark": b'\xef\xbb\xbf{"name": "X"}',
    "UTF-16": '{"name": "X"}\n'.encode("utf-16"),
    "other line ends": b'{"subject": "a", "data": "x"}\r\n\r\n{"key": "a"}\r\n',
    "broken second line": b'{"subject": "a", "key": "a", "value": "eA==", "data": "eA=="}\n{"subject":\n',
    "null": b"null",
    "list": b"[]",
    "list of numbers": b"[1, 2]",
    "number": b"5",
    "text": b'"x"',
    "object": b"{}",
    "objects in each other": b'{"streams": {"a": {}}, "config": [], "servers": 5, "version": 2}',
    "deep": b"[" * 5000,
    "deep YAML": b"a: " * 5000,
    "binary": bytes(range(256)) * 10,
    "zeros": b"\0" * 5000,
    "Latin-1": b"name: \xe9\xe8\n",
    "escapes": b"\x1b[2J\x1b]0;x\x07: \x9b1m\n",
    "lone surrogate": b'{"name": "\\ud800", "subject": "\\udfff"}',
    "template": b"{{Random 1 99999999999}} {{ {{{{{{\n",
    "long line": b"a" * 300_000,
    "code": b'!!python/object/apply:os.system ["touch pwned"]\n',
    "aliases": b"a: &a [x, x]\n" + b"".join(b"b%d: &b%d [*%b]\n" % (n, n, b"a") for n in range(200)),
    "cast": b'{"version": 2, "width": "x"}\n[0, "o", 5]\n["x"]\n',
    "gzip": gzip.compress(b"x" * 5000),
    "half a gzip": gzip.compress(os.urandom(500))[:300],
    "tar": _tar(),
    "tgz": gzip.compress(_tar()),
    "zip": _zip(),
    "PEM": b"-----BEGIN NATS USER JWT-----\nx\n------END NATS USER JWT------\n"
    b"-----BEGIN USER NKEY SEED-----\nSUX\n------END USER NKEY SEED------\n",
    "JWT": b"eyJ0eXAiOiJKV1QifQ.W10.AAAA",
}
"""What a file may hold that is something else, by its name."""


@pytest.mark.long
def test_files_of_another_kind(
    cli: Cli, url: str, offline_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each verb with some of CONTENTS for each of its files, and with a folder; `--fuzz 40` tries all."""
    monkeypatch.chdir(tmp_path)
    prepare(cli, url, tmp_path)
    known: dict[str, Any] = lines(tmp_path)
    folder, file = tmp_path / "some folder", tmp_path / "some file"
    every = [*CONTENTS, ""]
    faults = []
    with without_spark(), Record("files of another kind") as record:
        for number, (path, parameter) in enumerate(parameters()):
            if path not in known:
                continue
            count = min(cases(1), len(every))
            for at in range(count):
                kind = every[(number * 7 + at * len(every) // count) % len(every)]
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                file.unlink(missing_ok=True)
                file.write_bytes(CONTENTS.get(kind, b""))
                line = with_file(known[path], path, parameter, str(file if kind else folder))
                try:
                    run(offline_cli, None, line, record, endless=is_endless(path), url=url)
                except AssertionError as fault:
                    faults.append(f"{kind}: {str(fault)[-700:]}")
            make_again(url)
    assert not faults, "\n".join(faults)
    assert not (tmp_path / "pwned").exists()
