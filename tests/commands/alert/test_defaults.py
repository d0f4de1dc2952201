"""`alert defaults`."""

from pathlib import Path

from jsctl.monitor.alerts.rules import parse_alerts
from tests.support import js
from tests.support.run import Cli


def test_the_file_is_one_of_alerts(cli: Cli, url: str, tmp_path: Path) -> None:
    out = cli("alert defaults", status=0).out
    file = parse_alerts(out, "out")
    assert len(file.rules) > 5 and not file.receivers
    document = cli("alert defaults --json", status=0).json
    assert [alert["name"] for alert in document["alerts"]] == [rule.name for rule in file.rules]
    js.stream(url, "ORDERS", "orders.>")
    cli(f"report --record {tmp_path}/rounds --count 1", status=0)
    tried = cli(f"report --alert - --replay {tmp_path}/rounds --json", stdin=out, status=0).json
    assert tried["events"] == []
