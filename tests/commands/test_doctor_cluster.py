"""`doctor` on a cluster of which servers are away, and on servers that differ from the others."""

import asyncio
import json
import os
import shlex
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from jsctl.contexts.settings import Settings
from jsctl.monitor.doctor.diagnosis import diagnose
from jsctl.monitor.doctor.gather import take_snapshot
from jsctl.nats.connection import Connection
from tests.support import js
from tests.support.doctor import Patient
from tests.support.run import Cli
from tests.support.servers import Cluster, RealServer
from tests.support.waiting import wait_for

pytestmark = pytest.mark.cluster

Json = dict[str, Any]


@contextmanager
def another_server(url: str, change: Callable[[Json], None]) -> Iterator[None]:
    """A server that answers in the system account as the real n1 does, but for a change to its answers."""
    ready, done = Event(), Event()

    async def answer() -> None:
        connection = await Connection.open(Settings(url=url))
        asking = await Connection.open(Settings(url=url))
        try:
            async with (
                connection.subscribe("$SYS.REQ.SERVER.PING.VARZ") as varz,
                connection.subscribe("$SYS.REQ.SERVER.PING.JSZ") as jsz,
            ):
                await connection.flush()
                ready.set()
                while not done.is_set():
                    for subscription in (varz, jsz):
                        if request := await subscription.next(20_000_000):
                            name = request.subject.rpartition(".")[2]
                            real = await asking.request(f"$SYS.REQ.SERVER.{server}.{name}", request.data)
                            document = json.loads(real.data)
                            document["server"] |= {"id": "ANOTHER", "name": "another"}
                            change(document)
                            await connection.publish(request.reply, json.dumps(document).encode())
        finally:
            await asking.close()
            await connection.close()

    server = server_id(url)
    thread = Thread(target=lambda: asyncio.run(answer()))
    thread.start()
    try:
        assert ready.wait(10)
        yield
    finally:
        done.set()
        thread.join()


def server_id(url: str) -> str:
    """The ID of the server that a login reaches."""

    async def ask() -> str:
        connection = await Connection.open(Settings(url=url))
        try:
            return str(connection.server_info["server_id"])
        finally:
            await connection.close()

    return asyncio.run(ask())


def test_servers_that_differ(shared_cluster: Cluster, tmp_path: Path) -> None:
    patient = Patient(tmp_path)
    patient.context("system", shared_cluster.system_url)
    url = shared_cluster.servers["n1"].url_for("admin")

    def late(document: Json) -> None:
        document["server"]["time"] = "2020-01-01T00:00:00Z"

    def old(document: Json) -> None:
        if "api" in document["data"]:
            document["data"]["api"]["level"] = 1

    assert patient.codes() == []
    with another_server(url, late):
        wait_for(lambda: patient.codes() == ["CLOCKS_APART"], "the clocks are not compared")
    with another_server(url, old):
        wait_for(lambda: patient.codes() == ["API_LEVEL_DIFFERS"], "the API levels are not compared")


OLD = [path for path in os.environ.get("JSCTL_OLD_SERVER", "").split(os.pathsep) if path]


@pytest.mark.skipif(not OLD, reason="JSCTL_OLD_SERVER")
def test_a_server_of_an_older_version(tmp_path: Path) -> None:
    """A real one: JSCTL_OLD_SERVER names nats-servers of other versions, separated by colons."""
    cli = Cli(tmp_path / "config")
    cli.environ["XDG_DATA_HOME"] = str(tmp_path / "data")
    file = tmp_path / "mixed.yaml"
    file.write_text(
        "name: mixed\naccounts:\n  SYS: {system: true, users: [admin]}\n"
        "  APP: {jetstream: true, users: [app]}\n"
        f"clusters:\n  c: {{servers: [n1, n2, {{name: n3, binary: {OLD[0]}}}]}}\n"
    )
    cli(f"server network up {file} --port 0", status=0)
    try:
        variables = cli("server network env mixed --json", status=0).json
        [finding] = cli("doctor --all-contexts --json", environ=variables, status=1).json["findings"]
        assert (finding["code"], finding["objects"]) == ("API_LEVEL_DIFFERS", ["server n3"])
    finally:
        cli("server network down mixed --force", status=0)


