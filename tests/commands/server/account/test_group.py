"""`jsctl server account` and its commands."""

from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import HubLeaf
from tests.support.waiting import wait_for


def test_an_account(system: Cli) -> None:
    shown = system("server account info ACC --host leaf-server", status=0).out
    assert "Account information for account ACC" in shown
    assert system("server account info ACC --json", status=0).json["jetstream_enabled"] is True


@pytest.mark.parametrize("flags", ["", " --host leaf-server"])
def test_an_account_that_does_not_exist(system: Cli, flags: str) -> None:
    [line] = system(f"server account info NONE{flags}", status=3).err.splitlines()
    assert "there is no account 'NONE'; jsctl server report accounts" in line


def test_an_account_in_an_archive(system: Cli, tmp_path: Path) -> None:
    file = tmp_path / "audit.zip"
    system(f"audit gather --output {file} --no-server-profiles --no-streams", status=0)
    document = system(f"server account info ACC --archive {file} --host leaf-server --json", status=0).json
    assert document["account_name"] == "ACC" and document["jetstream_enabled"] is True
    assert "its accounts: " in system(f"server account info NONE --archive {file}", status=3).err


def test_purge(system: Cli, hub_cli: Cli, hub_leaf: HubLeaf) -> None:
    js.stream(hub_leaf.url, "S", "s", domain="hub", metadata={"jsctl.protect": "true"})
    refused = system("server account purge ACC --force", status=1)
    assert refused.err == "jsctl: error: nothing was done: stream S is protected; --unprotect S permits it\n"
    assert "none of what this is about" in system("server account purge ACC --unprotect NOPE", status=64).err
    assert "is protected" in system("server account purge ACC --dry-run", status=1).err
    hub_cli("stream edit S --metadata jsctl.protect=false --force --js-domain hub", status=0)
    dry = system("server account purge ACC --dry-run", status=0).out
    assert "Would remove all streams and consumers of account ACC (1 stream, " in dry
    assert "use --force" in system("server account purge ACC", status=64).err
    done = system("server account purge ACC --force", terminal_error=True, status=0)
    assert "the purge of account ACC has begun" in done.err
    wait_for(lambda: hub_cli("stream ls --js-domain hub --json", status=0).json == [], "the stream is there")
