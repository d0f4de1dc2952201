"""What the documents do with `pub`."""

import base64
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from jsctl.nats.headers import parse_headers
from tests.support import js
from tests.support.cases import sample
from tests.support.run import Cli
from tests.support.waiting import wait_until


@pytest.fixture
def stream(cli: Cli, url: str) -> Cli:
    """With a stream S on s.>."""
    js.stream(url, "S", "s.>")
    return cli


def stored(url: str, seq: int) -> str:
    """The body of a message, in base64."""
    return str(js.ask(url, "STREAM.MSG.GET.S", {"seq": seq})["message"]["data"])


def test_a_message(stream: Cli, url: str) -> None:
    outcome = stream('pub s.a "hello world"', status=0)
    assert outcome.out == "" and 'Published 11 bytes to "s.a"' in outcome.err
    assert stored(url, 1) == "aGVsbG8gd29ybGQ="


def test_stdin(stream: Cli, url: str) -> None:
    stream("pub s.a", stdin="hello world", status=0)
    assert stored(url, 1) == "aGVsbG8gd29ybGQ="


def test_many(stream: Cli) -> None:
    assert "50,000 messages" in stream("pub s.a hello --count 50000", status=0).err
    deadline = time.monotonic() + 10
    while stream("stream info S --json", status=0).json["state"]["messages"] < 50_000:
        assert time.monotonic() < deadline


def test_no_stream_stores_it(cli: Cli) -> None:
    failed = cli("pub nobody x -J", status=4)
    assert "no stream" in failed.err and failed.err.count("\n") == 1


def test_a_stream_that_refuses(cli: Cli) -> None:
    cli("stream add S --subjects s --max-msgs 1 --discard new", status=0)
    assert "maximum messages exceeded" in cli("pub s x -J --count 3", status=1).err


def headers(url: str, seq: int) -> list[tuple[str, str]]:
    """The headers of a message."""
    return parse_headers(base64.b64decode(js.ask(url, "STREAM.MSG.GET.S", {"seq": seq})["message"]["hdrs"]))


def test_an_ack_is_shown(stream: Cli) -> None:
    outcome = stream("pub -J s.a hello", status=0)
    assert (outcome.out, outcome.err.splitlines()[1:]) == ("", ["Stored in Stream: S Sequence: 1"])
    assert stream("pub -J s.a hello --json", status=0).json == {"stream": "S", "seq": 2}
    assert stream("pub -J s.a hello -q", status=0).err == ""
    again = stream("pub -J s.a x -H Nats-Msg-Id:7 --count 2", status=0).err.splitlines()[1::2]
    assert again == ["Stored in Stream: S Sequence: 4", "Stored in Stream: S Sequence: 4 Duplicate: true"]


def test_many_acks_are_summed_up(stream: Cli, url: str) -> None:
    outcome = stream("pub -J s.{{Count}} 'message {{Count}}' --count 3000", status=0)
    assert "Stored in Stream: S Sequences: 1 to 3,000" in outcome.err
    assert outcome.out == ""
    sums = stream("pub -J s.a x --count 30 --json", status=0).json
    assert sums["streams"] == [{"stream": "S", "first_seq": 3001, "last_seq": 3030}]
    message = js.ask(url, "STREAM.MSG.GET.S", {"seq": 1234})["message"]
    assert message["subject"] == "s.1234" and message["data"] == "bWVzc2FnZSAxMjM0"


def test_headers_keep_order_and_duplicates(stream: Cli, url: str) -> None:
    stream("pub s.a x -H 'A: {{Count}}' -H B:2 -H A:3", status=0)
    assert headers(url, 1) == [("A", "1"), ("B", "2"), ("A", "3")]
    for wrong in ("nocolon", ":x", "a b:c"):
        assert stream(["pub", "s.a", "x", "-H", wrong], status=64).err.count("\n") == 1


