"""`sub`: what is shown of messages, from subjects and from streams."""

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from jsctl.contexts.settings import Settings
from jsctl.nats.connection import Connection
from tests.support import js
from tests.support.connections import wait_for_subscribers
from tests.support.run import Cli

EVIL = b"\x1b[31mred"


@pytest.fixture
def stream(cli: Cli, url: str) -> Cli:
    """With five messages in a stream S."""
    js.stream(url, "S", "s.>")
    for number in range(1, 6):
        js.publish(url, f"s.{number % 2}", b"body %d" % number)
    return cli


def allow_direct(url: str) -> None:
    config = js.ask(url, "STREAM.INFO.S")["config"]
    js.ask(url, "STREAM.UPDATE.S", {**config, "allow_direct": True})


def shown(outcome: str) -> list[str]:
    """The headings of the messages."""
    return [line for line in outcome.splitlines() if line.startswith("[#")]


def later(url: str, listening: str, *messages: tuple[str, bytes]) -> threading.Thread:
    """Publish when somebody listens on a subject."""

    def work() -> None:
        wait_for_subscribers(url, listening)
        for subject, data in messages:
            js.send(url, subject, data)

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def publish_until(url: str, subject: str, data: bytes, done: threading.Event) -> None:
    """Publish repeatedly, for a reader that takes new messages only."""
    while not done.wait(0.1):
        js.publish(url, subject, data)


def test_core(cli: Cli, url: str) -> None:
    thread = later(url, "a.*", ("a.b", b"hello"), ("a.c", b"{}"))
    outcome = cli("sub 'a.*' x --count 2", status=0)
    thread.join()
    assert outcome.out == '[#1] Received on "a.b"\nhello\n\n[#2] Received on "a.c"\n{}\n\n'
    assert outcome.err == "Subscribing on a.*, x\n"


def test_controls_never_reach_a_terminal(cli: Cli, url: str) -> None:
    for line in ("sub a --count 2", "sub a --count 2 --raw", "sub a --count 2 --json"):
        thread = later(url, "a", ("a", EVIL), ("a", b"\x00\xff\x1b"))
        outcome = cli(line, tty=True, status=0)
        thread.join()
        assert "\x1b" not in outcome.out
    assert json.loads(outcome.out.splitlines()[0])["data"] == EVIL.decode()
    assert json.loads(outcome.out.splitlines()[1])["data_base64"] == "AP8b"


@pytest.mark.parametrize("data", [b"\x00\xff\r\n\x1b[31m", b"line\n", b"", bytes(range(256)) * 40])
def test_raw_is_byte_for_byte(data: bytes, stream: Cli, url: str) -> None:
    js.publish(url, "s.raw", data)
    done = subprocess.run(
        [sys.executable, "-m", "jsctl", "sub", "s.raw", "--all", "--raw-bytes", "--count", "1"],
        env={**os.environ, **stream.environ},
        capture_output=True,
        check=True,
    )
    assert done.stdout == data


def test_a_stream(stream: Cli) -> None:
    outcome = stream("sub --stream S --terminate-at-end", status=0)
    assert len(shown(outcome.out)) == 5
    assert shown(outcome.out)[0].startswith(
        "[#1] Received JetStream message: stream: S seq: 1 / pending: 4 / subject: s.1 / time: "
    )
    assert "body 1" in outcome.out


@pytest.mark.parametrize("direct", ["", " --direct"])
@pytest.mark.parametrize(
    ("flags", "wanted"),
    [
        ("--all", [1, 2, 3, 4, 5]),
        ("--last", [5]),
        ("--start-sequence 4", [4, 5]),
        ("--start-sequence 9", []),
        ("--last-per-subject", [4, 5]),
        ("--since 1h", [1, 2, 3, 4, 5]),
        ("--since 1ms", []),
        ("--new", []),
        ("--all --count 2", [1, 2]),
        ("--all -I s.1", [2, 4]),
    ],
)
def test_where_a_stream_begins(flags: str, wanted: list[int], direct: str, stream: Cli, url: str) -> None:
    allow_direct(url)
    outcome = stream(f"sub 's.>' {flags} -T --json{direct}", status=0)
    assert [json.loads(line)["sequence"] for line in outcome.out.splitlines()] == wanted


