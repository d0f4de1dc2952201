"""What scripts did not ask for goes to stderr, and only to a terminal: in a pipe, a verb that does what it
should writes nothing there, so that cron sends no mail; one that removes writes nothing at all.
"""

import shlex
from pathlib import Path

import pytest

from tests.contract.test_commands import VERBS
from tests.contract.test_json import (
    OF_NETWORK,
    RUNNING,
    account_lines,
    fill,
    here,
    server_lines,
    service,
    store_lines,
)
from tests.fuzz.commands import is_endless, renew_streams, without_spark
from tests.support import js
from tests.support.operator_site import Site
from tests.support.run import Cli
from tests.support.servers import Account, AccountServers

__all__ = ["here", "service"]

SPEAKING = {
    "publish": "as with nats, and --quiet silences it",
    "request": "as with nats, and --raw silences it",
    "service request": "as request",
    "context info": "warns of variables that override it",
    "backup restore stream": "warns of ids of messages that its server does not know",
    "auth operator backup": "warns of a file that is not encrypted",
    "consumer pcgroup rm": "says how many messages are lost, as any verb that is allowed to lose some",
    "stream search": "counts the messages that --match could not read",
    "auth account exports rm": "warns of accounts that import it",
    "redrive": "says that nobody knows what clients terminated, with the line that has it stored",
}
"""Verbs that write to stderr when all is well, and why."""

REMOVING = {path for path in VERBS if path.split()[-1] in ("rm", "del", "purge", "rmm", "compact")}


def stray(cli: Cli, path: str, line: list[str]) -> str:
    """What a verb wrote that nobody asked for; empty for nothing."""
    if is_endless(path) or path in RUNNING:
        return ""
    outcome = cli(line)
    is_told = (outcome.err and path not in SPEAKING) or (outcome.out and path in REMOVING)
    return f"{shlex.join(line)}: {outcome}"[:2000] if not outcome.status and is_told else ""


@pytest.mark.slow
def test_verbs_of_an_account(cli: Cli, url: str, here: Path, service: None) -> None:
    fill(cli, url, here)
    found = []
    with without_spark():
        for path, line in renew_streams(url, account_lines(here)):
            found.append(stray(cli, path, line))
    assert "\n".join(filter(None, found)) == ""


@pytest.mark.slow
def test_verbs_about_servers(
    own_account: Account, account_servers: AccountServers, system_url: str, tmp_path: Path, here: Path
) -> None:
    system = Cli(tmp_path / "system", system_url)
    lines = server_lines(own_account, account_servers, system, here)
    found = [stray(system, path, line) for path, line in lines.items()]
    assert "\n".join(filter(None, found)) == ""


@pytest.mark.slow
def test_verbs_of_the_store(tmp_path: Path, here: Path) -> None:
    site = Site(tmp_path)
    try:
        found = [stray(site.cli, path, line) for path, line in store_lines(site.cli, here).items()]
    finally:
        site.server.stop()
    assert "\n".join(filter(None, found)) == ""


def test_verbs_of_networks(tmp_path: Path) -> None:
    cli, store = Cli(tmp_path / "config"), tmp_path / "network"
    try:
        found = [stray(cli, path, shlex.split(line.format(store))) for path, line in OF_NETWORK.items()]
    finally:
        cli(f"server network down {store} --force")
    assert "\n".join(filter(None, found)) == ""


def test_a_terminal_is_told(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s.>")
    js.publish(url, "s.a", count=3)
    assert (
        cli("stream rmm S 1 --force", terminal_error=True, status=0).err
        == "Removed message 1 from Stream S\n"
    )
    told = cli("stream purge S --force", terminal_error=True, status=0)
    assert told.err.startswith("Purged 2 messages from S\n") and told.out == ""
    assert "max_msgs: -1 -> 5" in cli("stream edit S --max-msgs 5 --force", terminal_error=True, status=0).err
    assert cli("stream rm S --force --json", terminal_error=True, status=0).err == ""
