"""A second `server network up` takes over what has changed in the network's file."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from jsctl.localserver import processes
from tests.support.run import Cli

ONE = """
name: one
accounts:
  SYS: {system: true, users: {admin: admin}}
  APP: {jetstream: true, users: {app: app}}
clusters:
  hub: {domain: hub, servers: [hub]}
  leaf: {domain: leaf, servers: [leaf], remotes: [{to: hub, user: admin}]}
"""
MORE = """
  APP:
    jetstream: true
    users: {app: app}
    exports:
      - {service: "$JS.hub.API.STREAM.INFO.>"}
  OTHER:
    jetstream: true
    users: {other: other}
    imports:
      - {service: {account: APP, subject: "$JS.hub.API.STREAM.INFO.>"}, to: "JS.app.API.STREAM.INFO.>"}
"""


@pytest.fixture
def network(tmp_path: Path) -> Iterator[Cli]:
    """jsctl with the folder of one network."""
    cli = Cli(tmp_path / "config")
    cli.environ["XDG_DATA_HOME"] = str(tmp_path / "data")
    yield cli
    for process in processes.find_all(tmp_path / "data" / "jsctl" / "one").values():
        os.kill(process.pid, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize("operator", ["", "operator: OP"])
def test_accounts_and_remotes_that_changed(network: Cli, tmp_path: Path, operator: str) -> None:
    file = tmp_path / "one.yaml"
    file.write_text(ONE + operator)
    up = ["server", "network", "up", str(file), "--port", "0"]
    network(up, status=0)
    variables = network("server network env one --json", status=0).json
    before = json.loads((tmp_path / "data/jsctl/one/network.json").read_text())["ports"]
    network("stream add KEPT --subjects kept --defaults --context hub", environ=variables, status=0)
    again = network(up, status=0).err
    assert "pushed" not in again and "reloaded" not in again

    text = ONE.replace("\n  APP: {jetstream: true, users: {app: app}}\n", MORE)
    file.write_text(
        text.replace("{to: hub, user: admin}", "{to: hub, user: admin}, {to: hub, user: other}") + operator
    )
    changed = network(up, tty=True, status=0).err
    assert ("pushed accounts SYS, APP, OTHER\n" in changed) == bool(operator)
    assert "reloaded hub, leaf\n" in changed
    assert json.loads((tmp_path / "data/jsctl/one/network.json").read_text())["ports"] == before
    # The stream of APP is seen through the import, and the new account reaches the hub from the leaf node.
    line = "stream info KEPT --js-api-prefix JS.app.API --context leaf-OTHER --json"
    assert network(line, environ=variables, status=0).json["config"]["name"] == "KEPT"

    file.write_text(ONE.replace("servers: [leaf]", "servers: 2"))
    error = network(up, status=64).err
    assert "has other servers than the running network: leaf, leaf-1, leaf-2" in error


@pytest.mark.slow
def test_what_auth_has_changed_stays_while_the_file_does(network: Cli, tmp_path: Path) -> None:
    file = tmp_path / "one.yaml"
    file.write_text(ONE + "operator: OP")
    up = ["server", "network", "up", str(file), "--port", "0"]
    network(up, status=0)
    store = str(tmp_path / "data/jsctl/one/auth")
    network(["auth", "account", "edit", "APP", "--connections", "77", "--store", store], status=0)
    network("server network down one --keep-data", status=0)
    network(up, status=0)
    info = network(["auth", "account", "info", "APP", "--store", store, "--json"], status=0).out
    assert '"conn": 77' in info
    # A file that changes other accounts, and other claims of this one, leaves alone what it does not change.
    key = network(["auth", "account", "info", "APP", "--store", store, "--json"], status=0).json["sub"]
    network(["auth", "account", "keys", "add", "APP", "role", "--store", store], status=0)
    limited = ONE.replace("jetstream: true, users: {app", "jetstream: {max_file: 1G}, users: {app")
    file.write_text(limited + "operator: OP")
    assert "pushed accounts" in network(up, tty=True, status=0).err
    account = network(["auth", "account", "info", "APP", "--store", store, "--json"], status=0).json
    assert account["sub"] == key
    assert account["nats"]["limits"]["conn"] == 77
    assert account["nats"]["limits"]["disk_storage"] == 10**9
    assert [one["role"] for one in account["nats"]["signing_keys"]] == ["role"]


def test_apply_in_the_network_reaches_its_operator(network: Cli, tmp_path: Path) -> None:
    """One run is enough: the network's servers know its operator."""
    file, declared = tmp_path / "one.yaml", tmp_path / "environment.yaml"
    file.write_text(ONE.partition("  leaf:")[0] + "operator: OP")
    network(["server", "network", "up", str(file), "--port", "0"], status=0)
    declared.write_text(
        "account: SALES\n"
        "operators: [{name: OP, accounts: [{name: SALES, limits: {disk_storage: 1GB}}]}]\n"
        "streams: [{name: ORDERS, subjects: [orders]}]\n"
    )
    variables = network("server network env one --json", status=0).json
    applied = network(f"apply -f {declared} --json", environ=variables, status=0).json
    assert applied["auth"]["pushed"] == [{"account": "SALES", "server": "hub"}]
    assert [one["stream"] for one in applied["applied"]] == ["ORDERS"]
    shown = network("auth env --json", environ=variables, status=0).json
    assert shown["stores"]["value"] == str(tmp_path / "data/jsctl/one/auth/stores")
    assert not (tmp_path / "data/nats").exists()