def test_a_filter_and_the_stream_by_its_subject(stream: Cli) -> None:
    assert len(shown(stream("sub s.0 --all -T", status=0).out)) == 2
    assert len(shown(stream("sub s.0 s.1 --all -T", status=0).out)) == 5
    assert "no stream stores nope" in stream("sub nope --all", status=3).err


def test_no_consumer_stays(stream: Cli, url: str) -> None:
    stream("sub --stream S --count 2", status=0)
    assert js.ask(url, "STREAM.INFO.S")["state"]["consumer_count"] == 0


def test_new_messages_follow(stream: Cli, url: str) -> None:
    for flags in ("", "--direct"):
        allow_direct(url)
        done = threading.Event()
        thread = threading.Thread(target=lambda: publish_until(url, "s.x", b"late", done))  # noqa: B023
        thread.start()
        try:
            assert stream(f"sub s.x --new --count 1 --raw {flags}", status=0).out == "late\n"
        finally:
            done.set()
            thread.join()


def test_a_durable_consumer_continues(stream: Cli, url: str) -> None:
    first = stream("sub --stream S --durable D --count 2 --raw", status=0)
    assert first.out == "body 1\nbody 2\n" and "Created durable consumer D" in first.err
    assert "Consumer S > D stays; jsctl consumer rm S D removes it\n" in first.err
    assert stream("sub --stream S --durable D -T --raw", status=0).out == "body 3\nbody 4\nbody 5\n"
    info = js.ask(url, "CONSUMER.INFO.S.D")
    assert info["ack_floor"]["stream_seq"] == 5 and info["num_ack_pending"] == 0
    assert stream("sub --stream S --durable D -T", status=0).out == ""


def test_no_ack(stream: Cli, url: str) -> None:
    stream("sub --stream S --durable D --count 2 --no-ack", status=0)
    assert js.ask(url, "CONSUMER.INFO.S.D")["num_ack_pending"] == 2


def test_a_push_consumer(stream: Cli, url: str) -> None:
    config = {
        "durable_name": "P",
        "deliver_subject": "out",
        "ack_policy": "explicit",
        "flow_control": True,
        "idle_heartbeat": 1_000_000_000,
        "deliver_policy": "all",
    }
    js.ask(url, "CONSUMER.CREATE.S.P", {"stream_name": "S", "config": config})
    assert len(shown(stream("sub --stream S --durable P -T", status=0).out)) == 5
    assert js.ask(url, "CONSUMER.INFO.S.P")["ack_floor"]["stream_seq"] == 5


def test_the_subject_of_a_push_consumer_acknowledged(stream: Cli, url: str) -> None:
    config = {
        "durable_name": "P",
        "deliver_subject": "out",
        "ack_policy": "explicit",
        "deliver_policy": "all",
    }
    js.ask(url, "CONSUMER.CREATE.S.P", {"stream_name": "S", "config": config})
    stream("sub out --ack --count 5", status=0)
    assert js.ask(url, "CONSUMER.INFO.S.P")["ack_floor"]["stream_seq"] == 5


def test_a_work_queue_is_left_alone(cli: Cli, url: str) -> None:
    js.stream(url, "W", "w", retention="workqueue", allow_direct=True)
    js.publish(url, "w", count=3)
    outcome = cli("sub --stream W --all -T", status=0)
    assert len(shown(outcome.out)) == 3 and "work queue" in outcome.err
    assert js.ask(url, "STREAM.INFO.W")["state"]["messages"] == 3


