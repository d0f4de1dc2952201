"""Local servers without starting any: topologies, failures, contexts, folders, the binary."""

import asyncio
import json
import os
import re
from pathlib import Path

import pytest

from jsctl.contexts.settings import SERVER_MARK
from jsctl.contexts.store import ContextStore
from jsctl.errors import JsctlError, MissingDependency
from jsctl.localserver import binary, contexts, folder
from jsctl.localserver.compile import compile_network
from jsctl.localserver.processes import Process, find, start, stop
from jsctl.localserver.spec_reader import BUILTIN, load_spec
from jsctl.localserver.startup import explain
from jsctl.localserver.topology import Topology, fill
from jsctl.views.server.network import NO_LINKS
from tests.support.waiting import wait_for


def compiled(name: str, folder: Path) -> Topology:
    return compile_network(load_spec(name), folder)


def ports_of(topology: Topology) -> dict[str, int]:
    """A port for each purpose, all different."""
    purposes = [f"{node.name}.{purpose}" for node in topology.nodes for purpose in node.ports]
    purposes += [hop for link in topology.links for hop in link.hops]
    return {purpose: 10_000 + number for number, purpose in enumerate(purposes)}


@pytest.mark.parametrize("name", BUILTIN)
def test_every_placeholder_is_a_port(tmp_path: Path, name: str) -> None:
    topology = compiled(name, tmp_path)
    ports = ports_of(topology)
    for node in topology.nodes:
        assert not re.search(r"@[\w.-]+@", fill(node.config, ports))
    names = {node.name for node in topology.nodes}
    assert {node for login in topology.logins for node in login.nodes} <= names
    for login in topology.logins:
        assert all(login.port.format(node=node) in ports for node in login.nodes)


def test_the_guides_ports(tmp_path: Path) -> None:
    nodes = {node.name: dict(node.ports) for node in compiled("hub-leaf", tmp_path).nodes}
    assert nodes == {"hub": {"client": 4222, "leafnodes": 7422}, "leaf": {"client": 4111}}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            '[1] [FTL] Error listening on port: 127.0.0.1:4222, "listen tcp 127.0.0.1:4222: bind:'
            ' address already in use"',
            "port 4222 is in use; choose another one with --port, or any free one with --port 0",
        ),
        (
            "[1] [FTL] Error listening on leafnode port: 7422 - listen tcp 127.0.0.1:7422: bind:"
            " address already in use",
            "port 7422 is in use; choose another one with --port, or any free one with --port 0",
        ),
        (
            '[1] [FTL] Error listening on port: 127.0.0.1:80, "listen tcp 127.0.0.1:80: bind:'
            ' permission denied"',
            "cannot listen on port 80: permission denied; choose another one with --port",
        ),
        (
            "[1] [FTL] Can't start JetStream: could not create storage directory - mkdir /x:"
            " read-only file system",
            "JetStream cannot use its store S: could not create storage directory - mkdir /x: read-only file"
            " system; choose another folder with --store",
        ),
        (
            "[1] [FTL] Can't start JetStream: JetStream cluster requires configured routes",
            "nats-server (hub) does not start: Can't start JetStream: JetStream cluster requires configured"
            " routes; its log is {log}",
        ),
        (
            'nats-server: my.conf:1:28: unknown field "x"',
            'nats-server (hub) does not start: my.conf:1:28: unknown field "x"; its log is {log}',
        ),
        ("[1] [INF] fine\nodd", "nats-server (hub) ended with status 1: odd; its log is {log}"),
        ("", "nats-server (hub) ended with status 1; its log is {log}"),
    ],
)
def test_why_a_server_ended(tmp_path: Path, line: str, words: str) -> None:
    log = tmp_path / "hub.log"
    log.write_text("[1] [INF] Starting\n" + line + "\n")
    assert str(explain("hub", 1, log, "S")) == words.replace("{log}", str(log))


def test_a_killed_server(tmp_path: Path) -> None:
    assert str(explain("hub", -9, tmp_path / "none")).startswith("nats-server (hub) was ended by signal 9;")


def test_a_process_runs_once_in_a_folder(tmp_path: Path) -> None:
    assert not folder.is_in_use(tmp_path)
    log = tmp_path / "n1.log"
    process = start(tmp_path, "n1", ["sleep", "60"], tmp_path, log, os.environ)
    wait_for(lambda: folder.is_in_use(tmp_path) and find(tmp_path, "n1") is not None, "it does not run")
    assert find(tmp_path, "n1") == Process(tmp_path, "n1", process.pid)
    with pytest.raises(JsctlError, match=rf"n1 in .* is already running \(process {process.pid}\)"):
        start(tmp_path, "n1", ["sleep", "60"], tmp_path, log, os.environ)
    with pytest.raises(JsctlError, match=rf"is in use by a local server \(process {process.pid}\); stop it"):
        folder.refuse_in_use(tmp_path)
    asyncio.run(stop([process]))
    assert process.status == -15
    assert not folder.is_in_use(tmp_path)


