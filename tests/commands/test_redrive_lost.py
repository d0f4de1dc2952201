"""`redrive` while its connection, its server or a leader is lost, or it is ended: each message once."""

import json
import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.commands.test_redrive import sources
from tests.support import js
from tests.support.leaders import lead
from tests.support.relay import relay
from tests.support.run import Cli
from tests.support.servers import Account, Cluster, RealServer
from tests.support.waiting import wait_for


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_what_is_read_survives_lost_connections(own_account: Account, tmp_path: Path, seed: int) -> None:
    """Connections are cut in place of an answer again and again, also of one to a read, without a journal."""
    chance, url = random.Random(seed), own_account.url
    js.stream(url, "W", "w.*")
    js.stream(url, "R", "retry.>")
    js.publish(url, "w.a", b"x" * 500, count=400)
    with relay(own_account.server.port) as line:
        cli = Cli(tmp_path, url.replace(str(own_account.server.port), str(line.port)))
        line.then += [(at, line.cut_at_answer) for at in sorted(chance.sample(range(30_000, 300_000), 4))]
        result = cli("redrive W --first-seq 1 --subject retry.x --rate 4000 --force --json", status=0).json
        assert not line.then
    assert (result["stored"], result["remaining"]) == (400, 0)
    assert sources(url) == [*range(1, 401)]


