"""`server info`."""

from tests.support.run import Cli


def test_a_server(system: Cli) -> None:
    shown = system("server info leaf-server", status=0).out
    assert "Server information for leaf-server (N" in shown
    assert "Domain: leaf" in shown
    data = system("server info leaf-server --json", status=0).json
    lines = {line.partition(":")[0].strip(): line.partition(":")[2].strip() for line in shown.splitlines()}
    assert lines["Maximum Connections"] == f"{data['max_connections']:,}"
    assert lines["Maximum Subscriptions"] == lines["Maximum HA Assets"] == "unlimited"
    assert (lines["TLS Timeout"], lines["Write Deadline"]) == ("2s", "10s")
    assert lines["GOMAXPROCS"] == str(data["gomaxprocs"])
    assert {"Messages In", "Messages Out", "Bytes In", "Bytes Out"} <= set(lines)
    assert (lines["Strict API Parsing"], lines["Always Sync Writes"]) == ("true", "false")
    assert {"Sync Interval", "Cluster Message Compression", "Maximum Duplicate Window"} <= set(lines)
    document = system("server info --json", status=0).json
    assert document["server_name"] == "hub-server"
    assert system(f"server i {document['server_id']} --json", status=0).json["server_name"] == "hub-server"
    outcome = system("server info hub-serve", status=3)
    assert "there is no server 'hub-serve'; did you mean hub-server? jsctl server list shows" in outcome.err
