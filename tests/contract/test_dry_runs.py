"""Every verb that destroys something has --dry-run, which changes nothing and tells what it would do: in a
sentence, and as one JSON document. This file is long because the lines of all verbs are compared with what
has the flag."""

import hashlib
import inspect
import json
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.contract.test_commands import VERBS, resolve
from tests.support import js
from tests.support.connections import connections
from tests.support.operator_site import Site
from tests.support.run import Cli
from tests.support.servers import Account, Cluster
from tests.support.waiting import wait_for

FLAGS = {path: {name for param in resolve(path.split()).params for name in param.opts} for path in VERBS}

WITHOUT_FORCE = {
    *("counter increment", "counter decrement", "server stop", "server request kick"),
    *(f"server network {verb}" for verb in ("stop", "restart", "kill", "pause", "lame-duck", "scale")),
    *("stream cluster balance", "consumer cluster balance", "auth account revocations add", "schedule add"),
    *("consumer pcgroup create", "consumer pcgroup add", "import", "backup edit"),
}
"""Verbs that nobody is asked before, and that take something away nevertheless."""

DIFFERENCES = {
    *(f"{noun} edit" for noun in ("stream", "consumer", "kv", "object")),
    *("apply", "object sync", "import", "stream cluster balance", "consumer cluster balance"),
}
"""Verbs that show a list of differences in place of a sentence. Those that edit exit with 2 for one."""

WITHOUT_PLACE = (
    *("auth", "backup edit", "backup prune", "context", "server network", "audit analyze", "server stop"),
    "exporter dashboards",
)
"""Verbs that change something on this machine alone."""

LINES = [
    "stream rm ORDERS",
    "stream rm ORDERS COUNTS",
    "stream purge ORDERS --keep 1",
    "stream rmm ORDERS 1 2",
    "stream seal ORDERS",
    "stream copy ORDERS COPY --subjects copy.>",
    "stream copy ORDERS COPY --subjects copy.> --data",
    "backup stream ORDERS saved",
    "backup stream ORDERS backup",
    "backup restore stream backup --name OTHER --subjects other.>",
    "backup account saved",
    "backup restore account whole --update-streams",
    "backup edit backup edited",
    "backup prune . --keep 1d",
    "consumer rm ORDERS NEW",
    "consumer reset ORDERS NEW",
    "redrive ORDERS --first-seq 1 --subject ORDERS.again --allow-loop",
    "consumer dead ORDERS NEW --capture",
    "consumer pause ORDERS NEW 1h",
    "consumer resume ORDERS PAUSED",
    "counter increment hits.home 5",
    "counter decrement hits.home",
    "kv del CONFIG user.1",
    "kv del CONFIG",
    "kv purge CONFIG user.>",
    "kv revert CONFIG user.1 1",
    "kv compact CONFIG --older 1ms",
    "kv import CONFIG values.jsonl",
    "object put FILES report.pdf new.pdf",
    "object get FILES report.pdf",
    "object rm FILES report.pdf",
    "object rm FILES",
    "object seal FILES",
    "bench js pub sync bench.s --create",
    "bench js pub async ORDERS.bench --stream ORDERS --purge",
    "bench js pub batch bench.b --create",
    "bench js pub fast bench.f --create",
    "bench js ordered --stream ORDERS --purge",
    "bench js consume --stream ORDERS --purge",
    "bench js fetch --stream ORDERS --purge",
    "bench kv put --bucket CONFIG --purge",
    "bench object put",
    "context rm here",
    "stream edit ORDERS --description new",
    "consumer edit ORDERS NEW --description new",
    "kv edit CONFIG --description new",
    "object edit FILES --description new",
    "object sync FILES site --up --delete",
    "apply -f declared.yaml",
    "exporter dashboards --to boards",
]


def test_what_destroys_has_a_dry_run() -> None:
    forced = {path for path in VERBS if "--force" in FLAGS[path]} - {"stream gaps"}  # that only reads
    dry = {path for path in VERBS if "--dry-run" in FLAGS[path]}
    assert dry == forced | WITHOUT_FORCE | {"stream gaps", "doctor"}  # --fix of which asks for --yes


def test_what_asks_has_a_dry_run() -> None:
    for path in VERBS:
        verb = inspect.unwrap(resolve(path.split()).callback)  # type: ignore[arg-type]
        if "env.confirm(" in inspect.getsource(verb):
            assert "--dry-run" in FLAGS[path], path


def test_every_dry_run_is_tried() -> None:
    tried = [*LINES, *OF_GROUPS, *OF_SYSTEM, *OF_STORE, *OF_CLUSTER, *ELSEWHERE]
    missing = [
        path
        for path in VERBS
        if "--dry-run" in FLAGS[path] and not any(f"{line} ".startswith(f"{path} ") for line in tried)
    ]
    assert missing == []


