"""`server account info`."""

from tests.support.run import Cli


def test_an_account(system: Cli) -> None:
    shown = system("server account info ACC --host leaf-server", status=0).out
    assert "Account information for account ACC" in shown
    assert system("server account info ACC --json", status=0).json["jetstream_enabled"] is True
    assert len(system("server account info NONE", status=1).err.splitlines()) == 1
