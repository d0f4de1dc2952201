"""`doctor` on servers that hang, where there is nothing to ask, and of unknown codes."""

import signal
from functools import partial
from pathlib import Path

import pytest

from tests.support import js
from tests.support.doctor import ALONE, Patient, hub, leaf, running
from tests.support.processes import suspend
from tests.support.run import Cli
from tests.support.servers import free_port
from tests.support.waiting import wait_for


@pytest.mark.long
def test_a_hub_that_hangs(tmp_path: Path) -> None:
    """It is named once, not by each link that leads to it."""
    port = free_port()
    leaves = (leaf(port, name=f"leaf-{name}", domain=name) for name in ("east", "west"))
    with running(tmp_path, hub(port=port, more=ALONE), *leaves) as [center, east, west]:
        patient = Patient(tmp_path / "home")
        patient.context("east", east.url_for("acc"))
        patient.context("system", east.url_for("admin"))
        patient.context("hub", center.url_for("acc"))
        for server in (east, west):
            wait_for(partial(js.is_up, server.url_for("acc"), domain="hub"), "a leaf node is alone")
        wait_for(lambda: len(patient.cli("server list --json --context system").json) == 3, "one is alone")
        js.stream(center.url_for("acc"), "ORDERS", "orders")
        js.stream(east.url_for("acc"), "COPY", mirror={"name": "ORDERS", "external": {"api": "$JS.hub.API"}})
        wait_for(lambda: patient.codes() == [], "it is not well")
        assert center.process
        suspend(center.process.pid)
        try:
            [silent] = patient.findings("--context system --timeout 2s")
            assert (silent["code"], silent["about"]) == ("SERVER_SILENT", "server hub-server")
            assert silent["seen"] == "leaf-east is connected with it, and it does not answer"
            [origin] = patient.findings("--context east --timeout 2s")
            assert (origin["code"], origin["about"]) == ("ORIGIN_SILENT", "domain hub")
            assert patient.codes("--all-contexts --timeout 2s") == ["CONTEXT_FAILED", "SERVER_SILENT"]
        finally:
            center.process.send_signal(signal.SIGCONT)
        wait_for(lambda: patient.codes() == [], "it is not well again", 40)


def test_an_account_without_jetstream_is_not_called_well(tmp_path: Path) -> None:
    patient = Patient(tmp_path)
    with running(tmp_path, hub(more="NONE: { users: [{user: none, password: none}] }")) as [server]:
        patient.context("none", server.url_for("none"))
        out = patient.cli("doctor --context none", status=0).out
        assert "none: its account has no JetStream" in out
        assert "Only the connection was checked" in out
        assert "Nothing is wrong" not in out


def test_an_unknown_code_points_to_the_list(offline_cli: Cli) -> None:
    assert (
        "no code 'NOPE'; jsctl doctor --rules lists them"
        in offline_cli("doctor --ignore NOPE", status=64).err
    )
