"""`consumer pcgroup add`, `drop`, `create-mapping` and `delete-mapping`."""

import json

import pytest

from tests.commands.consumer.pcgroup.conftest import read_config
from tests.support import js
from tests.support.run import Cli


@pytest.fixture
def work(orders: Cli) -> Cli:
    """ORDERS > WORK, an elastic group with 4 partitions and the members m1 and m2."""
    orders("consumer pcgroup create ORDERS WORK 4 m1 m2", status=0)
    return orders


def test_members_come_and_go(work: Cli) -> None:
    planned = work("consumer pcgroup add ORDERS WORK m3 m4 --dry-run --json", status=0).json
    assert planned["moves"] == [1, 2, 3]
    work("consumer pcgroup add ORDERS WORK m3 m2", status=0)
    assert read_config(work, "elastic", "ORDERS.WORK")["members"] == ["m1", "m2", "m3"]
    revision = work("consumer pcgroup info ORDERS WORK --json", status=0).json["revision"]
    again = work("consumer pcgroup add ORDERS WORK m3", terminal_error=True, status=0)
    assert "has these members already, nothing was changed" in again.err
    assert work("consumer pcgroup info ORDERS WORK --json", status=0).json["revision"] == revision
    assert "--force" in work("consumer pcgroup drop ORDERS WORK m1", status=64).err
    for verb in ("drop ORDERS WORK m1", "create-mapping ORDERS WORK m1:0,1,2,3"):
        planned = work(f"consumer pcgroup {verb} --dry-run --json", status=0).json
        assert planned["moves"] == ([0, 3] if "drop" in verb else [1, 2])
    dropped = work("consumer pcgroup drop ORDERS WORK m1 m3 --force --json", status=0).json
    assert dropped["members"][0]["partitions"] == [0, 1, 2, 3]
    assert (
        "has no member m1; its members: m2"
        in work("consumer pcgroup drop ORDERS WORK m1 --force", status=3).err
    )
    work("consumer pcgroup drop ORDERS WORK m2 --force", status=0)
    assert read_config(work, "elastic", "ORDERS.WORK") == {"max_members": 4, "partitioning_filters": None}


def test_mappings(work: Cli) -> None:
    work("consumer pcgroup create-mapping ORDERS WORK a:0,1,2 b:3 --force", status=0)
    config = read_config(work, "elastic", "ORDERS.WORK")
    assert "members" not in config
    assert config["member_mappings"][0] == {"member": "a", "partitions": [0, 1, 2]}
    assert "has mapped members" in work("consumer pcgroup add ORDERS WORK m1", status=64).err
    assert "0 to 3" in work("consumer pcgroup cm ORDERS WORK a:0 --force", status=64).err
    assert "use MEMBER:0,1" in work("consumer pcgroup cm ORDERS WORK a --force", status=64).err
    assert "which then has no members" in work("consumer pcgroup dm ORDERS WORK --dry-run", status=0).out
    work("consumer pcgroup delete-mapping ORDERS WORK --force", status=0)
    unchanged = work("consumer pcgroup dm ORDERS WORK", terminal_error=True, status=0)
    assert "has no mapping, nothing was changed" in unchanged.err
    assert work("consumer pcgroup info ORDERS WORK --json", status=0).json["unread_partitions"] == [
        0,
        1,
        2,
        3,
    ]


def test_what_others_wrote_stays(work: Cli, url: str) -> None:
    config = read_config(work, "elastic", "ORDERS.WORK") | {"later": {"new": [1, 2.5]}}
    js.publish(url, "$KV.elastic-consumer-groups.ORDERS.WORK", json.dumps(config).encode())
    work("consumer pcgroup add ORDERS WORK m3", status=0)
    assert read_config(work, "elastic", "ORDERS.WORK")["later"] == {"new": [1, 2.5]}


def test_static_groups_do_not_change(parts: Cli) -> None:
    parts("consumer pcgroup create PARTS SG 2 a --static", status=0)
    for verb in ("add PARTS SG b", "drop PARTS SG a --force", "create-mapping PARTS SG a:0,1 --force"):
        assert "is static" in parts(f"consumer pcgroup {verb}", status=64).err


def test_mapped_members_and_filters(orders: Cli) -> None:
    orders("consumer pcgroup create ORDERS TWO 2 --filter 'orders.*' --filter 'bills.*'", status=0)
    assert "several filters" in orders("consumer pcgroup cm ORDERS TWO a:0,1 --force", status=64).err
