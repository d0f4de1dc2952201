"""The exporter's counters of advisories."""

from pathlib import Path

import pytest

from tests.commands.exporter.test_exporter import Samples, parse, scrape, value
from tests.support import dead_letters, js
from tests.support.exporters import BLIND, exporting
from tests.support.run import Cli
from tests.support.servers import RealServer
from tests.support.waiting import wait_until


def counted(port: int, counts: dict[str, int]) -> Samples:
    """Wait until the advisories of these kinds are counted; return all samples."""

    def read() -> Samples:
        return parse(scrape(port)[2])

    def has_counts(samples: Samples) -> bool:
        found = {own["kind"]: count for own, count in samples.get("jsctl_advisories_total", ())}
        return counts.items() <= found.items()

    return wait_until(read, has_counts)


@pytest.mark.slow
def test_advisories_are_counted(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    dead_letters.consumer(url, "ORDERS")
    with exporting(cli, "--interval 200ms") as port:
        first = counted(port, {"max_deliver": 0, "terminated": 0, "stream_action": 0})
        consumer = {"stream_name": "ORDERS", "consumer_name": "C"}
        assert value(first, "jsctl_consumer_max_deliveries_total", **consumer) == 0
        js.publish(url, "orders.1", count=5)
        dead_letters.work_off(url, "ORDERS", failing={1, 2}, terminated={3})
        js.stream(url, "OTHER", "other")
        counts = {"max_deliver": 2, "terminated": 1, "stream_action": 1}
        samples = counted(port, counts)
        assert value(samples, "jsctl_consumer_max_deliveries_total", **consumer) == 2
        assert value(samples, "jsctl_consumer_terminated_total", **consumer) == 1
        # They never fall, also when what they are about is gone.
        js.ask(url, "STREAM.DELETE.ORDERS")
        counted(port, {**counts, "stream_action": 2})
        assert "# TYPE jsctl_advisories_total counter" in scrape(port)[2]


def test_a_login_that_gets_none(cli: Cli, tmp_path: Path) -> None:
    """Counters of what is not received are left out, and that is said."""
    server = RealServer(tmp_path, BLIND).start()
    try:
        line = f"exporter --textfile - --count 1 --server {server.url_for('blind')}"
        outcome = cli(line, status=0)
    finally:
        server.stop()
    assert not outcome.err
    samples = parse(outcome.out)
    assert value(samples, "jsctl_not_checked", part="advisories") == 1
    assert value(samples, "jsctl_not_checked", part="streams") == 0
    assert "jsctl_advisories_total" not in samples


def test_the_audit_of_requests_is_not_received(cli: Cli, tmp_path: Path) -> None:
    """It has a copy of each answer; a login that may not see it has all counters."""
    permissions = '{ subscribe: { allow: ["_INBOX.>", "$JS.EVENT.ADVISORY.*.>"] } }'
    config = f"""
listen: "127.0.0.1:{{port}}"
jetstream {{ store_dir: "{{store}}" }}
authorization {{ users: [{{ user: blind, password: blind, permissions: {permissions} }}] }}
"""
    server = RealServer(tmp_path, config).start()
    try:
        outcome = cli(f"exporter --textfile - --count 1 --server {server.url_for('blind')}", status=0)
    finally:
        server.stop()
    samples = parse(outcome.out)
    assert value(samples, "jsctl_not_checked", part="advisories") == 0
    assert "jsctl_advisories_total" in samples