def files_of(*folders: Path) -> dict[str, str]:
    """The files below folders, with what tells their content."""
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and "cache" not in path.parts
    }


def state_of(url: str) -> list[Any]:
    """All streams and consumers of an account, without times that run."""
    infos = js.ask(url, "STREAM.LIST")["streams"] or []
    consumers = [
        one
        for info in infos
        for one in js.ask(url, f"CONSUMER.LIST.{info['config']['name']}")["consumers"] or []
    ]
    volatile = ("ts", "pause_remaining", "cluster")
    return [{key: value for key, value in one.items() if key not in volatile} for one in [*infos, *consumers]]


def assert_dry(cli: Cli, line: str) -> Mapping[str, Any] | Sequence[Any]:
    """A dry run tells what would be done, twice; returns its document."""
    verb = next(path for path in sorted(VERBS, key=len, reverse=True) if f"{line} ".startswith(f"{path} "))
    status = 2 if verb.endswith(" edit") and verb != "backup edit" else 0
    shown = cli(f"{line} --dry-run", status=status).out
    document = cli(f"{line} --dry-run --json", status=status).json
    if verb not in DIFFERENCES:
        assert shown.splitlines()[-1] == "Nothing was changed", line
        assert document["dry_run"] is True, line
        if "restore" not in verb and verb != "backup edit":
            assert document["would"], line
    assert ("nats://" in shown.splitlines()[0]) != verb.startswith(WITHOUT_PLACE), line
    return document  # type: ignore[no-any-return]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with what lines name."""
    folder = tmp_path / "here"
    (folder / "site").mkdir(parents=True)
    monkeypatch.chdir(folder)
    for name in ("report.pdf", "new.pdf", "site/index.html"):
        (folder / name).write_text("text")
    (folder / "values.jsonl").write_text('{"key": "k", "operation": "PUT", "value": "v"}\n')
    (folder / "declared.yaml").write_text("streams: [{name: DECLARED, subjects: [declared]}]\n")
    return folder


@pytest.fixture
def filled(cli: Cli, url: str, here: Path) -> Cli:
    """An account with a bit of everything."""
    js.stream(url, "ORDERS", "ORDERS.>", allow_direct=True)
    js.publish(url, "ORDERS.new", count=3)
    for name in ("NEW", "PAUSED"):
        config = {"durable_name": name, "ack_policy": "explicit", "max_deliver": -1}
        js.ask(url, f"CONSUMER.DURABLE.CREATE.ORDERS.{name}", {"stream_name": "ORDERS", "config": config})
    js.ask(url, "CONSUMER.PAUSE.ORDERS.PAUSED", {"pause_until": "2099-01-01T00:00:00Z"})
    js.stream(url, "COUNTS", "hits.>", allow_msg_counter=True, allow_direct=True)
    js.publish_framed(url, "hits.home", b"NATS/1.0\r\nNats-Incr: 7\r\n\r\n", b"")
    js.bucket(url, "CONFIG", max_msgs_per_subject=8)
    js.publish(url, "$KV.CONFIG.user.1", b"one")
    js.publish(url, "$KV.CONFIG.user.1", b"two")
    cli("object add FILES", status=0)
    cli("object put FILES report.pdf", status=0)
    cli(f"context add here --server {url}", status=0)
    cli("backup stream ORDERS backup", status=0)
    cli("backup account whole", status=0)
    return cli


@pytest.mark.slow
def test_nothing_is_changed(filled: Cli, url: str, here: Path) -> None:
    before = state_of(url), files_of(here, filled.home)
    for line in LINES:
        assert_dry(filled, line)
        assert (state_of(url), files_of(here, filled.home)) == before, line


OF_GROUPS = [
    "consumer pcgroup create ORDERS NEXT 2",
    "consumer pcgroup add ORDERS GROUP m3",
    "consumer pcgroup drop ORDERS GROUP m2",
    "consumer pcgroup create-mapping ORDERS GROUP m1:0,1",
    "consumer pcgroup delete-mapping ORDERS MAPPED",
    "consumer pcgroup rm ORDERS GROUP",
    "schedule add JOBS jobs.plan.next body --after 1h --dest jobs.out",
    "schedule rm JOBS jobs.plan.report",
]


