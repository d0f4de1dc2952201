"""`consumer pcgroup ls`."""

import json

from tests.support import js
from tests.support.run import Cli
from tests.support.tables import read_table


def test_groups(orders: Cli, url: str) -> None:
    assert "No partitioned consumer groups in this account" in orders("consumer pcgroup ls", tty=True).out
    js.bucket(url, "static-consumer-groups")
    written = {"max_members": 2, "member_mappings": [{"member": "a", "partitions": [0, 1]}]}
    js.publish(url, "$KV.static-consumer-groups.ORDERS.SG", json.dumps(written).encode())
    js.publish(url, "$KV.static-consumer-groups.OTHER.SG", b'{"max_members": 1, "members": ["a"]}')
    js.publish(url, "$KV.static-consumer-groups.ORDERS.BAD", b"no JSON")
    orders("consumer pcgroup create ORDERS WORK 4 m1 m2", status=0)
    assert [row["Group"] for row in read_table(orders("consumer cg ls ORDERS", status=0).out)] == [
        "BAD",
        "SG",
        "WORK",
    ]
    rows = orders("consumer pcgroup ls --json", status=0).json
    assert [(row["stream"], row["group"], row["kind"], row["partitions"]) for row in rows] == [
        ("ORDERS", "BAD", "static", None),
        ("ORDERS", "SG", "static", 2),
        ("ORDERS", "WORK", "elastic", 4),
        ("OTHER", "SG", "static", 1),
    ]
    assert [row["members"] for row in rows] == [[], ["a"], ["m1", "m2"], ["a"]]
    assert rows[0]["problem"] == "it is not the JSON of a group"
    assert "stream NOSUCH not found" in orders("consumer pcgroup ls NOSUCH", status=3).err