def test_configurations_that_were_edited_stay(tmp_path: Path) -> None:
    network = compiled("hub-leaf", tmp_path)
    ports = ports_of(network)
    assert folder.write_configs(tmp_path, network, ports) == []
    assert folder.write_configs(tmp_path, network, {**ports, "hub.client": 9}) == []
    hub = tmp_path / "hub.conf"
    assert "127.0.0.1:9" in hub.read_text()
    hub.write_text(hub.read_text().replace("hub-server", "mine"))
    assert folder.write_configs(tmp_path, network, ports) == ["hub.conf"]
    assert "mine" in hub.read_text()


def test_the_log_of_the_run_before_is_kept(tmp_path: Path) -> None:
    folder.start_log(tmp_path, "hub").write_text("first")
    assert folder.start_log(tmp_path, "hub").read_text() == ""
    assert (tmp_path / "hub.log.1").read_text() == "first"


class TestContexts:
    def test_our_own_file_is_rewritten_and_removed(self, tmp_path: Path) -> None:
        store, place = ContextStore(tmp_path / "nats"), tmp_path / "net"
        assert contexts.save(store, "local", {"url": "nats://a:1"}, place) == "local"
        assert contexts.save(store, "local", {"url": "nats://a:2"}, place) == "local"
        assert store.load("local").raw["url"] == "nats://a:2"
        assert contexts.find_folder(store, "local") == place
        contexts.forget({"XDG_CONFIG_HOME": str(tmp_path)}, ["local", "none"], str(place))
        assert store.names() == []

    def test_a_context_of_a_dead_network_is_replaced(self, tmp_path: Path) -> None:
        store = ContextStore(tmp_path / "nats")
        contexts.save(store, "local", {"url": "nats://a:1"}, tmp_path / "gone")
        assert contexts.save(store, "local", {"url": "nats://a:2"}, tmp_path / "net") == "local"

    def test_a_context_of_a_running_network_stays(self, tmp_path: Path) -> None:
        store, other = ContextStore(tmp_path / "nats"), tmp_path / "other"
        other.mkdir()
        process = start(other, "n1", ["sleep", "60"], other, other / "n1.log", os.environ)
        contexts.save(store, "local", {"url": "nats://a:1"}, other)
        assert contexts.save(store, "local", {"url": "nats://a:2"}, tmp_path / "net") == "local-2"
        asyncio.run(stop([process]))

    @pytest.mark.parametrize("content", ['{"url": "nats://mine:1"}', "not json", "[]", '{"jsctl_server": 1}'])
    def test_the_users_own_stays(self, tmp_path: Path, content: str) -> None:
        store = ContextStore(tmp_path / "nats")
        path = tmp_path / "nats" / "context" / "local.json"
        path.parent.mkdir(parents=True)
        path.write_text(content)
        assert contexts.save(store, "local", {"url": "nats://a:2"}, tmp_path) == "local-2"
        contexts.forget({"XDG_CONFIG_HOME": str(tmp_path)}, ["local"], str(tmp_path))
        assert path.read_text() == content

    def test_an_edited_one_is_the_users(self, tmp_path: Path) -> None:
        store = ContextStore(tmp_path / "nats")
        contexts.save(store, "local", {"url": "nats://a:1"}, tmp_path)
        store.save("local", {**store.load("local").raw, "description": "mine"})
        assert contexts.save(store, "local", {"url": "nats://a:2"}, tmp_path) == "local-2"

    def test_the_mark_holds_no_secret(self, tmp_path: Path) -> None:
        store = ContextStore(tmp_path / "nats")
        contexts.save(store, "local", {"password": "hidden-word"}, tmp_path)
        assert "hidden-word" not in json.dumps(store.load("local").raw[SERVER_MARK])


def test_the_installed_binary_is_found_without_a_path() -> None:
    result = binary.find({"PATH": "/nonexistent"})
    assert Path(result.path).name == "nats-server"
    assert result.version[0].isdigit()


def test_a_binary_for_another_machine(tmp_path: Path) -> None:
    path = tmp_path / "nats-server"
    path.write_bytes(b"\x7fELF garbage")
    path.chmod(0o755)
    for environ in ({"JSCTL_NATS_SERVER": str(path)}, {"PATH": str(tmp_path)}):
        with pytest.raises(MissingDependency, match="is not a program for this machine"):
            binary.find(environ)


def test_without_links_the_networks_that_have_some_are_named(tmp_path: Path) -> None:
    linked = [name for name in BUILTIN if compile_network(load_spec(name), tmp_path / name).links]
    assert linked == ["hub-leaf", "hub-spokes", "supercluster"]
    assert "hub-leaf, hub-spokes and supercluster have links" in NO_LINKS
