"""`context select`."""

from functools import partial

import pexpect
import pytest

from jsctl.contexts import layers
from jsctl.contexts.settings import Settings
from jsctl.errors import ExitStatus
from tests.support.run import Cli
from tests.support.servers import free_port


def test_select_from_a_list(cli: Cli) -> None:
    assert "there are no contexts" in cli("context select", answers=[], status=ExitStatus.NOT_FOUND).err
    for name in ("a", "b"):
        cli(f"context add {name}", status=0)
    assert cli("context select", answers=["b"], status=0).asked == ["Select a Context"]
    assert (cli.home / "nats" / "context.txt").read_text() == "b"
    assert "specify NAME" in cli("context select", status=ExitStatus.USAGE).err
    child = cli.terminal("context select")
    try:
        child.expect("Select a Context")
        child.send("\x1b[A\r")
        child.expect('Context "a"')
        child.expect(pexpect.EOF)
    finally:
        child.close(force=True)
    assert (cli.home / "nats" / "context.txt").read_text() == "a"


def test_without_a_selection_errors_name_the_contexts(
    offline_cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layers, "Settings", partial(Settings, url=f"nats://127.0.0.1:{free_port()}"))
    assert "jsctl server run starts" in offline_cli("stream ls", status=4).err
    for number in range(10):
        offline_cli(f"context add c{number} --server nats://127.0.0.1:1", status=0)
    hint = "jsctl context select selects one of c0, c1, c2, c3, c4 and 5 more"
    for line in ("stream ls", "report", "doctor", "pub orders.new one", "server ls"):
        assert offline_cli(line, status=4).err.endswith(f"; no context is selected: {hint}\n")
    assert hint in offline_cli("stream ls --json", status=4).err
    assert hint in offline_cli("context info", status=3).err
    for line in ("stream ls --context c1", "stream ls --server nats://127.0.0.1:1"):
        assert "select" not in offline_cli(line, status=4).err
    offline_cli("context select c1", status=0)
    assert "select" not in offline_cli("stream ls", status=4).err


def test_a_server_that_refuses_who_has_selected_nothing(
    offline_cli: Cli, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    address = url.split("@")[1]
    monkeypatch.setattr(layers, "Settings", partial(Settings, url=f"nats://{address}"))
    assert "check user, password" in offline_cli("stream ls", status=5).err
    offline_cli(f"context add here --server {url}", status=0)
    hint = "; no context is selected: jsctl context select selects one of here\n"
    assert offline_cli("stream ls", status=5).err.endswith(hint)
    for line in ("stream ls --user no --password no", f"stream ls --server {address}"):
        assert "check user, password" in offline_cli(line, status=5).err
