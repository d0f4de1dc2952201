"""`server config reload`."""

from tests.support.run import Cli
from tests.support.servers import HubLeaf


def test_a_reload(system: Cli) -> None:
    assert "use --force" in system("server config reload hub-server", status=64).err
    assert "Server information for hub-server" in system("server config reload hub-server -f", status=0).out


def test_a_reload_that_the_server_refuses(system: Cli, hub_leaf: HubLeaf) -> None:
    file, line = hub_leaf.hub.config, "server config reload hub-server -f"
    text = file.read_text()
    try:
        file.write_text(f"{text}\nno_such_key: 1\n")
        refused = system(line, status=1).err
        assert system(f"compat -- {line}", status=0).err == refused
    finally:
        file.write_text(text)
    system(line, status=0)
