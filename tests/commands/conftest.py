"""Fixtures of several verbs."""

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.declared import Files
from tests.support.replier import Start
from tests.support.run import Cli


@pytest.fixture
def files(cli: Cli, tmp_path: Path) -> Files:
    """Applies texts as files of declared streams."""
    return Files(cli, tmp_path)


@pytest.fixture
def replier(cli: Cli) -> Iterator[Start]:
    """Starts `jsctl reply ...` and waits until it listens."""
    with contextlib.ExitStack() as stack:

        def start(*args: str) -> "subprocess.Popen[str]":
            process = cli.start(["reply", *args])
            stack.callback(process.wait)
            stack.callback(process.kill)
            assert process.stderr
            assert "Listening on" in process.stderr.readline()
            return process

        yield start
