"""consumer report: one stream, several or all of them in one table, in trouble first."""

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.tables import read_table

GUIDE = (
    "Consumer",
    "Mode",
    "Ack Policy",
    "Ack Wait",
    "Ack Pending",
    "Redelivered",
    "Unprocessed",
    "Ack Floor",
)


@pytest.fixture(autouse=True)
def streams(url: str) -> None:
    js.stream(url, "S", "s.>")
    js.stream(url, "T", "t.>")


def rows(cli: Cli, line: str = "S") -> dict[str, dict[str, object]]:
    consumers = cli(f"consumer report {line} --json", status=0).json["consumers"]
    return {row["consumer"]: row for row in consumers}


def test_the_guides_table(cli: Cli, url: str) -> None:
    js.publish(url, "s.a")
    cli("consumer add S dur --pull", status=0)
    title = "Consumer report for S with 1 consumer"
    row, *_ = read_table(cli("consumer report S", tty=True, status=0).out, title)
    assert tuple(row)[:8] == GUIDE and list(row)[-1] == "Cluster"
    shown = [row[column] for column in GUIDE]
    assert shown == ["dur", "Pull", "Explicit", "30.00s", "0", "0", "1 / 100%", "0"]
    cli("consumer next S dur", status=0)
    row, *_ = read_table(cli("consumer report S", tty=True, status=0).out, title)
    assert [row[column] for column in GUIDE[4:]] == ["0", "0", "0", "1"]


def test_a_stream_is_picked_or_all_are_taken(cli: Cli) -> None:
    cli("consumer add S ONE --pull", status=0)
    cli("consumer add T TWO --pull", status=0)
    picked = cli("consumer report", tty=True, answers=["S"], status=0)
    assert picked.asked == ["Select a Stream"]
    assert "ONE" in picked.out and "TWO" not in picked.out
    for outcome in (
        cli("consumer report", tty=True, answers=["(all streams)"], status=0),
        cli("consumer report", status=0),
        cli("consumer report S T", status=0),
    ):
        assert "Consumer report for 2 streams with 2 consumers" in outcome.out
        assert "ONE" in outcome.out and "TWO" in outcome.out
    assert "stream NO not found" in cli("consumer report S NO", status=3).err


def test_no_consumers(cli: Cli) -> None:
    assert cli("consumer report S", status=0).out == "No Consumers defined on S\n"
    assert cli("consumer report", status=0).out == "No Consumers defined\n"
    assert cli("consumer report S --json", status=0).json == {
        "consumers": [],
        "missing": {},
        "offline": {},
        "refused": {},
    }


def test_unprocessed_is_set_against_what_the_filter_takes(cli: Cli, url: str) -> None:
    js.publish(url, "s.a", count=90)
    js.publish(url, "s.b", count=10)
    cli("consumer add S B --pull --filter s.b", status=0)
    cli("consumer add S AB --pull --filter s.a --filter s.b", status=0)
    cli("consumer add S ALL --pull", status=0)
    cli("consumer next S B --count 5", status=0)
    result = rows(cli)
    assert (result["B"]["unprocessed"], result["B"]["matching"]) == (5, 10)
    assert (result["AB"]["unprocessed"], result["AB"]["matching"]) == (100, 100)
    assert result["ALL"]["matching"] == 100
    assert "5 / 50%" in cli("consumer report S", status=0).out


def test_trouble_comes_first(cli: Cli, url: str) -> None:
    js.publish(url, "s.a", count=10)
    cli("consumer add S a-done --pull --deliver new", status=0)
    cli("consumer add S b-behind --pull", status=0)
    cli("consumer next S b-behind --count 2 --no-ack", status=0)
    cli("consumer add S c-idle --pull --filter s.a", status=0)
    cli("consumer add S d-limit --pull --max-pending 1", status=0)
    cli("consumer next S d-limit --no-ack", status=0)
    cli("consumer add S e-push --target x", status=0)
    cli("consumer add S f-paused --pull --pause 1h", status=0)
    assert list(rows(cli)) == ["c-idle", "e-push", "f-paused", "d-limit", "b-behind", "a-done"]
    shown = cli("consumer report S", status=0).out
    for text in ("1 / 1 ", "no interest", "paused until 20", "Last Ack", "Waiting"):
        assert text in shown


def test_orders(cli: Cli, url: str) -> None:
    js.publish(url, "s.a", count=10)
    for name, flags in (("C", "--ack none"), ("A", "--wait 9s --deliver new"), ("B", "--wait 1s")):
        cli(f"consumer add S {name} --pull {flags}", status=0)
    cli("consumer next S B --count 2", status=0)
    orders = {"consumer": "ABC", "lag": "ABC", "ack_wait": "CBA", "ack_floor": "CBA"}
    assert {order: "".join(rows(cli, f"S --sort {order}")) for order in orders} == orders


def test_redelivered_and_last_ack(cli: Cli, url: str) -> None:
    js.publish(url, "s.a", count=3)
    cli("consumer add S C --pull --wait 200ms", status=0)
    cli("consumer next S C", status=0)
    cli("consumer next S C --no-ack", status=0)
    cli("consumer next S C --no-ack --count 2 --timeout 2s", status=0)
    C = rows(cli)["C"]
    assert C["redelivered"] == 1
    assert isinstance(C["ack_age_ns"], int) and 0 <= C["ack_age_ns"] < 60 * 10**9
    assert C["ack_floor"] == 1


def test_raw_csv_and_leaders(cli: Cli, url: str) -> None:
    js.publish(url, "s.a", count=1500)
    cli("consumer add S C --pull", status=0)
    assert "1,500 / 100%" in cli("consumer report S", status=0).out
    raw = cli("consumer report S --raw", status=0).out
    assert "1500" in raw and "%" not in raw and "30s" in raw
    head, row = cli("consumer report S --as csv", status=0).out.splitlines()
    assert dict(zip(head.split(","), row.split(","), strict=True))["unprocessed"] == "1500"
    assert "these consumers are not in a cluster" in cli("consumer report S --leaders", status=0).out


def test_system_streams_are_left_out(cli: Cli, url: str) -> None:
    js.stream(url, "KV_x", "$KV.x.>")
    cli("consumer add KV_x C --pull", status=0)
    assert cli("consumer report", status=0).out == "No Consumers defined\n"
    assert "KV_x" in cli("consumer --all report", status=0).out
    assert "C " in cli("consumer report KV_x", status=0).out
