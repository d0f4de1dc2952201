"""Fixtures of several verbs."""

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.declared import Files
from tests.support.js import ask, info, publish, stream
from tests.support.replier import Start
from tests.support.run import Cli
from tests.support.servers import HubLeaf
from tests.support.waiting import wait_for


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


@pytest.fixture
def account(url: str) -> str:
    """The server of an account with a file stream, a memory stream, a mirror and a consumer."""
    stream(url, "ORDERS", "ORDERS.>")
    stream(url, "MEM", "mem", storage="memory")
    publish(url, "ORDERS.new", b"one", count=30)
    publish(url, "mem", b"two", count=20)
    stream(url, "A_MIRROR", mirror={"name": "ORDERS"})
    wait_for(lambda: info(url, "A_MIRROR")["state"]["messages"] == 30, "the mirror is late")
    config = {"durable_name": "NEW", "ack_policy": "explicit", "description": "fresh"}
    ask(url, "CONSUMER.DURABLE.CREATE.ORDERS.NEW", {"stream_name": "ORDERS", "config": config})
    return url
