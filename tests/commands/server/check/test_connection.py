"""`server check connection`."""

from tests.support.checks import check
from tests.support.run import Cli


def test_a_connection(cli: Cli) -> None:
    out = cli("server check connection", status=0).out
    assert out.startswith("OK Connection OK:connected to nats://127.0.0.1:")
    assert " OK:connected in " in out and ":t" not in out.split(" OK:connected in ")[0].split("nats:")[1]
    assert ";0.5000;1.0000 rtt=" in out
    assert check(cli, "connection --rtt-warn 1us", 1)["status"] == "WARNING"
    assert check(cli, "connection --rtt-critical 1us", 2)["status"] == "CRITICAL"


def test_no_server_is_critical(offline_cli: Cli) -> None:
    out = offline_cli("server check connection -s nats://127.0.0.1:9", status=2).out
    assert out.startswith("CRITICAL Connection Crit:cannot connect")
    assert len(out.splitlines()) == 1
