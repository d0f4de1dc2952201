"""`jsctl context previous`, `unselect` and `info`."""

import json

import pytest

from jsctl.errors import ExitStatus
from tests.support.contexts import SECRET, write
from tests.support.run import Cli


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
