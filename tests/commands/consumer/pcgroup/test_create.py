"""`consumer pcgroup create`: what orbit.go's members find."""

from tests.commands.consumer.pcgroup.conftest import read_config
from tests.support import js
from tests.support.run import Cli
from tests.support.waiting import wait_for

CREATE = "consumer pcgroup create"


def test_an_elastic_group(orders: Cli, url: str) -> None:
    shown = orders(f"{CREATE} ORDERS WORK 4 m2 m1 --filter 'orders.*:1' --json", status=0).json
    assert shown["queue"] == "ORDERS-WORK"
    assert [(member["member"], member["partitions"]) for member in shown["members"]] == [
        ("m2", [2, 3]),
        ("m1", [0, 1]),
    ]
    assert read_config(orders, "elastic", "ORDERS.WORK") == {
        "max_members": 4,
        "partitioning_filters": [{"filter": "orders.*", "partitioning_wildcards": [1]}],
        "members": ["m2", "m1"],
    }
    queue = js.info(url, "ORDERS-WORK")["config"]
    [source] = queue["sources"]
    assert source["subject_transforms"] == [
        {"src": "orders.*", "dest": "{{Partition(4,1)}}.orders.{{Wildcard(1)}}"}
    ]
    assert (queue["retention"], queue["discard"], queue["allow_direct"]) == ("workqueue", "new", True)
    wait_for(lambda: js.info(url, "ORDERS-WORK")["state"]["messages"] == 20, "the messages are copied")


def test_a_filter_that_matches_nothing_is_said(orders: Cli, parts: Cli, url: str) -> None:
    says = "the filter {} matches none of the subjects of stream {}\n"
    elastic = f"{CREATE} ORDERS WORK 4 --filter 'other.*:1' --filter 'orders.*'"
    assert orders(elastic, status=0).err == f"jsctl: {says.format('other.*', 'ORDERS')}"
    static = f"{CREATE} PARTS SG 4 a --static --filter 'o.*.x.>'"
    assert parts(static, status=0).err == ""
    js.stream(url, "TAKEN", "8.taken", "9.taken", allow_direct=True)
    missing = f"{CREATE} TAKEN SG 2 a --static --filter left --filter taken"
    assert says.format("*.left", "TAKEN") in parts(missing, status=0).err
    js.stream(url, "COPY", "copy.*", sources=[{"name": "ORDERS"}])
    assert orders(f"{CREATE} COPY WORK 4 --filter 'orders.*'", status=0).err == ""


def test_a_static_group(parts: Cli, url: str) -> None:
    parts(f"{CREATE} PARTS SG 4 a:0,3 b:1,2 --static", status=0)
    assert read_config(parts, "static", "PARTS.SG") == {
        "max_members": 4,
        "member_mappings": [{"member": "a", "partitions": [0, 3]}, {"member": "b", "partitions": [1, 2]}],
    }
    parts(f"{CREATE} PARTS OTHER 2 a b --static --filter 'o.>'", status=0)
    assert read_config(parts, "static", "PARTS.OTHER")["filters"] == ["o.>"]
    assert "PARTS-SG" not in parts("stream ls --names", status=0).out


def test_it_is_created_once(orders: Cli) -> None:
    line = f"{CREATE} ORDERS WORK 4 --max-buffered-msgs 100"
    orders(line, status=0)
    orders("consumer pcgroup add ORDERS WORK m1", status=0)
    again = orders(f"{line} --json", terminal_error=True, status=0)
    assert "already exists, nothing was changed" in again.err
    assert again.json["config"]["members"] == ["m1"]
    other = orders(f"{CREATE} ORDERS WORK 5", status=1).err
    assert "consumer group ORDERS > WORK exists with another configuration" in other
    assert read_config(orders, "elastic", "ORDERS.WORK")["max_members"] == 4


def test_nothing_is_left_of_what_fails(orders: Cli, url: str) -> None:
    js.stream(url, "ORDERS-WORK", "elsewhere")
    orders(f"{CREATE} ORDERS WORK 4", status=1)
    assert orders("consumer pcgroup ls --json", status=0).json == []
    assert "Would create elastic" in orders(f"{CREATE} ORDERS NEXT 4 --dry-run", status=0).out
    assert "ORDERS-NEXT" not in orders("stream ls --names", status=0).out


def test_a_stream_that_is_gone_is_created_again(orders: Cli) -> None:
    orders(f"{CREATE} ORDERS WORK 4 m1", status=0)
    orders("stream rm ORDERS-WORK --force", status=0)
    for line in ("info ORDERS WORK", "lag ORDERS WORK", "drop ORDERS WORK m1 --force"):
        gone = orders(f"consumer pcgroup {line}", status=3).err
        assert "stream ORDERS-WORK of consumer group ORDERS > WORK does not exist" in gone
    assert orders(f"{CREATE} ORDERS WORK 4 --json", status=0).json["revision"] == 1
    assert orders("consumer pcgroup info ORDERS WORK --json", status=0).json["members"][0]["member"] == "m1"


def test_a_work_queue_loses_what_is_copied(cli: Cli, url: str) -> None:
    js.stream(url, "Q", "q.*", retention="workqueue", allow_direct=True)
    js.publish(url, "q.1", count=5)
    refused = cli(f"{CREATE} Q G 2", status=64).err
    assert "takes 5 messages" in refused and "--allow-data-loss" in refused
    cli(f"{CREATE} Q G 2 --allow-data-loss", status=0)


def test_wrong_groups(parts: Cli) -> None:
    for more, error in [
        ("NOSUCH G 4", "stream NOSUCH not found"),
        ("PARTS a.b 4", "not a valid consumer group name"),
        ("PARTS G 4 a:0,1 b", "'b' maps no partitions"),
        ("PARTS G 4 a:0,1 b:2", "each of the partitions 0 to 3"),
        ("PARTS G 4 --static", "a static group needs its members"),
        ("PARTS G 4 a --static --max-buffered-msgs 5", "no stream of its own"),
        ("PARTS G 4 --filter a.b", "must be a subject with a * as a token"),
        ("PARTS G 4 a:0,1,2,3 --static --filter 'o.>'", "filters have no effect"),
        ("PARTS G 4 a:0,1,2,3 --filter 'a.*' --filter 'b.*'", "only one filter"),
        ("PARTS G 0", "range"),
    ]:
        failed = parts(f"{CREATE} {more}")
        assert failed.status in (3, 64), failed
        assert error in failed.err
    assert parts("kv ls --names", status=0).out == ""
