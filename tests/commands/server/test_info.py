"""`server info`."""

from tests.support.run import Cli


def test_a_server(system: Cli) -> None:
    shown = system("server info leaf-server", status=0).out
    assert "Server information for leaf-server (N" in shown
    assert "Domain: leaf" in shown
    document = system("server info --json", status=0).json
    assert document["server_name"] == "hub-server"
    assert system(f"server i {document['server_id']} --json", status=0).json["server_name"] == "hub-server"
    outcome = system("server info hub-serve", status=3)
    assert "there is no server 'hub-serve'; did you mean hub-server? jsctl server list shows" in outcome.err