def test_replicas_and_leaders_that_are_offline(shared_cluster: Cluster, tmp_path: Path) -> None:
    """The answers of a cluster, changed as they are when servers are away; the next test kills some."""
    js.stream(shared_cluster.url, "DOCTOR", "doctor", num_replicas=3)
    targets = [Settings(url=url) for url in (shared_cluster.url, shared_cluster.system_url)]
    snapshot = asyncio.run(take_snapshot(targets))
    js.ask(shared_cluster.url, "STREAM.DELETE.DOCTOR")
    assert [finding.code for finding in diagnose(snapshot)] == []

    leaderless = [
        server._replace(jsz={**server.jsz, "meta_cluster": {**server.jsz["meta_cluster"], "leader": ""}})
        for server in snapshot.servers
    ]
    [lost] = diagnose(snapshot._replace(servers=leaderless))
    assert (lost.code, lost.objects) == ("META_NO_LEADER", ["domain "])

    # A server that was removed and holds nothing stays a member of the meta group.
    members = [
        peer for server in snapshot.servers for peer in server.jsz["meta_cluster"].get("replicas") or ()
    ]
    assert members
    for peer in members:
        peer["offline"] = True
    assert [finding.code for finding in diagnose(snapshot)] == []
    for peer in members:
        peer["offline"] = False

    cluster = snapshot.domains[0].streams["DOCTOR"]["cluster"]
    follower = cluster["replicas"][0]
    follower["offline"] = True
    [away] = diagnose(snapshot)
    assert away.code == "REPLICA_OFFLINE"
    assert away.objects == [f"server {follower['name']}", "stream DOCTOR"]
    follower["offline"] = False
    others = cluster.pop("replicas")
    assert [finding.code for finding in diagnose(snapshot)] == []  # it was created just now
    snapshot = snapshot._replace(at=snapshot.at + timedelta(minutes=1))
    [few] = diagnose(snapshot)
    assert (few.code, few.objects) == ("REPLICAS_FEW", ["stream DOCTOR"])
    assert "jsctl stream edit DOCTOR --replicas 3" in few.advice
    assert "bring a server back" not in few.advice and "under a new name" in few.advice
    cluster["replicas"] = others
    cluster["leader"] = ""
    assert [finding.code for finding in diagnose(snapshot)] == ["STREAM_NO_LEADER"]


def test_servers_that_are_offline(cluster: Cluster, tmp_path: Path) -> None:
    patient = Patient(tmp_path / "home")
    js.stream(cluster.url, "ORDERS", "orders", num_replicas=3)
    js.stream(cluster.url, "ONE", "one")
    place = js.info(cluster.url, "ONE")["cluster"]["leader"]
    first, second = (server for name, server in cluster.servers.items() if name != place)
    # Only the server that stays: which one a context reaches first does not matter then.
    patient.context("app", cluster.servers[place].url_for("acc"))
    patient.context("system", cluster.servers[place].url_for("admin"))
    wait_for(lambda: patient.codes() == [], "something is wrong with a cluster that is well")
    name = first.config.stem
    if js.info(cluster.url, "ORDERS")["cluster"]["leader"] != name:  # the next leader never heard from it
        js.ask(cluster.url, "STREAM.LEADER.STEPDOWN.ORDERS", {"placement": {"preferred": name}})
    wait_for(lambda: js.info(cluster.url, "ORDERS")["cluster"].get("leader") == name, "it does not lead")
    first.kill()
    wait_for(lambda: patient.codes() == ["REPLICA_OFFLINE"], "the server is not missed", 40)

    def missed() -> list[str]:
        [away] = patient.findings()
        assert away["about"] == f"server {name}"
        return list(away["objects"])

    # The meta group misses it first.
    wait_for(lambda: "stream ORDERS" in missed(), "the stream does not miss the server", 40)
    second.kill()
    wait_for(
        lambda: patient.codes("--all-contexts --timeout 2s") == ["META_NO_LEADER"], "a leader is there", 40
    )
    assert patient.codes("--context app") == ["META_NO_LEADER"]


def test_a_list_that_waits_for_a_silent_stream(cluster: Cluster, tmp_path: Path) -> None:
    """A server lists streams after 4 s when one of them is silent: JetStream answers."""
    patient = Patient(tmp_path / "home")
    js.stream(cluster.url, "ONE", "one")
    place = js.info(cluster.url, "ONE")["cluster"]["leader"]
    silent = cluster.servers[place]
    patient.context("app", next(one for name, one in cluster.servers.items() if name != place).url_for("acc"))
    assert silent.process
    silent.process.send_signal(signal.SIGSTOP)
    try:
        wait_for(lambda: patient.cli("stream ls --context app --timeout 10s").status == 0, "no leader", 60)
        findings = patient.findings("--context app --timeout 3s")
        assert [finding["code"] for finding in findings] == ["STREAM_NO_LEADER"], findings
    finally:
        silent.process.send_signal(signal.SIGCONT)


def list_lines(fix: str, verb: str) -> list[list[str]]:
    """The command lines of a finding from the first one with this verb on, without `jsctl`."""
    _, found, rest = fix.partition(f"jsctl {verb}")
    assert found, fix
    return [shlex.split(line.removeprefix("jsctl ")) for line in f"{found}{rest}".split(" && ")]


