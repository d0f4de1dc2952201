"""`jsctl context` and its short commands."""

import json
from functools import partial

import pexpect
import pytest

from jsctl.contexts import layers
from jsctl.contexts.model import KEYS
from jsctl.contexts.settings import Settings
from jsctl.errors import ExitStatus
from tests.support.contexts import SECRET, stored, write
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
    hint = "jsctl context select selects one of c0, c1, c2, c3, c4, c5, c6, c7 and 2 more"
    for line in ("stream ls", "report", "doctor", "pub orders.new one", "server ls"):
        assert offline_cli(line, status=4).err.endswith(f"; no context is selected: {hint}\n")
    assert hint in offline_cli("stream ls --json", status=4).err
    assert hint in offline_cli("context info", status=3).err
    for line in ("stream ls --context c1", "stream ls --server nats://127.0.0.1:1"):
        assert "select" not in offline_cli(line, status=4).err
    offline_cli("context select c1", status=0)
    assert "select" not in offline_cli("stream ls", status=4).err


def test_select_and_previous(cli: Cli) -> None:
    for name in ("a", "b"):
        cli(f"context add {name}", status=0)
    assert "was selected before" in cli("context previous", status=ExitStatus.NOT_FOUND).err
    for line, expected in (
        ("select a", "a"),
        ("switch b", "b"),
        ("previous", "a"),
        ("-", "b"),
        ("set b", "b"),
        ("-", "a"),
    ):
        cli(f"context {line}", status=0)
        assert (cli.home / "nats" / "context.txt").read_text() == expected, line
    assert cli("context unselect", status=0).out == 'Unselected the "a" context\n'
    assert cli("context unselect", status=0).out == "No context currently selected\n"
    cli("context previous", status=0)
    assert (cli.home / "nats" / "context.txt").read_text() == "a"
    cli("context select nope", status=ExitStatus.NOT_FOUND)
    assert (cli.home / "nats" / "context.txt").read_text() == "a"


def test_unselect(cli: Cli) -> None:
    cli("context add a --select", status=0)
    assert cli("context unselect", status=0).out == 'Unselected the "a" context\n'
    assert not (cli.home / "nats" / "context.txt").exists()
    assert cli("context unselect --json", status=0).json == {"unselected": None}
    assert "unexpected" in cli("context unselect a", status=64).err


@pytest.mark.parametrize("verb", ["info", "show", "v", "view"])
def test_info_hides_secrets(cli: Cli, verb: str) -> None:
    write(
        cli,
        "a",
        json.dumps(
            {
                "url": f"nats://bob:{SECRET}@h",
                "password": SECRET,
                "token": SECRET,
                "user_jwt": SECRET,
                "user_seed": SECRET,
                "creds": __file__,
                "ca": "/nope",
                "x_password": SECRET,
                "x_other": "seen",
            }
        ),
    )
    cli("context select a", status=0)
    for line in (
        f"context {verb}",
        f"context {verb} a",
        f"context {verb} --json",
    ):
        for tty in (False, True):
            assert SECRET not in cli(line, tty=tty, status=0).out
    info_page = cli(f"context {verb}", status=0).out
    assert "Server URLs: nats://bob:********@h" in info_page
    assert (
        f"Credentials: {__file__} (OK)" in info_page
        and "CA: /nope (ERROR)" in info_page
        and "seen" in info_page
    )
    assert cli(f"context {verb} --show-secrets", status=0).out.count(SECRET) == 6
    shown = cli(f"context {verb} a --json --show-secrets", status=0).json
    assert (shown["name"], shown["password"], shown["x_other"]) == ("a", SECRET, "seen")


def test_info_says_what_the_environment_sets(cli: Cli) -> None:
    cli("context add a", status=0)
    assert cli("context info a", status=0).err == ""
    err = cli("context info a", environ={"NATS_URL": "nats://x", "NATS_USER": "u"}, status=0).err
    assert "--server, --user" in err


@pytest.mark.parametrize("verb", ["copy", "cp"])
def test_copy(cli: Cli, verb: str) -> None:
    write(cli, "a", '{"url": "nats://h", "description": "A", "x_unknown": 1}')
    cli(f"context {verb} a b --js-domain leaf --description B --select", status=0)
    assert stored(cli, "b") == KEYS | {
        "url": "nats://h",
        "description": "B",
        "jetstream_domain": "leaf",
        "x_unknown": 1,
    }
    assert (cli.home / "nats" / "context.txt").read_text() == "b"
    assert "already exists" in cli("context cp a b", status=ExitStatus.USAGE).err
    cli("context cp nope c", status=ExitStatus.NOT_FOUND)


def test_rm(cli: Cli) -> None:
    for name in ("a", "b", "c"):
        cli(f"context add {name}", status=0)
    cli("context select a", status=0)
    assert "is selected" in cli("context rm a", answers=[True], status=ExitStatus.FAILURE).err
    assert "use --force" in cli("context rm b", status=ExitStatus.USAGE).err
    cli("context rm b", answers=[False], status=0)
    assert cli("context ls --names").out == "a\nb\nc\n"
    cli("context rm b", answers=[True], status=0)
    cli("context rm nope", answers=[], status=ExitStatus.NOT_FOUND)
    outcome = cli("context rm nope --force", terminal_error=True, status=0)
    assert outcome.err == "there is no context nope, nothing was changed\n"
    cli("context remove c -f", status=0)
    # The only one may go, though it is selected.
    cli("context rm a", answers=[True], status=0)
    assert not (cli.home / "nats" / "context.txt").exists()
    assert cli("context ls --names").out == ""
