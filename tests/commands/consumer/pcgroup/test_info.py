"""`consumer pcgroup info`."""

from tests.commands.consumer.pcgroup.conftest import Join
from tests.support import js
from tests.support.run import Cli


def test_members(parts: Cli, join: Join) -> None:
    parts("consumer pcgroup create PARTS SG 4 m1 m2 m3 --static", status=0)
    join("PARTS", "SG-m1", "0.>", "3.>")
    parts("consumer next PARTS SG-m1 --group PCG --no-ack --count 1", status=0)
    shown = parts("consumer pcgroup info PARTS SG --json", status=0).json
    first, second, _ = shown["members"]
    assert (first["partitions"], first["consumer"]) == ([0, 3], "SG-m1")
    assert first["pinned"] and (first["unprocessed"], first["ack_pending"]) == (5, 1)
    assert (second["partitions"], second["active"], second["unprocessed"]) == ([1], False, None)
    page = parts("consumer pcgroup info PARTS SG", status=0).out
    assert "Kind: static" in page and "0, 3" in page and "Partitions without Member: none" in page


def test_groups_that_do_not_exist(orders: Cli, url: str) -> None:
    assert "stream NOSUCH not found" in orders("consumer pcgroup info NOSUCH G", status=3).err
    missing = orders("consumer pcgroup info ORDERS WORK", status=3).err
    assert "consumer group ORDERS > WORK not found" in missing
    orders("consumer pcgroup create ORDERS WORK 2", status=0)
    assert "did you mean WORK?" in orders("consumer pcgroup info ORDERS WORKS", status=3).err
    js.bucket(url, "static-consumer-groups")
    js.publish(url, "$KV.static-consumer-groups.ORDERS.WORK", b'{"max_members": 0}')
    assert "two groups WORK" in orders("consumer pcgroup info ORDERS WORK", status=64).err
    failed = orders("consumer pcgroup info ORDERS WORK --kind static", status=1).err
    assert "is not valid: the number of partitions must be 1 or more" in failed
    assert orders("consumer pcgroup info ORDERS WORK --kind elastic --json", status=0).json["members"] == []
