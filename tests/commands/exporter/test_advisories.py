"""The exporter's counters of advisories."""

from pathlib import Path

import pytest

from tests.commands.exporter.test_exporter import Samples, parse, scrape, value
from tests.support import dead_letters, js
from tests.support.exporters import BLIND, exporting
from tests.support.run import Cli
from tests.support.servers import RealServer
from tests.support.waiting import wait_until


def counted(port: int, counts: dict[str, int], **of_consumer: int) -> Samples:
    """Wait until the advisories of these kinds are counted, at least, and those of the consumer C exactly, by
    the middle of the metric; return all samples."""

    def read() -> Samples:
        return parse(scrape(port)[2])

    def has_counts(samples: Samples) -> bool:
        found = {own["kind"]: count for own, count in samples.get("jsctl_advisories_total", ())}
        # A place that answers late is without its consumers in a round.
        own = {
            part: number
            for part in of_consumer
            for labels, number in samples.get(f"jsctl_consumer_{part}_total", ())
            if (labels["stream_name"], labels["consumer_name"]) == ("ORDERS", "C")
        }
        return own == of_consumer and all(found.get(kind, -1) >= count for kind, count in counts.items())

    return wait_until(read, has_counts)


@pytest.mark.slow
def test_advisories_are_counted(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    dead_letters.consumer(
        url, "ORDERS", ack_wait=2_000_000_000
    )  # no acknowledgement is late on a busy machine
    with exporting(cli, "--interval 200ms") as port:
        counted(port, {"max_deliver": 0, "terminated": 0}, max_deliveries=0, terminated=0)
        js.publish(url, "orders.1", count=5)
        dead_letters.work_off(url, "ORDERS", failing={1, 2}, terminated={3})
        js.stream(url, "OTHER", "other")
        counts = {"max_deliver": 2, "terminated": 1, "stream_action": 1}
        counted(port, counts, max_deliveries=2, terminated=1)
        # They never fall, also when what they are about is gone. The server does not publish the removal of
        # each stream, but that of its consumers.
        js.ask(url, "STREAM.DELETE.ORDERS")
        samples = counted(port, {**counts, "consumer_action": 1})
        found = {own["kind"]: count for own, count in samples["jsctl_advisories_total"]}
        assert (found["max_deliver"], found["terminated"]) == (2, 1)
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