@pytest.mark.parametrize(("zone", "end"), [("UTC", "Z"), ("Asia/Kolkata", "+05:30")])
def test_the_zone_of_a_time_stamp(zone: str, end: str, stream: Cli, url: str) -> None:
    """As in nats: Z for UTC."""
    run(stream, f"TZ={zone} $JSCTL pub s.a '{{{{TimeStamp}}}}' -J")
    stamp = base64.b64decode(stored(url, 1)).decode()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d" + re.escape(end), stamp)


def test_lines_of_stdin(stream: Cli, url: str) -> None:
    outcome = stream("pub s.a --send-on newline -J", stdin="one\ntwo {{Count}}\r\n\nlast", status=0)
    assert outcome.err.count("Stored") == 4
    assert [stored(url, seq) for seq in (1, 2, 4)] == ["b25l", "dHdvIDI=", "bGFzdA=="]


def test_templates_can_be_off(stream: Cli, url: str) -> None:
    stream("pub s.a '{{Count}}' --no-templates", status=0)
    assert stored(url, 1) == "e3tDb3VudH19"


def test_unknown_templates_are_sent_as_they_are(stream: Cli, url: str) -> None:
    outcome = stream("pub s.a 'a {{ .Values.x }} {{Count}}{{' -J", status=0)
    assert base64.b64decode(stored(url, 1)) == b"a {{ .Values.x }} 1{{"
    assert outcome.err.startswith(
        "jsctl: {{.Values.x}}: no template function of that name, sent as it is; there"
    )
    assert outcome.err.count("no template function") == 1
    long = stream(["pub", "s.a", "{{" + "x" * 10_000 + "}}"], status=0)
    assert "{{" + "x" * 37 + "...}}: no template function" in long.err
    lines = stream("pub s.a --send-on newline", stdin="{{a}}\n{{a}}\n{{a}}\n", status=0)
    assert lines.err.count("no template function") == 1
    assert "in the subject is not a template function" in stream("pub 's.{{Nope}}' x", status=64).err
    assert stream("pub s.a x -H 'A: {{b}}'", status=0).err.count("no template function") == 1


