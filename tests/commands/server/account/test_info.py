"""`server account info`."""

from pathlib import Path

import pytest

from tests.support.run import Cli


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
