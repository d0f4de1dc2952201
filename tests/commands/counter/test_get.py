"""`counter get`."""

from tests.support import js
from tests.support.run import Cli


def test_subjects_that_are_not_counters(hits: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    js.publish(url, "orders.a", b'{"val": "x"}')
    assert (
        "stream ORDERS, which stores orders.a, cannot hold counters"
        in hits("counter get orders.a", status=1).err
    )
    assert "counter hits.a not found" in hits("counter get hits.a", status=3).err
    assert "counter nope not found" in hits("counter incr nope", status=3).err
    for value in ("x", "1.5", "", "1_000", "٣"):
        assert "is not a whole number" in hits(["counter", "incr", "hits.a", value], status=64).err
    for verb in ("get", "incr"):
        refused = hits(["counter", verb, "hits.*"], status=64)
        assert "contains a wildcard; name one counter; jsctl counter list 'hits.*'" in refused.err
    js.ask(url, "STREAM.CREATE.ODD", {"name": "ODD", "subjects": ["odd"], "allow_direct": True})
    refused = hits("counter get odd", status=1)
    assert len(refused.err.splitlines()) == 1