def test_the_lines_for_a_server_that_does_not_come_back(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is removed; when another is there, the stream has its replicas and messages again."""
    monkeypatch.setattr("jsctl.monitor.trouble.YOUNG", 0)
    patient = Patient(tmp_path / "home")
    js.stream(cluster.url, "ORDERS", "orders", num_replicas=3)
    js.publish(cluster.url, "orders", count=5)
    leader = js.info(cluster.url, "ORDERS")["cluster"]["leader"]
    patient.context("app", cluster.servers[leader].url_for("acc"))
    patient.context("system", cluster.servers[leader].url_for("admin"))
    name, lost = next((name, server) for name, server in cluster.servers.items() if name != leader)
    lost.kill()
    wait_for(
        lambda: any("stream ORDERS" in one["objects"] for one in patient.findings()), "nothing is missed", 40
    )
    [away] = patient.findings()
    assert (away["code"], away["about"]) == ("REPLICA_OFFLINE", f"server {name}")
    [line] = list_lines(away["fix"], "server cluster peer-remove")
    patient.cli([*line, "--force"], status=0)
    wait_for(lambda: patient.codes() == ["REPLICAS_FEW"], "it is not removed", 40)
    [few] = patient.findings()
    [line] = list_lines(few["fix"], "stream edit")
    refused = patient.cli(line)
    assert refused.status == 1 and "nothing was changed" in refused.err  # there is no server yet
    assert "one that was removed needs a new name" in refused.err
    assert patient.codes() == ["REPLICAS_FEW"]
    assert js.ask(cluster.url, "STREAM.NAMES")["streams"] == ["ORDERS"]
    settings = lost.config.read_text().replace(f"server_name: {name}", "server_name: new")
    another = RealServer(tmp_path, settings.replace(f":{lost.port}", ":{port}"), name="another")
    another.config.write_text(
        another.config.read_text().replace(str(lost.folder / name), str(tmp_path / "new"))
    )
    another.start()
    try:
        # What was killed between its two requests is named as before, and mended by the same line.
        config = {**js.info(cluster.url, "ORDERS")["config"], "num_replicas": 2}
        config["metadata"] = {**config.get("metadata", {}), "jsctl.replicas": "3"}
        js.ask(cluster.url, "STREAM.UPDATE.ORDERS", config)
        wait_for(lambda: patient.codes() == ["REPLICAS_FEW"], "the interrupted line is not found", 40)
        assert list_lines(patient.findings()[0]["fix"], "stream edit") == [line]
        fix = "doctor --all-contexts --fix --yes"
        wait_for(lambda: "(REPLICAS_FEW): fixed" in patient.cli(fix).out, "there is no server", 60)
        wait_for(lambda: patient.codes() == [], "it has too few replicas", 40)
        info = js.info(cluster.url, "ORDERS")
        assert "jsctl.replicas" not in info["config"].get("metadata", {})
        assert (info["state"]["messages"], info["config"]["num_replicas"]) == (5, 3)
        assert len(info["cluster"]["replicas"]) == 2
    finally:
        another.stop()


def test_the_lines_for_a_copy_that_does_not_reach_its_origin(cluster: Cluster, tmp_path: Path) -> None:
    patient = Patient(tmp_path / "home")
    js.stream(cluster.url, "ORDERS", "orders")
    origin = js.info(cluster.url, "ORDERS")["cluster"]["leader"]
    stays = next(server for name, server in cluster.servers.items() if name != origin)
    patient.context("app", stays.url_for("acc"))
    js.stream(cluster.url, "COPY", mirror={"name": "ORDERS"}, num_replicas=3)
    js.publish(cluster.url, "orders", count=5)
    wait_for(lambda: js.info(cluster.url, "COPY")["state"]["messages"] == 5, "nothing is copied")
    cluster.servers[origin].kill()

    def failed() -> list[dict[str, Any]]:
        return [finding for finding in patient.findings() if finding["code"] == "LINK_FAILED"]

    wait_for(lambda: bool(failed()), "the copy is well", 60)
    [line] = list_lines(failed()[0]["fix"], "stream info")
    assert patient.cli(line).status  # it says what is wrong with the origin
    cluster.servers[origin].start()
    wait_for(lambda: js.is_up(stays.url_for("acc")), "there is no leader", 40)
    wait_for(lambda: patient.cli(line).status == 0, "the origin does not answer", 40)
    for finding in failed():  # if the server has not tried again yet
        [again] = list_lines(finding["fix"], "stream cluster step-down")
        patient.cli(again, status=0)
    wait_for(lambda: patient.codes() == [], "it does not reach its origin", 60)
    js.publish(cluster.url, "orders")
    wait_for(lambda: js.info(cluster.url, "COPY")["state"]["messages"] == 6, "nothing is copied", 60)
