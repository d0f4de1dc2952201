"""`consumer pcgroup lag`: the messages that wait in each partition."""

from tests.commands.consumer.pcgroup.conftest import Join
from tests.support import js
from tests.support.run import Cli
from tests.support.tables import read_table
from tests.support.waiting import wait_for


def test_lag_of_a_static_group(parts: Cli, url: str, join: Join) -> None:
    parts("consumer pcgroup create PARTS SG 4 m1 m2 --static", status=0)
    join("PARTS", "SG-m1", "0.>", "1.>")
    parts("consumer next PARTS SG-m1 --group PCG --count 3", status=0)
    shown = parts("consumer pcgroup lag PARTS SG --json", status=0).json
    assert [row["pending"] for row in shown["partitions"]] == [1, 2, None, None]
    assert shown["pending"] is None
    info = js.ask(url, "CONSUMER.INFO.PARTS.SG-m1")
    assert info["num_pending"] == 3
    rows = read_table(parts("consumer pcgroup lag PARTS SG", status=0).out)
    assert [row["Member"] for row in rows[:4]] == ["m1", "m1", "m2", "m2"]
    assert "Unknown where" in parts("consumer pcgroup lag PARTS SG", tty=True, status=0).out


def test_lag_of_an_elastic_group(orders: Cli, url: str) -> None:
    orders("consumer pcgroup create ORDERS WORK 3 m1 --filter 'orders.*:1' --max-buffered-msgs 12", status=0)
    wait_for(lambda: js.info(url, "ORDERS-WORK")["state"]["messages"] == 12, "the queue is full")
    shown = orders("consumer pcgroup lag ORDERS WORK --json", status=0).json
    assert shown["pending"] == 12 == sum(row["pending"] for row in shown["partitions"])
    assert {row["member"] for row in shown["partitions"]} == {"m1"}
    assert 0 < shown["source_lag"] <= 8
    assert "Not copied to stream ORDERS-WORK yet: at least" in orders("consumer cg lag ORDERS WORK").out


def test_streams_without_direct_get(cli: Cli, url: str, join: Join) -> None:
    js.stream(url, "SLOW", "0.s", "1.s", allow_direct=False)
    cli("consumer pcgroup create SLOW G 2 m1 --static", status=0)
    join("SLOW", "G-m1", "0.>", "1.>")
    shown = cli("consumer pcgroup lag SLOW G --json", status=0).json
    assert [row["pending"] for row in shown["partitions"]] == [None, None]