def test_verbs_of_groups_and_schedules(filled: Cli, url: str) -> None:
    for name in ("GROUP", "MAPPED"):
        filled(f"consumer pcgroup create ORDERS {name} 2 m1 m2", status=0)
    filled("consumer pcgroup create-mapping ORDERS MAPPED m1:0,1 --force", status=0)
    js.stream(url, "JOBS", "jobs.>", allow_msg_schedules=True)
    filled("schedule add JOBS jobs.plan.report body --every 1h --dest jobs.out", status=0)
    for line in OF_GROUPS:
        assert_dry(filled, line)
    [schedule] = filled("schedule ls JOBS --json", status=0).json
    assert schedule["subject"] == "jobs.plan.report"
    assert filled("consumer pcgroup ls ORDERS --json", status=0).out.count('"MAPPED"') == 1


def test_what_is_missing_is_reported(filled: Cli) -> None:
    for line in (
        *(
            "stream rm NOPE",
            "stream seal NOPE",
            "consumer rm ORDERS NOPE",
            "kv del CONFIG nope",
            "kv del NOPE",
        ),
        *("kv revert CONFIG user.1 99", "object seal NOPE", "object rm FILES nope", "counter decrement nope"),
        *(
            "context rm nope",
            "bench js ordered --stream NOPE",
            "backup restore stream nope",
            "backup stream NOPE x",
        ),
    ):
        assert filled(f"{line} --dry-run").status == 3, line
    assert "already exists" in filled("backup restore stream backup --dry-run", status=1).err
    assert "unchanged" in filled("backup restore account whole --dry-run", status=0).out
    filled("stream purge ORDERS --force", status=0)
    assert "already exists" in filled("backup restore account whole --dry-run", status=1).out


def test_the_facts(filled: Cli) -> None:
    def facts(line: str) -> dict[str, Any]:
        document: dict[str, Any] = filled(f"{line} --dry-run --json", status=0).json
        return document

    assert facts("stream seal ORDERS")["messages"] == 3
    assert facts("consumer rm ORDERS NEW")["unprocessed"] == 3
    assert facts("counter decrement hits.home 10")["new_value"] == "-3"
    reverted = facts("kv revert CONFIG user.1 1")
    assert (reverted["revision"], reverted["latest"], reverted["bytes"]) == (1, 2, 3)
    assert facts("object rm FILES")["objects"] == 1
    replaced = facts("object put FILES report.pdf new.pdf")["objects"]
    assert [one["replaces"] for one in replaced] == [True, False]
    assert facts("bench js ordered --stream ORDERS --purge")["messages"] == 3


OF_SYSTEM = [
    "server account purge",
    "server config reload",
    "server request kick",
    "audit gather",
    "audit analyze",
]


def test_verbs_of_the_system_account(
    filled: Cli, own_account: Account, system_url: str, tmp_path: Path, here: Path
) -> None:
    system = Cli(tmp_path / "system", system_url)
    before = state_of(own_account.url)
    purge = assert_dry(system, f"server account purge {own_account.user.upper()}")
    assert isinstance(purge, dict)
    assert (purge["streams"], purge["consumers"]) == (4, 2) and purge["messages"] > 6
    server = system("server info --json", status=0).json
    name, number = server["server_name"], server["server_id"]
    assert_dry(system, f"server config reload {name}")
    assert system(f"server request kick 999999 {number} --dry-run").status == 3
    with socket.create_connection(("127.0.0.1", own_account.server.port)) as link:
        user = own_account.user
        link.sendall(f'CONNECT {{"user": "{user}", "pass": "{user}", "verbose": false}}\r\nPING\r\n'.encode())
        wait_for(lambda: connections(own_account.url), "the server has the client")
        (client,) = connections(own_account.url)
        assert_dry(system, f"server request kick {client['cid']} {number}")
        assert [one["cid"] for one in connections(own_account.url)] == [client["cid"]]
    assert_dry(system, "audit gather -o audit.zip")
    assert not (here / "audit.zip").exists()
    system("audit gather -o audit.zip --no-server-profiles", status=0)
    assert_dry(system, "audit analyze audit.zip --save report.json")
    assert not (here / "report.json").exists()
    assert state_of(own_account.url) == before


OF_STORE = [
    "auth operator edit ACME --tags ours",
    "auth account edit ORDERS --tags ours",
    "auth user edit alice ORDERS --tags ours",
    "auth operator keys rm ACME {operator}",
    "auth operator backup ACME acme.json",
    "auth nkey gen user --output user.nk",
    "auth operator import {folder}/data/nats/nsc/stores/ACME/ACME.jwt --force",
    "auth account exports rm orders.> ORDERS",
    "auth account imports rm orders.> SHOP",
    "auth account keys rm ORDERS --key shipper",
    "auth keys rotate ORDERS shipper",
    "auth keys rotate --of-operator --key {operator}",
    "auth account mappings rm ORDERS old.orders",
    "auth account revocations add alice ORDERS",
    "auth account revocations rm bob ORDERS",
    "auth account rm SHOP",
    "auth user rm alice ORDERS --revoke",
    "auth user add carl ORDERS --defaults",
    "auth user credential alice.creds alice ORDERS",
    "auth account push ORDERS",
    "auth account push --all --prune",
    "auth account query SHOP --save",
    "auth account query SHOP shop.jwt",
]


