"""`server report gateways`."""

from tests.support.run import Cli


def test_servers_without_gateways(system: Cli) -> None:
    assert system("server report gateways --json", status=0).json == []
    assert "the servers have no gateways" in system("server report gateways", status=0).out
    assert "100ms" in system("server report gateways --watch 1ms", status=64).err
