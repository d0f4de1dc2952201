"""`server config reload`."""

from tests.support.run import Cli


def test_a_reload(system: Cli) -> None:
    assert "use --force" in system("server config reload hub-server", status=64).err
    assert "Server information for hub-server" in system("server config reload hub-server -f", status=0).out
