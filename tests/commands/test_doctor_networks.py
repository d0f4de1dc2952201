"""`doctor` on contexts of several networks: what is in one says nothing about another of the same names."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from jsctl.monitor.doctor.diagnosis import diagnose
from jsctl.monitor.doctor.snapshot import ServerView, Snapshot
from tests.support import js
from tests.support.doctor import Patient, hub, leaf, running
from tests.support.servers import free_port
from tests.support.waiting import wait_for


@pytest.mark.slow
def test_networks_of_the_same_names(tmp_path: Path) -> None:
    patient = Patient(tmp_path)
    unnamed = hub().replace(", domain: hub", "")
    with (
        running(tmp_path / "1", hub()) as [first],
        running(tmp_path / "2", hub()) as [second],
        running(tmp_path / "3", unnamed) as [third],
    ):
        logins = {"first": first, "second": second, "third": third}
        for name, server in logins.items():
            patient.context(name, server.url_for("acc"))
            patient.context(f"{name}-system", server.url_for("admin"))
            js.stream(server.url_for("acc"), "ORDERS", "orders.>")
        for chosen in ([*logins], [f"{name}-system" for name in logins], ["first", "second-system", "third"]):
            assert patient.codes(" ".join(f"--context {name}" for name in chosen)) == [], chosen
        assert patient.codes("--all-contexts") == []


@pytest.mark.slow
def test_a_network_that_only_an_account_connects(tmp_path: Path) -> None:
    patient, port = Patient(tmp_path), free_port()
    with running(tmp_path, hub(port=port), leaf(port, name="apart", domain="", system=False)) as [
        first,
        second,
    ]:
        patient.context("hub", first.url_for("acc"))
        patient.context("leaf", second.url_for("acc"))
        wait_for(lambda: js.is_up(second.url_for("acc"), domain="hub"), "the leaf node is alone")
        wait_for(
            lambda: "DOMAIN_UNNAMED" in patient.codes("--context hub --context leaf"), "they count as two"
        )


def _diagnose(servers: Sequence[ServerView]) -> list[tuple[str, str]]:
    return [(found.code, found.about) for found in diagnose(Snapshot(datetime.now(UTC), servers=servers))]


def test_a_leader_elsewhere_is_none_here() -> None:
    def server(name: str, network: str, leader: str) -> ServerView:
        meta = {"cluster_size": 3, "leader": leader}
        return ServerView(
            name, name, "c", "", True, varz={"a": 1}, jsz={"meta_cluster": meta}, network=network
        )

    lonely, other = server("n1", "prod", ""), server("n1", "test", "n1")
    assert ("META_NO_LEADER", "JetStream") in _diagnose([lonely, other])
    assert ("META_NO_LEADER", "JetStream") not in _diagnose([other, other._replace(id="n2")])


def test_a_server_that_answers_elsewhere_is_silent_here() -> None:
    leafs = {"leafs": [{"name": "spoke", "account": "SYS"}]}
    gateway = {"name": "hub", "gateways": [{"name": "west"}]}
    varz = {"system_account": "SYS", "gateway": gateway}
    here = ServerView("n1", "n1", "hub", varz=varz, leafz=leafs, network="prod")
    there = ServerView("n2", "spoke", "west", varz={"a": 1}, network="test")
    silent = {("SERVER_SILENT", "server spoke"), ("SERVER_SILENT", "cluster west")}
    assert silent <= set(_diagnose([here, there]))
    assert not silent & set(_diagnose([here, there._replace(network="prod")]))
