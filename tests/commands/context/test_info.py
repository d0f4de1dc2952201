"""`context info`."""

import json

import pytest

from tests.support.contexts import SECRET, write
from tests.support.run import Cli


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