@pytest.mark.slow
def test_a_server_that_starts_again_is_waited_for(tmp_path: Path) -> None:
    server = RealServer(tmp_path, 'listen: "127.0.0.1:{port}"\njetstream { store_dir: "{store}" }\n').start()

    def wait_for_messages(least: int) -> None:
        def has_some() -> bool:
            return int(js.info(server.url, "R")["state"]["messages"]) > least

        wait_for(has_some, f"{least} messages are not stored")

    try:
        js.stream(server.url, "W", "w.*")
        js.stream(server.url, "R", "retry.>")
        js.publish(server.url, "w.a", count=600)
        line = ["redrive", "W", "--first-seq", "1", "--subject", "retry.x", "--rate", "200", "--force"]
        with subprocess.Popen(
            [sys.executable, "-m", "jsctl", *line, "--pause-on", "lag > 100", "--json"],
            env={**os.environ, "NATS_URL": server.url, "HOME": str(tmp_path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            for least in (50, 300):
                wait_for_messages(least)
                server.kill()
                server.start()
            out, err = process.communicate(timeout=60)
        assert (process.returncode, json.loads(out)["stored"]) == (0, 600), err
        assert sources(server.url) == [*range(1, 601)]
    finally:
        server.stop()


@pytest.mark.cluster
@pytest.mark.slow
def test_the_leader_of_the_stream_that_is_read_is_killed(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path / "servers").start()
    url = cluster.url
    try:
        js.stream(url, "W", "w.*", num_replicas=3)
        js.stream(url, "R", "retry.>", num_replicas=3)
        js.publish(url, "w.a", count=600)
        lead(url, "W", "n1")
        lead(url, "R", "n2")
        line = ["redrive", "W", "--first-seq", "1", "--subject", "retry.x", "--rate", "100", "--force"]
        process = Cli(tmp_path, cluster.servers["n3"].url_for("acc")).start([*line, "--json"])

        def has_begun() -> bool:
            return int(js.info(url, "R")["state"]["messages"]) > 50

        try:
            wait_for(has_begun, "nothing is stored")
            cluster.servers["n1"].kill()
            out, err = process.communicate(timeout=90)
        finally:
            process.kill()
        assert process.returncode == 0, err
        assert json.loads(out)["stored"] == 600
        assert sources(cluster.servers["n2"].url_for("acc")) == [*range(1, 601)]
    finally:
        cluster.stop()


@pytest.mark.cluster
@pytest.mark.slow
def test_a_leader_that_is_lost_is_waited_for_from_the_first_question_on(tmp_path: Path) -> None:
    """Also where the list of streams, of which one might be the target, is not whole."""
    cluster = Cluster(tmp_path / "servers").start()
    url = cluster.url
    cli = Cli(tmp_path, cluster.servers["n3"].url_for("acc"))
    try:
        js.stream(url, "W", "w.*", num_replicas=3)
        js.stream(url, "R", "retry.>", num_replicas=3)
        js.publish(url, "w.a", count=100)
        lead(url, "W", "n1")
        lead(url, "R", "n1")
        cluster.servers["n1"].kill()
        line = "redrive W --first-seq 1 --subject retry.x --force --json --journal"
        result = cli(f"{line} {tmp_path}/j", status=0)
        assert result.json["stored"] == 100
        assert "trying again" in result.err
        cluster.servers["n1"].start()
        url = cluster.servers["n3"].url_for("acc")
        lead(url, "R", "n2")
        cluster.servers["n2"].kill()
        assert cli(f"redrive --undo {tmp_path}/j --force --json", status=0).json["removed"] == 100
        assert sources(url) == []
    finally:
        cluster.stop()


@pytest.mark.parametrize("blocks", [1, 12, 20, 28])
def test_a_journal_on_a_full_disk_is_named_and_goes_on(
    cli: Cli, url: str, tmp_path: Path, blocks: int
) -> None:
    """A limit on the size of files stands in for the disk: it ends in the set, or between messages."""
    js.stream(url, "W", "w.*")
    js.stream(url, "R", "retry.>")
    js.publish(url, "w.a", count=500)
    line = f"redrive W --first-seq 1 --subject retry.x --journal {tmp_path}/j --force"
    limited = subprocess.run(
        ["bash", "-c", f"ulimit -f {blocks}; exec {sys.executable} -m jsctl {line}"],
        env={**os.environ, **cli.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert limited.returncode == 1
    assert limited.stderr.endswith(f"cannot write journal {tmp_path}/j: File too large; make room\n"), limited
    cli(line, status=0)
    assert sources(url) == [*range(1, 501)]


def test_messages_that_are_too_large_with_their_new_headers(cli: Cli, url: str) -> None:
    """They are named before anything is published, where the server's limit counts, and the stream's."""
    js.stream(url, "W", "w.*")
    js.stream(url, "R", "retry.>")
    js.stream(url, "SMALL", "small.>", max_msg_size=500)
    for size in (10, 1 << 20, 480, (1 << 20) - 50):
        js.publish(url, "w.a", b"x" * size)
    line = "redrive W --first-seq 1 --force --subject"
    result = cli(f"{line} retry.x", status=64)
    assert "2 messages would be larger than the target takes" in result.err and ": 2, 4;" in result.err
    assert "3 messages would be larger" in cli(f"{line} small.x", status=64).err
    assert js.info(url, "R")["state"]["last_seq"] == js.info(url, "SMALL")["state"]["last_seq"] == 0
    (way_out,) = re.findall("--match '(size < [0-9]+)'", result.err)
    cli([*f"{line} retry.x --match".split(), way_out], status=0)
    assert sources(url) == [1, 3]


@pytest.mark.parametrize(
    ("config", "held", "subject", "removed"),
    [
        ({"max_msgs_per_subject": 1}, 0, "t.x", 19),
        ({"max_msgs_per_subject": 1}, 1, "t.x", 20),
        ({"max_msgs_per_subject": 15}, 0, "t.>", 0),
        ({"max_msgs": 25}, 10, "t.x", 5),
        ({"max_msgs": 100}, 10, "t.x", 0),
        ({"max_msgs_per_subject": 30, "discard": "new", "discard_new_per_subject": True}, 0, "t.x", 0),
        ({"retention": "interest"}, 0, "t.x", 20),
    ],
)
def test_what_a_target_removes_is_said_before(
    cli: Cli, url: str, config: dict[str, Any], held: int, subject: str, removed: int
) -> None:
    js.stream(url, "W", "w.*")
    for name in "ab":
        js.publish(url, f"w.{name}", count=10)
    js.stream(url, "T", "t.>", **config)
    js.publish(url, "t.x", count=held)
    preview = cli(f"redrive W --first-seq 1 --subject {subject} --dry-run", status=0)
    result = cli(f"redrive W --first-seq 1 --subject {subject} --force", status=0)
    assert held + 20 - js.info(url, "T")["state"]["messages"] == removed
    for said in (preview.err, result.err):
        if config.get("retention"):
            assert "interest retention and no consumers: it keeps none of these messages\n" in said
        else:
            assert bool(removed) == (f": {removed} messages will be removed, the oldest first" in said)
            assert removed or not said


def test_others_that_get_the_messages_again_are_named(cli: Cli, url: str) -> None:
    js.stream(url, "W", "w.*")
    js.stream(url, "R", "retry.>")
    js.publish(url, "w.a", count=2)
    js.publish(url, "w.b", count=2)
    for name, subject in (("C", "w.a"), ("OTHER", "w.*"), ("B", "w.b"), ("ALL", "")):
        config = {"durable_name": name, "ack_policy": "explicit", "filter_subject": subject}
        js.ask(url, f"CONSUMER.CREATE.W.{name}", {"stream_name": "W", "config": config})
    warning = "warning: other consumers get these messages again, too: "
    result = cli("redrive W C --last-seq 2 --to-consumer --dry-run", status=0)
    assert f"{warning}ALL, OTHER\n" in result.err
    result = cli("redrive W C --first-seq 1 --to-consumer --force", status=0)
    assert f"{warning}ALL, B, OTHER\n" in result.err
    assert warning not in cli("redrive W C --last-seq 2 --subject retry.x --force", status=0).err


def test_where_there_is_no_jetstream_nothing_is_waited_for(cli: Cli, url: str) -> None:
    result = cli("redrive W --first-seq 1 --subject retry.x --force --js-domain nowhere", status=4)
    assert result.err.count("\n") == 1
    assert "no JetStream answers on $JS.nowhere.API" in result.err


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_redrive_that_is_ended_says_what_is_not_published(
    cli: Cli, url: str, number: int, status: int
) -> None:
    js.stream(url, "W", "w.*")
    js.stream(url, "R", "retry.>")
    js.publish(url, "w.a", count=200)
    process = cli.start("redrive W --filter w.a --subject retry.x --rate 20 --force")
    wait_for(lambda: js.info(url, "R")["state"]["messages"], "nothing is redriven")
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == status
    assert re.fullmatch(r"\d+ of 200 messages are not published\njsctl: error: stopped by \S+\n", err), err
