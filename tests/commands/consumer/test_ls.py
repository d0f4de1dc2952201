"""`consumer ls` on a real server."""

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.tables import read_table

pytestmark = pytest.mark.usefixtures("orders")


def test_ls(cli: Cli) -> None:
    assert cli("con ls ORDERS", status=0).out == "No Consumers defined\n"
    assert cli("con ls ORDERS --json", status=0).json == []
    for name in ("NEW", "DISPATCH"):
        cli(f"con add ORDERS {name} --pull --description 'what {name} does'", status=0)
    assert cli("con ls ORDERS --names", status=0).out == "DISPATCH\nNEW\n"
    assert cli("con list ORDERS -j", status=0).json == ["DISPATCH", "NEW"]
    shown = cli("con ls ORDERS", tty=True, status=0).out
    for text in ("Consumers", "Ack Pending", "Unprocessed", "Last Delivery", "what NEW does", "never", "╭"):
        assert text in shown
    assert [row["Name"] for row in read_table(cli("con ls ORDERS", status=0).out)] == ["DISPATCH", "NEW"]


@pytest.mark.slow
def test_many_consumers_are_listed_all(cli: Cli, url: str) -> None:
    for number in range(300):
        config = {"durable_name": f"C{number}", "ack_policy": "explicit"}
        js.ask(url, f"CONSUMER.DURABLE.CREATE.ORDERS.C{number}", {"stream_name": "ORDERS", "config": config})
    assert len(cli("con ls ORDERS --as csv", status=0).out.splitlines()) == 301
    assert len(cli("con report ORDERS --json", status=0).json["consumers"]) == 300