def test_domains(hub_cli: Cli, hub_leaf: object) -> None:
    for domain in ("hub", "leaf"):
        hub_cli(
            f"stream add {domain.upper()} --subjects {domain}.x --defaults --js-domain {domain}", status=0
        )
    hub_cli("pub -J leaf.x one", status=0)
    outcome = hub_cli("sub --stream LEAF --all -T --js-domain leaf", status=0)
    assert "stream: LEAF seq: 1" in outcome.out
    assert (
        "stream: LEAF" in hub_cli("sub leaf.x --all -T --direct --js-api-prefix '$JS.leaf.API'", status=0).out
    )
    first = hub_cli("sub --stream LEAF --durable D --count 1 --raw --js-domain leaf", status=0)
    assert first.out == "one\n"
    assert hub_cli("sub --stream LEAF --all -T --js-domain hub", status=3).out == ""


def test_a_closed_pipe_ends_it_before_the_next_message(cli: Cli) -> None:
    running = cli.start("sub q")
    assert running.stdout is not None and running.stderr is not None
    try:
        assert running.stderr.readline().startswith("Subscribing on q")
        running.stdout.close()
        assert running.wait(10) == 0
    finally:
        running.kill()


@pytest.mark.slow
def test_queue_groups_share(cli: Cli, url: str) -> None:
    running = [cli.start("sub q --queue g --wait 2s") for _ in range(2)]
    try:
        for process in running:
            assert process.stderr and "Subscribing" in process.stderr.readline()
        wait_for_subscribers(url, "q", count=2)
        js.send(url, "q", b"x", 20)
        outs = [process.communicate(timeout=60)[0] for process in running]
    finally:
        for process in running:
            process.kill()
    assert sum(len(shown(out)) for out in outs) == 20


def test_replies_are_matched(cli: Cli, url: str) -> None:
    async def ask() -> None:
        connection = await Connection.open(Settings(url=url))
        other = await Connection.open(Settings(url=url))
        try:
            async with other.subscribe("svc") as requests:
                await other.flush()
                task = asyncio.ensure_future(connection.request("svc", b"question"))
                message = await requests.next(5_000_000_000)
                assert message
                await other.publish(message.reply, b"answer")
                await task
        finally:
            await connection.close()
            await other.close()

    def work() -> None:
        wait_for_subscribers(url, "svc")
        asyncio.run(ask())

    thread = threading.Thread(target=work)
    thread.start()
    outcome = cli("sub svc --match-replies --count 1", status=0)
    thread.join()
    assert "question" in outcome.out and "Matched reply on" in outcome.out and "answer" in outcome.out


