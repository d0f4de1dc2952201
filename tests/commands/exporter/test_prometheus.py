"""The dashboards and rules of `exporter dashboards` in a real Prometheus, over two exporters side by side.

It runs where `JSCTL_PROMETHEUS` is the path of a `prometheus` binary, 2.30 or later.
"""

import asyncio
import json
import os
import re
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import nats
import pytest
import yaml

from jsctl.errors import JsctlError
from tests.commands.exporter.test_dashboards import list_expressions
from tests.support import dead_letters, js
from tests.support.exporters import BLIND, exporting
from tests.support.run import Cli
from tests.support.servers import Cluster, RealServer, free_port
from tests.support.waiting import wait_for, wait_until

PROMETHEUS = os.environ.get("JSCTL_PROMETHEUS", "")
NOT_MADE = {"JetStreamMessagesLost", "JetStreamCopyFailed", "JetStreamLeaderElections"}
"""Alerts that nothing here fires: they need a broken disk, an origin that refuses a consumer, and minutes."""

pytestmark = [
    pytest.mark.skipif(not PROMETHEUS, reason="JSCTL_PROMETHEUS is not set"),
    pytest.mark.cluster,
]
Query = Callable[[str], list[dict[str, Any]]]


@contextmanager
def running_prometheus(folder: Path, rules: Path, ports: list[int]) -> Iterator[Query]:
    """Run Prometheus over these exporters; yield what evaluates an expression."""
    targets = [f"127.0.0.1:{port}" for port in ports]
    config = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(rules)],
        "scrape_configs": [{"job_name": "jsctl", "static_configs": [{"targets": targets}]}],
    }
    (folder / "prometheus.yml").write_text(json.dumps(config))
    address = f"127.0.0.1:{free_port()}"
    flags = [f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [PROMETHEUS, *flags, f"--web.listen-address={address}"], stdout=log, stderr=log
        )

    def fetch(path: str, **query: str) -> Any:
        url = f"http://{address}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=10) as response:
            return json.load(response)["data"]

    def is_ready() -> bool:
        assert process.poll() is None, (folder / "log").read_text()
        try:
            return len(fetch("query", query="up == 1")["result"]) == len(ports)
        except OSError:
            return False

    try:
        wait_for(is_ready, "Prometheus scrapes the exporters")
        yield lambda expression: list(fetch("query", query=expression)["result"])
        groups = wait_until(lambda: fetch("rules")["groups"], lambda groups: groups)
        assert {rule["health"] for group in groups for rule in group["rules"]} == {"ok"}
    finally:
        process.terminate()
        process.wait()


@pytest.fixture
def broken(cli: Cli, cluster: Cluster, tmp_path: Path) -> Iterator[Cli]:
    """Contexts with all that the rules are about; what happens repeatedly is made by `stir`."""
    url = cluster.url
    js.stream(url, "ORDERS", "orders.>", num_replicas=3, max_bytes=10_000_000, storage="memory")
    js.stream(url, "COPY", mirror={"name": "ORDERS"}, num_replicas=3)
    js.stream(url, "BOTH", sources=[{"name": "ORDERS", "filter_subject": "orders.1"}], num_replicas=3)
    js.stream(url, "BAD", mirror={"name": "NOWHERE"})
    for name in ("LATE", "SLOW"):
        config = {"durable_name": name, "ack_policy": "explicit"}
        js.ask(url, f"CONSUMER.CREATE.ORDERS.{name}", {"stream_name": "ORDERS", "config": config})
    dead_letters.consumer(url, "BOTH", "FAILING")
    js.publish(url, "orders.1", bytes(2600), count=3600)
    with ExitStack() as stack:
        blind = RealServer(tmp_path, BLIND).start()
        stack.callback(blind.stop)
        servers = {
            "acc": url,
            "sys": cluster.system_url,
            "blind": blind.url_for("blind"),
            "down": "nats://127.0.0.1:1",
        }
        for name, server in servers.items():
            cli(["context", "add", name, "--server", server], status=0)
        cli.environ.pop("NATS_URL")
        yield cli


