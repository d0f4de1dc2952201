import csv
import re
from pathlib import Path

import pytest

from tests.support import js
from tests.support.golden import check
from tests.support.run import Cli
from tests.support.waiting import wait_until


def replicating(cli: Cli, url: str) -> None:
    """Two streams, a mirror and a stream with three sources, all caught up."""
    cli("stream add ORDERS --subjects ORDERS.*,x --allow-msg-ttl", status=0)
    js.publish(url, "ORDERS.a", b"hello", 4)
    cli("stream add M --mirror ORDERS --storage memory", status=0)
    cli("stream add P --subjects p --max-msgs 9", status=0)
    cli("stream add S --source ORDERS,filter=ORDERS.a --source P,filter=p:b,filter=x --source NOPE", status=0)
    wait_until(
        lambda: cli("stream report --json", status=0).json["replication"],
        lambda links: (
            all(link["active_ns"] is not None for link in links if link["origin"] != "NOPE")
            and any(link["error"] for link in links)
        ),
    )


@pytest.mark.parametrize("line", ["stream report", "s ls", "consumer report"])
def test_watching_is_somewhere_else(offline_cli: Cli, line: str) -> None:
    assert (
        "'--watch'; jsctl report --watch shows streams and consumers"
        in offline_cli(f"{line} --watch", status=64).err
    )


def test_the_report(cli: Cli, url: str) -> None:
    replicating(cli, url)
    shown = cli("stream report", tty=True, width=130, environ={"NO_COLOR": "1"}, status=0)
    assert shown.err == "Obtaining Stream stats\n\n"
    check("stream_report.txt", shown.out)
    check("stream_report_plain.txt", cli("stream report -n", status=0).out)


def test_the_columns_of_the_peer(cli: Cli, url: str) -> None:
    replicating(cli, url)
    heads = [re.split("  +", line) for line in cli("stream report", status=0).out.splitlines()]
    streams = ["Stream", "Storage", "Placement", "Consumers", "Messages", "Bytes", "Lost", "Deleted"]
    links = ["Stream", "Kind", "API Prefix", "Source Stream", "Filters and Transforms", "Active", "Lag"]
    for expected in ([*streams, "API Level", "Replicas"], [*links, "Error"]):
        assert expected in [[title for title in head if title in expected] for head in heads]


def test_orders(cli: Cli, url: str) -> None:
    for name, count in (("C", 1), ("A", 20), ("B", 2)):
        js.stream(url, name, name, storage="memory" if name == "A" else "file")
        js.publish(url, name, b"x" * (100 if name == "C" else 1) * 100, 1)
        js.publish(url, name, b"", count)
    js.ask(url, "CONSUMER.CREATE.B.d", {"stream_name": "B", "config": {"durable_name": "d"}, "action": ""})

    def order(flag: str) -> str:
        return "".join(row["stream"] for row in cli(f"stream report {flag} --json", status=0).json["streams"])

    assert {flag: order(flag) for flag in ("", "-n", "-m", "-o", "-t")} == {
        "": "BAC",
        "-n": "ABC",
        "-m": "CBA",
        "-o": "ACB",
        "-t": "BCA",
    }


def test_raw_numbers(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s")
    js.publish(url, "s", b"x" * 2000, 1)
    assert re.search(r"S +File +0 +1 +2\d\d\d +0 +0 +0", cli("stream report --raw", status=0).out)
    assert "2.0 KiB" in cli("stream report", status=0).out


def test_filters(cli: Cli, url: str) -> None:
    js.stream(url, "A", "a.*")
    js.stream(url, "B", "b")
    streams = cli("stream report --subject a.x --json", status=0).json["streams"]
    assert [row["stream"] for row in streams] == ["A"]
    assert cli("stream report --cluster nope", status=0).out == "No Streams defined\n"


def test_deleted_messages_count(cli: Cli, url: str) -> None:
    js.stream(url, "A", "a")
    js.publish(url, "a", count=3)
    js.ask(url, "STREAM.MSG.DELETE.A", {"seq": 2})
    row = cli("stream report --json", status=0).json["streams"][0]
    assert (row["deleted"], row["messages"], row["first_seq"], row["last_seq"]) == (1, 2, 1, 3)


def test_a_graph(cli: Cli, url: str, tmp_path: Path) -> None:
    replicating(cli, url)
    file = tmp_path / "g.dot"
    cli(f"stream report --dot {file}", status=0)
    graph = file.read_text()
    assert '"ORDERS" -> "M" [color=blue, label="Mirror"];' in graph
    assert '"P" -> "S" [color=green, label="p to b, x untransformed"];' in graph
    assert "cannot write" in cli("stream report --dot /nowhere/g.dot", status=64).err


def test_leaders_without_a_cluster(cli: Cli, url: str) -> None:
    js.stream(url, "A", "a")
    assert "not in a cluster" in cli("stream report --leaders", status=0).out


def test_no_streams(cli: Cli) -> None:
    assert cli("stream report", status=0).out == "No Streams defined\n"
    assert cli("stream report --json", status=0).json == {"streams": [], "replication": []}


def test_csv(cli: Cli, url: str) -> None:
    js.stream(url, "A", "a")
    lines = cli("stream report --as csv", status=0)
    assert lines.err == ""
    row = dict(zip(*csv.reader(lines.out.splitlines()[:2]), strict=True))
    assert (row["stream"], row["storage"], row["messages"], row["replicas"]) == ("A", "file", "0", "1")