def test_what_is_shown(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s")
    cli("""pub s '{"a": 1}' -H K:v""", status=0)
    base = "sub --stream S --all -T"
    assert "K: v\n\n" in cli(base, status=0).out
    assert '{"a": 1}' not in cli(f"{base} --headers-only", status=0).out
    assert "K: v" in cli(f"{base} --headers-only", status=0).out
    assert len(cli(f"{base} --subjects-only", status=0).out.splitlines()) == 1
    assert '{\n  "a": 1\n}' in cli(f"{base} --pretty", status=0).out
    assert " @ 20" in cli(f"{base} -t", status=0).out
    assert cli(f"{base} --translate 'tr a-z A-Z' --raw", status=0).out == '{"A": 1}\n'
    assert cli(f"{base} --translate 'echo -n {{{{Subject}}}}' --raw", status=0).out == "s\n"
    assert "cannot run" in cli(f"{base} --translate /nope/x", status=64).err


def test_dumps(stream: Cli, tmp_path: Path) -> None:
    base = "sub --stream S --all -T --dump"
    stream(f"{base} {tmp_path}/folder", status=0)
    assert sorted(p.name for p in (tmp_path / "folder").iterdir()) == [f"{n}.json" for n in range(1, 6)]
    first = json.loads((tmp_path / "folder" / "1.json").read_text())
    assert list(first) == ["Subject", "Reply", "Header", "Data", "Sub"]
    assert first["Subject"] == "s.1" and first["Data"] == "Ym9keSAx" and first["Sub"] is None
    nul = stream(f"{base} -", status=0).out.split("\0")
    assert len(nul) == 6 and json.loads(nul[0])["Subject"] == "s.1"
    stream(f"{base} {tmp_path}/d.jsonl", status=0)
    record = json.loads((tmp_path / "d.jsonl").read_text().splitlines()[0])
    assert record.pop("time").endswith("Z")
    assert record == {"sequence": 1, "stream": "S", "subject": "s.1", "data": "body 1"}
    assert "cannot write" in stream(f"{base} /proc/nope/x", status=64).err


def test_reports(stream: Cli) -> None:
    outcome = stream("sub --stream S --all -T --report-subjects", status=0)
    assert "Top 10 Active Subjects Report" in outcome.out and "Totals" in outcome.out
    result = stream("sub --stream S --all -T --report-subjects --report-top 1 --json", status=0).json
    assert result == [
        {"subject": "s.1", "messages": 3, "bytes": 18},
        {"subject": "s.0", "messages": 2, "bytes": 12},
    ]


@pytest.mark.slow
def test_a_graph(cli: Cli, url: str) -> None:
    thread = later(url, "g.*", *[("g.a", b"x")] * 5)
    outcome = cli("sub 'g.*' --graph --wait 1500ms", status=0)
    thread.join()
    assert "g.*  5\n" in outcome.out
    thread = later(url, "g.*", *[("g.a", b"x")] * 5)
    assert "g.*: 0 / second" in cli("sub 'g.*' --graph --wait 2500ms", tty=True, status=0).out
    thread.join()


def test_inbox_and_wait(cli: Cli) -> None:
    began = time.monotonic()
    outcome = cli("sub --inbox --wait 300ms", status=0)
    assert "Subscribing on _INBOX." in outcome.err and time.monotonic() - began < 20


def test_a_refused_subscription(tmp_path: Path) -> None:
    from tests.support.servers import RealServer

    server = RealServer(
        tmp_path / "s",
        """
listen: "127.0.0.1:{port}"
authorization { users: [{user: u, password: p, permissions: {subscribe: ["ok", "_INBOX.>"], publish: ">"}}] }
""",
    ).start()
    try:
        failed = Cli(tmp_path / "c", server.url_for("u", "p"))("sub secret", status=5)
        assert (
            "not allowed to subscribe to secret (Permissions Violation); ask for that permission"
            in failed.err
        )
    finally:
        server.stop()


@pytest.mark.parametrize(
    "line",
    [
        "sub",
        "sub a -T",
        "sub a --all --new",
        "sub 'a b'",
        "sub --stream S --queue q",
        "sub a -t -d",
        "sub a --raw --dump x",
        "sub --inbox --dump -",
        "sub --stream S --start-sequence 0",
        "sub --stream S --durable D --direct",
    ],
)
def test_wrong_command_lines(line: str, cli: Cli) -> None:
    failed = cli(line, status=64)
    assert failed.out == "" and failed.err.count("\n") == 1


def test_a_dump_that_the_disk_does_not_take_holds_whole_messages(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "S", "s.>")
    js.publish(url, "s.a", b"x" * 300, count=20)
    file = tmp_path / "d.jsonl"
    environ = {**os.environ, **cli.environ, "PYTHONDONTWRITEBYTECODE": "1"}  # half of it would stay
    line = f"ulimit -f 2; {sys.executable} -m jsctl sub --stream S --all -T --dump {file}"
    ended = subprocess.run(["bash", "-c", line], env=environ, capture_output=True, text=True, check=False)
    messages = [json.loads(text) for text in file.read_text().splitlines()]
    assert ended.returncode == 1
    assert (
        f"cannot write to {file}: File too large; it holds the first {len(messages)} messages" in ended.stderr
    )
    assert [message["sequence"] for message in messages] == list(range(1, len(messages) + 1)) != []