def test_verbs_of_the_store(tmp_path: Path, here: Path) -> None:
    site = Site(tmp_path)
    try:
        cli = site.cli
        for line in (
            "auth operator keys add ACME",
            "auth account add ORDERS",
            "auth account add SHOP",
            "auth user add alice ORDERS --defaults",
            "auth user add bob ORDERS --defaults",
            "auth account exports add orders orders.> ORDERS",
            "auth account imports add orders orders.> SHOP --source ORDERS",
            "auth account keys add ORDERS shipper",
            "auth account mappings add ORDERS old.orders new.orders 100",
            "auth account revocations add bob ORDERS",
            "auth account push --all",
        ):
            cli(line, status=0)
        operator = site.store.read_operator().nats["signing_keys"][-1]
        before = files_of(tmp_path / "data", here, site.server.folder / "jwt", tmp_path / "jwt")
        for line in OF_STORE:
            assert_dry(cli, line.format(operator=operator, folder=tmp_path))
            after = files_of(tmp_path / "data", here, site.server.folder / "jwt", tmp_path / "jwt")
            assert after == before, line
    finally:
        site.server.stop()


OF_CLUSTER = [
    "stream cluster step-down S3",
    "stream cluster balance",
    "stream cluster evacuate S3 n1",
    "stream cluster peer-remove S3 n1",
    "consumer cluster step-down S3 C",
    "consumer cluster balance S3",
    "consumer cluster evacuate S3 C n1",
]
OF_ITS_SYSTEM = [
    "server cluster step-down",
    "server cluster balance",
    "server cluster evacuate n1",
    "server cluster peer-remove FOLLOWER --force",
    "server cluster rescue --quorum 1 --force",
]
OF_CLUSTER += OF_ITS_SYSTEM


@pytest.mark.slow
@pytest.mark.cluster
def test_verbs_of_clusters(cluster_cli: Cli, shared_cluster: Cluster, tmp_path: Path) -> None:
    js.stream(shared_cluster.url, "S3", "s3", num_replicas=3)
    js.publish(shared_cluster.url, "s3", count=4)
    cluster_cli("consumer add S3 C --pull --defaults", status=0)
    system = Cli(tmp_path / "system", shared_cluster.system_url)
    leader = cluster_cli("stream info S3 --json", status=0).json["cluster"]["leader"]
    meta = system("server cluster step-down --dry-run --json", status=0).json["leader"]
    follower = next(name for name in ("n1", "n2", "n3") if name != meta)
    for line in OF_CLUSTER:
        runner = system if line in OF_ITS_SYSTEM else cluster_cli
        assert_dry(runner, line.replace("FOLLOWER", follower))
    info = cluster_cli("stream info S3 --json", status=0).json
    assert info["cluster"]["leader"] == leader and len(info["cluster"]["replicas"]) == 2
    line = "server cluster evacuate n1 --dry-run --json"
    wait_for(lambda: system(line, status=0).json["messages"] >= 4, "n1 has the messages")  # it may be behind
    assert system(line, status=0).json["streams"] >= 1
    cluster_cli("stream rm S3 --force", status=0)


ELSEWHERE = [
    "stream cluster cancel-move",  # tests/commands/stream/cluster/test_cancel_move.py
    "consumer cluster cancel-move",  # tests/commands/consumer/test_cancel_move.py
    "consumer unpin",  # tests/commands/consumer/test_unpin.py
    "consumer pcgroup step-down",  # tests/commands/consumer/pcgroup
    "auth import",  # tests/commands/auth/test_import.py
    *("stream gaps", "doctor"),  # the first only reads; tests/commands/test_doctor_fix.py
    "export stream",  # tests/commands/export
    "export kv",
    "export objects",
    "import",  # tests/commands/test_import.py
    "server stop",  # tests/commands/server/network
    *(
        f"server network {verb}"
        for verb in ("stop", "restart", "kill", "pause", "lame-duck", "scale", "down")
    ),
]
"""Verbs whose dry run is tested with the verb."""


def test_json_is_for_readers(filled: Cli) -> None:
    """The document is one line for programs, whatever the names are."""
    filled(["kv", "put", "CONFIG", "odd", 'va"lue\n'], status=0)
    shown = filled("kv revert CONFIG odd 99 --dry-run --json")
    assert shown.status == 3 and shown.out == ""
    assert json.loads(filled("kv del CONFIG odd --dry-run --json", status=0).out)["keys"] == ["odd"]
