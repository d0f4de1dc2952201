"""Declared streams over two domains and two contexts."""

from pathlib import Path

import pytest

from jsctl.jetstream.declared.write import MODELINE
from tests.support.run import Cli
from tests.support.servers import HubLeaf
from tests.support.waiting import wait_for

TWO_DOMAINS = """
label: orders
streams:
  - {name: ALL, domain: hub, sources: [ORDERS@leaf, BACK]}
  - {name: BACK, domain: hub, mirror: ORDERS@leaf}
  - name: ORDERS
    domain: leaf
    subjects: ORDERS.>
    consumers: [{name: NEW, filter_subject: ORDERS.new}]
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "streams.yaml"
    path.write_text(text)
    return path


def test_origins_go_first_across_domains(hub_cli: Cli, tmp_path: Path) -> None:
    path = write(tmp_path, TWO_DOMAINS)
    outcome = hub_cli(f"apply -f {path} --trace", status=0)
    created = [
        line for line in outcome.err.splitlines() if line.startswith(">>> ") and ".STREAM.CREATE." in line
    ]
    assert [line.rpartition(".")[2] for line in created] == ["ORDERS", "BACK", "ALL"]
    assert hub_cli(f"diff -f {path}", status=0).out.startswith("Nothing to change: 3 streams and 1 consumer ")
    hub_cli("pub ORDERS.new x --count 3", status=0)
    wait_for(lambda: messages(hub_cli, "ALL", "hub") == 6, "ALL did not get its messages")
    assert messages(hub_cli, "BACK", "hub") == 3


def messages(cli: Cli, stream: str, domain: str) -> int:
    return int(cli(f"stream info {stream} --js-domain {domain} --json", status=0).json["state"]["messages"])


def test_streams_of_two_domains_may_copy_from_each_other(hub_cli: Cli, tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
streams:
  - {name: EAST, domain: hub, subjects: east.>, sources: ["WEST@leaf,filter=west.>"]}
  - {name: WEST, domain: leaf, subjects: west.>, sources: ["EAST@hub,filter=east.>"]}
""",
    )
    hub_cli(f"apply -f {path}", status=0)
    assert "Nothing to change" in hub_cli(f"apply -f {path}", status=0).out


def test_a_context_of_a_file_is_that_one(tmp_path: Path, hub_leaf: HubLeaf) -> None:
    cli = Cli(tmp_path / "config", "nats://127.0.0.1:1")  # NATS_URL leads nowhere
    cli(f"context add hub --server {hub_leaf.url}", status=0, environ={"NATS_URL": ""})
    leaf = hub_leaf.leaf.url_for("acc")
    cli(f"context add leaf --server {leaf}", status=0, environ={"NATS_URL": ""})
    path = write(
        tmp_path,
        """
context: hub
streams:
  - {name: COPY, mirror: ORDERS@leaf}
  - {name: ORDERS, context: leaf, subjects: ORDERS.>}
""",
    )
    applied = cli(f"apply -f {path} --json", status=0).json["applied"]
    assert [(one["stream"], one["context"], one["domain"]) for one in applied] == [
        ("COPY", "hub", "hub"),
        ("ORDERS", "leaf", "leaf"),
    ]
    assert "Nothing to change" in cli(f"diff -f {path}", status=0).out
    twice = write(tmp_path, "streams: [{name: A, context: hub}, {name: A, context: hub, domain: hub}]")
    assert "declared twice" in cli(f"diff -f {twice}", status=64).err
    unknown = write(tmp_path, "streams: [{name: A, context: nowhere}]")
    assert "unknown context 'nowhere'" in cli(f"diff -f {unknown}", status=3).err
    deleted = write(tmp_path, "streams: [{name: A, context: hub, domain: nowhere}]")
    assert "no JetStream answers" in cli(f"apply -f {deleted}", status=4).err


def test_prune_looks_where_the_file_says(hub_cli: Cli, tmp_path: Path) -> None:
    hub_cli(f"apply -f {write(tmp_path, TWO_DOMAINS)}", status=0)
    less = write(tmp_path, "{label: orders, domain: hub, streams: []}")
    questions = hub_cli(f"apply -f {less} --prune", answers=[True], status=0).asked
    assert questions == ["Really remove stream ALL (0 messages, 0 B), stream BACK (0 messages, 0 B)"]
    assert hub_cli("stream ls --js-domain hub --json").json == []
    assert hub_cli("stream ls --js-domain leaf --json").json == ["ORDERS"]


def test_export_of_two_domains_comes_back(hub_cli: Cli, tmp_path: Path) -> None:
    hub_cli(f"apply -f {write(tmp_path, TWO_DOMAINS)}", status=0)
    written = hub_cli("export config --js-domain hub --js-domain leaf", status=0).out
    path = write(tmp_path, written)
    assert "Nothing to change: 3 streams and 1 consumer are" in hub_cli(f"apply -f {path}", status=0).out
    for domain, name in (("hub", "ALL"), ("hub", "BACK"), ("leaf", "ORDERS")):
        hub_cli(f"stream rm {name} --force --js-domain {domain}", status=0)
    hub_cli(f"apply -f {path}", status=0)
    assert hub_cli("export config --js-domain hub --js-domain leaf", status=0).out == written
    alone = hub_cli("export config --js-domain leaf", status=0).out
    assert alone.startswith(f"{MODELINE}domain: leaf\nstreams:\n- name: ORDERS\n")


@pytest.mark.slow
def test_on_a_real_terminal(hub_cli: Cli, tmp_path: Path) -> None:
    path = write(tmp_path, TWO_DOMAINS)
    hub_cli(f"apply -f {path}", status=0)
    other = write(tmp_path, TWO_DOMAINS.replace("subjects: ORDERS.>", "subjects: ORDERS.>\n    max_age: 1d"))
    child = hub_cli.terminal(f"apply -f {other}")
    try:
        child.expect_exact("max_age: 0s -> 1d0h0m0s")
        child.expect_exact("Really change 1 stream")
        child.send("yes\r")
        child.expect_exact("1 stream done")
    finally:
        child.close(force=True)


@pytest.mark.cluster
def test_replicas_without_servers_are_warned_of(cluster_cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "streams.yaml"
    for keys, warning in (
        ("num_replicas: 3", ""),
        ("num_replicas: 5", "5 replicas need as many servers, and 3 answer"),
        ("placement: {cluster: nowhere}", "1 replica needs a server, and 0 answer of cluster nowhere"),
        ("placement: {tags: [ssd]}", "1 replica needs a server, and 0 answer with the tags ssd"),
    ):
        file.write_text(f"streams: [{{name: PLACED, subjects: [placed], {keys}}}]")
        shown = cluster_cli(f"diff -f {file}", status=2).err
        assert warning in shown and bool(warning) == ("answer" in shown), shown
