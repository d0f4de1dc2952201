"""Fixtures of several verbs."""

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.declared import Files
from tests.support.replier import Start
from tests.support.run import Cli
from tests.support.servers import HubLeaf


@pytest.fixture
def files(cli: Cli, tmp_path: Path) -> Files:
    """Applies texts as files of declared streams."""
    return Files(cli, tmp_path)


@pytest.fixture
def pair(hub_leaf: HubLeaf, tmp_path: Path) -> Cli:
    """Contexts of a hub and its leaf node; `local` has another address, `renamed` another name."""
    cli = Cli(tmp_path / "config")
    leaf = hub_leaf.leaf.url_for("acc")
    local = hub_leaf.url.replace("127.0.0.1", "localhost")
    for name, address in {"hub": hub_leaf.url, "leaf": leaf, "local": local, "renamed": hub_leaf.url}.items():
        cli(f"context add {name} --server {address}", status=0)
    return cli


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
