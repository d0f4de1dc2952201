"""The nine-server demo's lines in document order, with one server a domain and passwords for credentials.

So `--replicas 3` becomes 1. Left out: the servers' list, keys, and the part that goes through several
accounts between the domains, which need the operator's accounts.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.scenarios.test_documents import Run, runner
from tests.support import documents
from tests.support.run import Cli
from tests.support.servers import RealServer, free_port
from tests.support.waiting import wait_until

# What a present server needs beside the demo's exports: flow control of the mirror.
_HUB = """
listen: "127.0.0.1:{port}"
server_name: hub
jetstream { store_dir: "{store}", domain: hub }
leafnodes { listen: "127.0.0.1:LEAFS" }
accounts {
    SYS: { users: [{user: sys, password: sys}] }
    TEST: {
        users: [{user: test, password: test}], jetstream: enabled
        exports: [
            {service: "$JS.hub.API.CONSUMER.CREATE.>", response_type: "stream"}
            {service: "$JS.hub.API.CONSUMER.MSG.NEXT.aggregate.DUR", response_type: "stream"}
            {service: "$JS.ACK.aggregate.DUR.>"}
            {service: "$JS.FC.aggregate.>"}
            {stream: "deliver.importer.>"}
        ]
    }
    IMPORTER: {
        users: [{user: iuser, password: iuser}], jetstream: enabled
        imports: [
            {
                service: {account: TEST, subject: "$JS.hub.API.CONSUMER.CREATE.>"}
                to: "JS.test@hub.API.CONSUMER.CREATE.>"
            }
            {
                service: {account: TEST, subject: "$JS.hub.API.CONSUMER.MSG.NEXT.aggregate.DUR"}
                to: "from.test.API.CONSUMER.MSG.NEXT.aggregate.DUR"
            }
            {service: {account: TEST, subject: "$JS.ACK.aggregate.DUR.>"}}
            {service: {account: TEST, subject: "$JS.FC.aggregate.>"}}
            {stream: {account: TEST, subject: "deliver.importer.>"}}
        ]
    }
}
system_account: SYS
"""
_SPOKE = """
listen: "127.0.0.1:{port}"
server_name: NAME
jetstream { store_dir: "{store}", domain: NAME }
leafnodes { reconnect: 1, remotes: [
    { urls: ["nats-leaf://sys:sys@127.0.0.1:LEAFS"], account: SYS }
    { urls: ["nats-leaf://test:test@127.0.0.1:LEAFS"], account: TEST }
] }
accounts {
    SYS: { users: [{user: sys, password: sys}] }
    TEST: { users: [{user: test, password: test}], jetstream: enabled }
}
system_account: SYS
"""
SPOKES = ("spoke-1", "spoke-2")


def mirror_of(domain: str) -> dict[str, Any]:
    """The answers for a mirror of a stream in another domain."""
    question = "Import mirror from a different JetStream domain"
    return {question: True, "Foreign JetStream domain name": domain}


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[dict[str, RealServer]]:
    leafs = str(free_port())
    texts = {"hub": _HUB, **{name: _SPOKE.replace("NAME", name) for name in SPOKES}}
    results = {n: RealServer(tmp_path, text.replace("LEAFS", leafs), name=n) for n, text in texts.items()}
    try:
        for server in results.values():
            server.start()
        yield results
    finally:
        for server in results.values():
            server.stop()


def until(run: Run, line: str, pattern: str, **replacements: tuple[str, str]) -> None:
    """Run a line until it says this."""
    wait_until(lambda: run(line, **replacements), lambda out: re.search(pattern, out, re.M))


@pytest.mark.slow
def test_the_demo(servers: dict[str, RealServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cli = Cli(tmp_path / "config")
    run = runner(cli, [line.replace("--replicas 3", "--replicas 1") for line in documents.DEMO])
    for name, server in servers.items():
        line = next(line for line in documents.DEMO if line.startswith(f"jsctl context save {name} "))
        line = re.sub(r"--creds \S+", "--user test --password test", line.removeprefix("jsctl "))
        cli(re.sub(r'"nats:.*"', server.url, line), status=0)
        run(f"--context={name} s report", "No Streams defined")

    run("--context=hub stream add cnc", "Stream cnc was created")
    run('--context=hub pub cnc "hello world" --count 10')
    answers = mirror_of("hub")
    run("--context=hub stream add recv-cnc", "recv-cnc", answers=answers)
    for spoke in SPOKES:
        domain = ("spoke-1", spoke)
        run("--context=hub stream add --config recv-cnc", "Stream recv-cnc was created", replaced=domain)
        until(run, "--context=spoke-1 s report", r"^recv-cnc +Mirror +\$JS.hub.API +cnc", replaced=domain)
        until(run, "--context=spoke-1 s report", r"^recv-cnc +File +0 +10 ", replaced=domain)

    run("--context=hub stream add test")
    for spoke in SPOKES:
        domain = ("spoke-1", spoke)
        run("--context=hub stream add --config test", "Stream test was created", replaced=domain)
    run('--context=hub pub test "hello world"')
    for spoke in SPOKES:
        until(run, f"--context={spoke} s report", r"^test +File +0 +10 ")
    run('--context=spoke-1 pub test "hello world"')
    for spoke in SPOKES:
        until(run, f"--context={spoke} s report", r"^test +File +0 +20 ")

    from_spokes = {
        'Import "test" from a different JetStream domain': [True, True],
        "test Source foreign JetStream domain name": ["spoke-1", "spoke-2"],
    }
    run("--context=hub stream add aggregate", "aggregate was created", answers=from_spokes)
    until(run, "--context=hub s report", r"^aggregate +File +0 +40 ")
    run(
        "--context=hub stream add backup-test-spoke-1",
        r"Mirror: test, API Prefix: \$JS.spoke-1.API",
        answers=mirror_of("spoke-1"),
    )
    until(run, "--context=spoke-2 s report", r"^backup-test-spoke-1 +File +0 +20 ")

    importer = ("--creds keys/creds/OP/IMPORTER/iuser.creds", "--user iuser --password iuser")
    across = {
        "Import mirror from a different account": True,
        "Foreign account API prefix": "JS.test@hub.API",
        "Foreign account delivery prefix": "deliver.importer.crossacc",
    }
    run(
        "--context=hub --creds keys/creds/OP/IMPORTER/iuser.creds s add crossacc",
        "Stream crossacc was created",
        answers=across,
        replaced=importer,
    )
    until(
        run,
        "--context=hub s report --creds keys/creds/OP/IMPORTER",
        r"^crossacc +File +0 +40 ",
        replaced=importer,
    )
    run("--context=hub c add aggregate DUR", "Information for Consumer aggregate > DUR")
    run(
        "--context=hub --creds keys/creds/OP/IMPORTER/iuser.creds consumer next",
        r"subj: test / tries: 1 / cons seq: 1 / str seq: 1 / pending: 39(.|\n)*Nats-Stream-Source: test:",
        replaced=importer,
    )