async def acknowledge(url: str) -> None:
    """Acknowledge some messages of the consumer SLOW."""
    client = await nats.connect(url)
    subscription = await client.jetstream().pull_subscribe_bind("SLOW", "ORDERS")
    for message in await subscription.fetch(20):
        await message.ack()
    await client.close()


def stir(url: str) -> None:
    """Publish, work messages off, give some up, terminate some, and fail a request."""
    js.publish(url, "orders.1", bytes(200), count=5)
    asyncio.run(acknowledge(url.split(",")[0]))
    last = js.info(url, "BOTH")["state"]["last_seq"]
    dead_letters.work_off(url.split(",")[0], "BOTH", "FAILING", failing={last}, terminated={last - 1})
    with pytest.raises(JsctlError):
        js.ask(url, "STREAM.INFO.NONE")


def is_led(url: str) -> bool:
    """Whether another server than n3 leads what `stir` uses."""
    names = "STREAM.INFO.ORDERS STREAM.INFO.BOTH CONSUMER.INFO.ORDERS.SLOW CONSUMER.INFO.BOTH.FAILING"
    try:
        infos = [js.ask(url, name, timeout=1) for name in names.split()]
    except JsctlError:
        return False
    return all(info["cluster"].get("leader") not in (None, "n3") for info in infos)


@pytest.mark.timeout(300)
def test_each_expression_has_values(broken: Cli, cluster: Cluster, tmp_path: Path) -> None:
    broken(f"exporter dashboards --to {tmp_path}/d", status=0)
    rules_file = tmp_path / "d" / "jetstream-alerts.yaml"
    rules = [rule for group in yaml.safe_load(rules_file.read_text())["groups"] for rule in group["rules"]]
    contexts = " ".join(f"--context {name}" for name in ("acc", "sys", "blind", "down"))
    flags = f"--interval 1s --subjects 2 {contexts}"
    expressions = {
        re.sub(r"\$\w+", ".*", expression)
        for expression in list_expressions(tmp_path / "d")
        if expression not in [rule["expr"] for rule in rules]
    }
    with ExitStack() as stack:
        ports = [stack.enter_context(exporting(broken, flags)) for _ in range(2)]
        query = stack.enter_context(running_prometheus(tmp_path, rules_file, ports))

        def find_empty() -> list[str]:
            stir(cluster.url)
            return [one for one in sorted(expressions) if not query(one)]

        wait_until(find_empty, lambda empty: not empty)
        # Two exporters count once.
        own = 'context="acc",domain=""'
        [streams] = query(
            f"count(max by (context, domain, stream_name) (jetstream_stream_total_bytes{{{own}}}))"
        )
        assert streams["value"][1] == "4"
        for expression in expressions:
            if "(" in expression:  # the others fill the variables of a dashboard
                assert not [one for one in query(expression) if "instance" in one["metric"]], expression
        [up] = query("sum(max by (context, domain) (jsctl_up))")
        assert up["value"][1] == "3"

        cluster.servers["n3"].stop()
        wait_for(lambda: is_led(cluster.url), "streams and consumers have another leader")

        def find_silent() -> list[str]:
            stir(cluster.url)
            return [rule["alert"] for rule in rules if not query(rule["expr"])]

        wait_until(find_silent, lambda silent: set(silent) <= NOT_MADE)
        for rule in rules:
            # Without its limit each has series, and these have the labels of its message.
            series = query(re.sub(r" (>|<|==) [\d.]+$", "", rule["expr"]))
            assert series, rule
            labels = set(re.findall(r"\$labels\.(\w+)", str(rule["annotations"])))
            missing = labels - {"domain"} - {name for one in series for name in one["metric"]}
            assert not missing, (rule, missing)
