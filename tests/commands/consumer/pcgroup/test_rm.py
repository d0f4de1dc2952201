"""`consumer pcgroup rm`."""

from tests.commands.consumer.pcgroup.conftest import Join
from tests.support import js
from tests.support.run import Cli
from tests.support.waiting import wait_for


def test_an_elastic_group_and_its_stream(orders: Cli, url: str) -> None:
    orders("consumer pcgroup create ORDERS WORK 2 m1", status=0)
    wait_for(lambda: js.info(url, "ORDERS-WORK")["state"]["messages"] == 20, "the messages are copied")
    assert "--force" in orders("consumer pcgroup rm ORDERS WORK", status=64).err
    refused = orders("consumer pcgroup rm ORDERS WORK --force", status=64).err
    assert "deletes 20 messages" in refused and "--allow-data-loss" in refused
    planned = orders("consumer pcgroup rm ORDERS WORK --dry-run --json --allow-data-loss", status=0).json
    assert planned["deletes_messages"] == 20
    orders("consumer pcgroup rm ORDERS WORK --force --allow-data-loss", status=0)
    assert "ORDERS-WORK" not in orders("stream ls --names", status=0).out
    [entry] = orders("kv history elastic-consumer-groups ORDERS.WORK --json", status=0).json
    assert entry["operation"] == "DELETE"
    orders("consumer pcgroup rm ORDERS WORK --force", status=3)
    orders("consumer pcgroup rm ORDERS WORK --force --missing-ok", status=0)
    orders("consumer pcgroup create ORDERS WORK 3", status=0)


def test_a_removal_that_was_killed(orders: Cli, url: str) -> None:
    orders("consumer pcgroup create ORDERS WORK 2 m1 --filter 'orders.>'", status=0)
    wait_for(lambda: js.info(url, "ORDERS-WORK")["state"]["messages"] == 20, "the messages are copied")
    orders("kv del elastic-consumer-groups ORDERS.WORK --force", status=0)
    orders("consumer pcgroup info ORDERS WORK", status=3)
    orders("stream add ORDERS-MINE --source ORDERS --defaults", status=0)
    orders("consumer pcgroup rm ORDERS MINE --force --allow-data-loss", status=3)  # not a group's
    refused = orders("consumer pcgroup rm ORDERS WORK --force", status=64).err
    assert "deletes 20 messages" in refused and "not valid" not in refused
    orders("consumer pcgroup rm ORDERS WORK --force --allow-data-loss", status=0)
    assert orders("stream ls --names", status=0).out.split() == [
        "KV_elastic-consumer-groups",
        "ORDERS",
        "ORDERS-MINE",
    ]
    orders("consumer pcgroup rm ORDERS WORK --force", status=3)


def test_a_static_group_and_only_its_consumers(parts: Cli, join: Join) -> None:
    """pcgroups removes the consumers of `SG-2`, too, as their names begin with `SG-`."""
    for name in ("SG", "SG-2"):
        parts(f"consumer pcgroup create PARTS {name} 4 m1 --static", status=0)
        join("PARTS", f"{name}-m1", "0.>")
    parts("consumer pcgroup rm PARTS SG --force", status=0)
    assert parts("consumer ls PARTS --names", status=0).out == "SG-2-m1\n"
    assert [row["group"] for row in parts("consumer pcgroup ls PARTS --json", status=0).json] == ["SG-2"]


def test_a_group_that_is_not_valid(parts: Cli, url: str) -> None:
    js.bucket(url, "static-consumer-groups")
    js.publish(url, "$KV.static-consumer-groups.PARTS.BAD", b"no JSON")
    removed = parts("consumer pcgroup rm PARTS BAD --force", status=0)
    assert "consumers of its members stay" in removed.err
    assert parts("consumer pcgroup ls PARTS --json", status=0).json == []