def run(cli: Cli, command: str, status: int = 0) -> "subprocess.CompletedProcess[str]":
    """Run a command of bash in which $JSCTL is jsctl, and check its exit status."""
    ended = subprocess.run(
        ["bash", "-c", command],
        env={**os.environ, **cli.environ, "JSCTL": f"{sys.executable} -m jsctl", "PY": sys.executable},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == status, ended
    return ended


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    sample(
        [
            "printf hello | $JSCTL pub s.a",
            "printf hello | timeout 20 $JSCTL pub s.a -J",
            "printf hello | sh -c '$JSCTL pub s.a; true'",
            "printf hello | sh -c 'sh -c \"$JSCTL pub s.a -J; true\"; true'",
            "printf hello > FILE; cat FILE | sh SCRIPT",
            "printf hello | bash -c 'time $JSCTL pub s.a'",
            "printf hello | nice env A=1 $JSCTL pub s.a",
            "(sleep 1; printf hel; sleep 1; printf lo) | $JSCTL pub s.a; true",
            "$JSCTL pub s.a < FILE; true",
            "sh -c '$JSCTL pub s.a; true' < FILE",
            "printf hello | { $JSCTL pub s.a; true; }",
            "f() { $JSCTL pub s.a; true; }; printf hello | f",
            "$JSCTL pub s.a <<< hello",
            "$JSCTL pub s.a < <(printf hello)",
            "$JSCTL pub s.a <<EOF\nhello\nEOF",
            "{ $JSCTL pub s.a -; true; } < FILE",
            "{ $JSCTL pub s.a --force-stdin; true; } < FILE",
            "{ $JSCTL pub s.a --send-on newline; true; } < FILE",
            "printf 'x\\nhello' > FILE; { read x; $JSCTL pub s.a -; } < FILE",
            "printf 'x\\nhello' > FILE; { read x; $JSCTL pub s.a --force-stdin; } < FILE",
            "printf 'x\\nhello' | { read x; $JSCTL pub s.a; }",
            # another process made the pipe non-blocking
            "(sleep 1; printf hello) | { $PY -c 'import os; os.set_blocking(0, False)'; $JSCTL pub s.a; }",
        ],
        3,
    ),
)
def test_stdin_is_the_body(command: str, stream: Cli, url: str, tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_text("hello")
    script = tmp_path / "script"
    script.write_text("$JSCTL pub s.a")
    run(stream, command.replace("FILE", str(file)).replace("SCRIPT", str(script)))
    assert base64.b64decode(stored(url, 1)).rstrip() == b"hello"
    assert js.ask(url, "STREAM.INFO.S")["state"]["messages"] == 1


def test_stdin_is_the_body_under_make(stream: Cli, url: str, tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("publish:\n\t@$(JSCTL) pub s.a --count 2 -J\n")
    run(stream, f"printf 'n {{{{Count}}}}' | make -s -C {tmp_path} publish")
    assert [base64.b64decode(stored(url, seq)) for seq in (1, 2)] == [b"n 1", b"n 2"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "line", sample(["pub s.a", "pub s.a --send-on newline", "req s.a", "pub s.a -J --count 3"], 2)
)
def test_the_list_of_a_loop_is_no_body(line: str, stream: Cli, url: str, tmp_path: Path) -> None:
    file = tmp_path / "lines"
    file.write_text("a\nb\nc\n")
    ended = run(stream, f"while read -r x; do $JSCTL {line} || exit; done < {file}", status=64)
    assert "</dev/null" in ended.stderr and ended.stderr.count("\n") == 1
    assert js.ask(url, "STREAM.INFO.S")["state"]["messages"] == 0
    run(stream, f"while read -r x; do $JSCTL pub s.$x </dev/null; $JSCTL pub s.$x ''; done < {file}")
    state = js.ask(url, "STREAM.INFO.S", {"subjects_filter": ">"})["state"]
    assert state["subjects"] == {"s.a": 2, "s.b": 2, "s.c": 2} and state["bytes"] < 6 * 60


@pytest.mark.parametrize("redirection", ["< /dev/null", "<&-", "< EMPTY"])
def test_nothing_on_stdin_is_an_empty_body(redirection: str, stream: Cli, url: str, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    ended = run(stream, f"$JSCTL pub s.a -J {redirection.replace('EMPTY', str(empty))}")
    assert js.ask(url, "STREAM.MSG.GET.S", {"seq": 1})["message"].get("data") is None
    assert ended.stderr == 'Published 0 bytes to "s.a"\nStored in Stream: S Sequence: 1\n'


def test_a_stdin_that_cannot_be_read_is_no_empty_body(stream: Cli, url: str) -> None:
    """As nohup leaves it."""
    ended = run(stream, "$JSCTL pub s.a 0> /dev/null", status=64)
    assert "cannot read stdin" in ended.stderr and ended.stderr.count("\n") == 1
    assert js.ask(url, "STREAM.INFO.S")["state"]["messages"] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("pub s.a -J", "the body"),
        ("kv put B k", "the value"),
        *(
            pytest.param(*case, marks=pytest.mark.long)
            for case in (
                ("pub s.a --send-on newline -J", "the body"),
                ("req s.a", "the body"),
                ("kv create B k ''", "the value"),
                ("object put O --name n", "the object"),
                ("schema validate stream_configuration", "the document"),
            )
        ),
    ],
)
def test_a_silent_stdin_is_announced(line: str, name: str, stream: Cli) -> None:
    if "kv" in line or "object" in line:
        stream("kv add B", status=0)
        stream("object add O", status=0)
    with stream.start(line, stdin=subprocess.PIPE) as process:
        assert process.stdin and process.stderr
        notice = f"jsctl: waiting for {name} on stdin, up to its end; add </dev/null if it is empty\n"
        assert process.stderr.readline() == notice
        process.stdin.write('{"name": "A"}')
        process.stdin.close()
        errors = process.stderr.read()
        assert process.wait(20) == 0, errors
        assert "waiting" not in errors


def test_flags_replace_headers_of_the_same_name(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "S", "s.>", allow_msg_ttl=True, allow_msg_schedules=True)
    cli("pub s.a x --ttl 2m -H nats-ttl:5s -H A:1", status=0)
    assert headers(url, 1) == [("A", "1"), ("Nats-TTL", "120s")]
    line = "--schedule-after 1h --schedule-dest s.x -H Nats-Schedule-Target:s.y -H 'Nats-Schedule: @every 9s'"
    cli(f"pub s.plan x {line}", status=0)
    assert [value for name, value in headers(url, 2) if name == "Nats-Schedule-Target"] == ["s.x"]
    assert [name for name, _ in headers(url, 2)].count("Nats-Schedule") == 1
    cli("pub s.b x --schedule-every 1h -H Nats-Schedule-Target:s.y", status=0)
    assert headers(url, 3)[:2] == [("Nats-Schedule-Target", "s.y"), ("Nats-Schedule", "@every 3600s")]
    outcome = cli("pub s.c x -H 'Nats-Schedule: @every 1h' -H Nats-Schedule-Target:s.y", status=0)
    assert outcome.err.endswith("Stored in Stream: S Sequence: 4\n")
    file = tmp_path / "dump.jsonl"
    file.write_text('{"subject": "s.d", "data": "x", "headers": {"Nats-TTL": ["5s"], "A": ["1"]}}\n')
    cli(f"pub --from-dump {file} --ttl 2m", status=0)
    assert headers(url, 5) == [("A", "1"), ("Nats-TTL", "120s")]


def test_atomic_batches(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s.>", allow_atomic=True)
    outcome = cli("pub s.a --atomic --send-on newline", stdin="1\n2\n3\n", status=0)
    assert outcome.err.startswith("Wrote batch ID: ") and "Messages: 3 Sequence: 3" in outcome.err
    assert cli("pub s.a x --atomic --count 1001", status=64).err.startswith("jsctl: error: 1,001 messages")
    failed = cli("pub s.a x --atomic --count 3 -H Nats-Expected-Last-Sequence:7")
    assert failed.status == 1 and failed.err.count("\n") == 1
    state = js.ask(url, "STREAM.INFO.S")["state"]
    assert state["messages"] == 3  # none of the failed batch


def test_a_stream_without_batches(stream: Cli, url: str) -> None:
    failed = stream("pub s.a x --atomic --count 2")
    assert failed.status in (1, 64) and "atomic" in failed.err
    assert js.ask(url, "STREAM.INFO.S")["state"]["messages"] == 0


def test_ttl_and_schedules(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s.>", allow_msg_ttl=True, allow_msg_schedules=True)
    cli("pub s.a x --ttl 2m", status=0)
    assert headers(url, 1) == [("Nats-TTL", "120s")]
    cli("pub s.plan x --schedule-after 1s --schedule-dest s.target", status=0)
    wait_until(lambda: cli("sub s.target --all -T --raw", status=0), lambda outcome: outcome.out == "x\n")
    for wrong in ("--schedule-after 1s", "--ttl 10ms", "--schedule-at soon --schedule-dest s.x"):
        assert cli(f"pub s.a x {wrong}", status=64).err.count("\n") == 1


@pytest.mark.parametrize(
    "line",
    [
        "pub",
        "pub 'a b' x",
        "pub a.* x",
        "pub a --from-dump x body",
        "pub a x --send-on now",
        "pub a x --reply b -J",
        "pub a x --original-pace",
        "pub --from-dump /nope/x",
    ],
)
def test_wrong_command_lines(line: str, cli: Cli) -> None:
    failed = cli(line, status=64)
    assert failed.out == "" and failed.err.startswith("jsctl: error: ") and failed.err.count("\n") == 1


@pytest.mark.parametrize("line", ["pub 'a b' x", "pub 's.{{Nope}}' x", "pub s.a x -H K", "req 'a b' x"])
def test_what_is_wrong_is_found_before_it_connects(line: str, offline_cli: Cli) -> None:
    offline_cli(line, status=64)


def test_too_large(cli: Cli) -> None:
    failed = cli("pub a --count 2", stdin="x" * 1_100_000, status=64)
    assert "1,048,576" in failed.err


def test_a_bar_on_a_terminal_only(stream: Cli) -> None:
    line = "pub s.a x --count 40 --sleep 10ms"
    began = time.monotonic()
    shown = stream(line, tty=True, status=0)
    seconds = time.monotonic() - began
    assert "Publishing" in shown.err and "40/40" not in stream(line, status=0).err
    assert shown.err.count("Publishing") < min(40, 10 * seconds + 4), "ten times a second"


def test_a_dump_injects_nothing(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "S", "a.>", "b.>", "injected", "zz")
    for number, (subject, reply) in enumerate((("subject", "reply"), ("Subject", "Reply"))):
        message = {subject: "a", reply: "zz 0\r\n\r\nPUB injected 1\r\nx\r\nPUB b"}
        file = tmp_path / f"{number}.jsonl"
        file.write_text(json.dumps(message))
        refused = cli(f"pub --from-dump {file}", status=64)
        assert "line 1" in refused.err and refused.err.count("\n") == 1
    file.write_text('{"subject": "a", "data": "x"}')
    cli(["pub", "b c{{Count}}", "--from-dump", str(file)], status=64)
    cli(["pub", "b.{{Count}}", "--from-dump", str(file)], status=0)
    assert list(js.ask(url, "STREAM.INFO.S", {"subjects_filter": ">"})["state"]["subjects"]) == ["b.1"]


def test_a_dump_is_published_again(cli: Cli, url: str, tmp_path: object) -> None:
    js.stream(url, "S", "s.>")
    js.stream(url, "T", "t.>")
    cli("pub s.a 'text {{Count}}' -H K:1 -H K:2 --count 3 --sleep 200ms", status=0)
    file = f"{tmp_path}/dump.jsonl"
    cli(f"sub --stream S --all -T --dump {file}", status=0)
    began = time.monotonic()
    outcome = cli(f"pub t.b --from-dump {file} --original-pace -J", status=0)
    assert time.monotonic() - began > 0.35
    assert "Sequences: 1 to 3" in outcome.err
    lines = cli("sub --stream T --all -T --json", status=0).out.splitlines()
    records = [json.loads(line) for line in lines]
    assert [(r["subject"], r["data"], r["headers"]) for r in records] == [
        ("t.b", f"text {n}", {"K": ["1", "2"]}) for n in (1, 2, 3)
    ]


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        (
            {"max_msgs": 1, "discard": "new"},
            "(10077); jsctl stream info ORDERS shows its limits; jsctl stream purge ORDERS makes room",
        ),
        (
            {"max_msg_size": 1},
            "(10054); jsctl stream edit ORDERS --max-msg-size SIZE raises the stream's limit",
        ),
    ],
)
def test_what_a_full_stream_refuses_says_what_to_do(
    cli: Cli, url: str, limits: dict[str, Any], says: str
) -> None:
    js.stream(url, "ORDERS", "ORDERS.>", **limits)
    js.publish(url, "ORDERS.a", b"1")
    assert says in cli("pub -J ORDERS.b two", status=1).err


def test_a_dump_without_a_terminal(cli: Cli, url: str, tmp_path: Path) -> None:
    """As a timer runs it: stdin is no body, and none is missing."""
    js.stream(url, "S", "s.>")
    file = tmp_path / "dump.jsonl"
    file.write_text('{"subject": "s.d", "data": "eA=="}\n')
    process = cli.start(f"pub --from-dump {file}", stdin=subprocess.DEVNULL)
    assert process.wait(20) == 0, process.communicate()
    js.wait_until_stored(url, "S", 1)
