"""Answers of another shape: each command ends with one line, whatever a man in the middle makes of them."""

import itertools
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from jsctl.base.units import SECOND
from jsctl.jetstream.api import parse_response
from jsctl.jetstream.backup import snapshot
from tests.fuzz.commands import is_endless, make_again, prepare, system_lines, without_spark
from tests.fuzz.commands import lines as command_lines
from tests.fuzz.record import Record, cases, max_seconds
from tests.support import js
from tests.support.hostile import Change, Middleman, hostile_server, middleman, mutate_answer
from tests.support.interrupting import interrupt
from tests.support.run import Cli, Outcome
from tests.support.servers import Account, free_port

REFUSED = (0, 1, 2, 3, 4, 5, 64)
"""Statuses with which a command may end."""


@pytest.fixture
def man(own_account: Account) -> Iterator[Middleman]:
    """In the middle of an account with a stream and a consumer."""
    url = own_account.url
    js.stream(url, "S", "s.>")
    js.publish(url, "s.a", b"one")
    js.publish(url, "s.b", b"two")
    cli_url = url
    with middleman(own_account.server.port) as raised:
        raised.account_url = cli_url.replace(str(own_account.server.port), str(raised.port))
        raised.system_url = f"nats://admin:admin@127.0.0.1:{raised.port}"
        yield raised


def run(
    cli: Cli,
    man: Middleman | None,
    line: Sequence[str],
    record: Record,
    *,
    endless: bool = False,
    url: str = "",
) -> None:
    """Run a command through the man in the middle, or at `url`; one without an end is interrupted."""
    environ = {"NATS_URL": url or (man.account_url if man else ""), "EDITOR": "true"}
    started = time.monotonic()
    outcome = interrupt(lambda: cli(line, environ=environ), 0.4) if endless else cli(line, environ=environ)
    spent = time.monotonic() - started
    assert spent < max_seconds(), (line, spent)
    record.slowest = max(record.slowest, spent)
    assert "bug in jsctl" not in outcome.err and "Traceback" not in outcome.err, (line, outcome.err[-700:])
    assert outcome.status in REFUSED or (endless and outcome.status == 130), (line, outcome.err)
    record.count(f"status {outcome.status}")


def _perhaps(chance: random.Random, _: bytes, payload: bytes) -> bytes:
    """Every other answer is changed, so that commands come further than the first."""
    return mutate_answer(payload, chance) if chance.random() < 0.5 else payload


@pytest.mark.long
def test_commands(
    man: Middleman,
    own_account: Account,
    offline_cli: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Twice each verb of the registry that starts no server; JSCTL_FUZZ times that. Those of Spark end where
    its session would begin; test_spark_reader has what reads in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(snapshot, "_MIN_TIMEOUT", SECOND)  # a server may take long to read a stream
    prepare(Cli(tmp_path, own_account.url), own_account.url, tmp_path)
    lines = command_lines(tmp_path)
    faults = []
    with without_spark(), Record("mutated answers of commands") as record:
        for number in range(cases(2 * len(lines))):
            path = list(lines)[number % len(lines)]
            make_again(own_account.url)
            chance = random.Random(number)
            man.change = partial(_perhaps, chance)
            try:
                run(offline_cli, man, lines[path], record, endless=is_endless(path))
            except AssertionError as fault:
                faults.append((number, str(fault)[:1000]))
    record.count(f"verbs {len(lines)}")
    assert not faults, "\n".join(map(str, faults))
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.long
def test_system_commands(
    man: Middleman, offline_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verbs about servers, as the system account."""
    monkeypatch.chdir(tmp_path)
    lines = system_lines(tmp_path, "test-server")
    faults = []
    with Record("mutated answers to the system account") as record:
        for number in range(cases(len(lines))):
            path = list(lines)[number % len(lines)]
            man.change = partial(_perhaps, random.Random(number))
            try:
                run(offline_cli, man, lines[path], record, endless=is_endless(path), url=man.system_url)
            except AssertionError as fault:
                faults.append((number, str(fault)[:1000]))
    record.count(f"verbs {len(lines)}")
    assert not faults, "\n".join(map(str, faults))


@pytest.mark.long
def test_cut_and_drip(man: Middleman, offline_cli: Cli) -> None:
    man.change = None
    with Record("answers cut at a byte") as record:
        for number in range(cases(40)):
            chance = random.Random(number)
            man.cut_at = chance.randrange(3000)
            run(offline_cli, man, ["stream", "info", "S", "--timeout", "300ms"], record)
    man.cut_at, man.drip = -1, 1
    outcome = offline_cli("stream info S --json", environ={"NATS_URL": man.account_url}, status=0)
    assert outcome.json["config"]["name"] == "S"


INTERRUPTED = """
import os, signal, sys, threading, time
from jsctl.app import main

def interrupt(after=float(sys.argv.pop(1))):
    time.sleep(after)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
main()
"""


def names_page(pages: Iterator[list[str]]) -> Change:
    """Makes an answer with names of streams of each that the server gives, of 10^18 in all."""

    def change(_: bytes, payload: bytes) -> bytes:
        if b"stream_names" not in payload:
            return payload
        return json.dumps({"total": 10**18, "offset": 0, "limit": 2, "streams": next(pages)}).encode()

    return change


def more_messages() -> Change:
    """Gives a message where the server has no further one, of 10^18 in all."""
    numbers = itertools.count(100)

    def change(_: bytes, payload: bytes) -> bytes:
        if b'"code":404' not in payload:
            return re.sub(rb'"last_seq":\d+', b'"last_seq":1000000000000000000', payload)
        message = {"subject": "s.a", "seq": next(numbers), "data": "eA==", "time": "2026-11-21T06:57:05Z"}
        return json.dumps({"message": message}).encode()

    return change


ENDLESS = b'"total":1000000000000000000'


def test_lists_without_end(man: Middleman, offline_cli: Cli) -> None:
    """`total` is not true, and pages repeat, or two of them take turns; or the same message comes again."""

    def run(line: str, status: int = 0) -> Outcome:
        return offline_cli(line, environ={"NATS_URL": man.account_url}, status=status)

    man.change = lambda _, payload: payload.replace(b'"total":1', ENDLESS)
    assert run("stream ls --names").out.split() == ["S"]
    man.change = lambda _, payload: payload.replace(b'"total":2', ENDLESS)
    assert run("stream subjects S --json").json == {"s.a": 1, "s.b": 1}
    man.change = names_page(itertools.cycle([["A", "B"], ["C", "D"], ["E", "F"]]))
    names = run("stream ls --names").out.split()
    # Pages that are asked for at once are not answered in their order: it may end before all have come.
    assert len(names) == len(set(names)) and {*"ABCD"} <= {*names} <= {*"ABCDEF"}
    first = b'{"message":{"subject":"s.a","seq":1,"data":"eA==","time":"2026-11-21T06:57:05Z"}}'
    man.change = lambda _, payload: first if b'"code":404' in payload else payload
    failed = run("stream view S --raw --subject s.a", status=1)
    assert "malformed" in failed.err and failed.err.count("\n") == 1


@pytest.mark.long
def test_no_interrupt_is_lost(man: Middleman, tmp_path: Path) -> None:
    """Wherever a command is: at its start, waiting for an answer, a login, a server that is away, or busy."""
    names = names_page([f"N{number}", "M"] for number in itertools.count())
    messages = more_messages()
    man.change = lambda subject, payload: messages(subject, names(subject, payload) or b"")
    away = f"nats://127.0.0.1:{free_port()}"
    with hostile_server(pong=b"") as silent, hostile_server() as mute:
        lines = {
            "a list without end": f"stream ls --names --server {man.account_url}",
            "a stream without end": f"stream view S --server {man.account_url}",
            "no answer": f"stream ls --server {mute}",
            "no answer to a request": f"request x y --server {mute}",
            "no login": f"stream ls --server {silent}",
            "subscribed": f"sub x --server {mute}",
            "a live report": f"report --watch --json --server {mute}",
            "a configuration from stdin": f"stream add X --config - --server {man.account_url}",
            "a dump from stdin": f"pub --from-dump - --server {mute}",
            "a body from stdin": f"pub x - --server {mute}",
            "away": f"report --watch --json --server {away}",
        }
        with Record("interrupts") as record:
            for round in range(cases(1)):
                children = {}
                for name, line in lines.items():
                    after = random.Random(f"{name} {round}").uniform(0, 1.2) if round else 0.7
                    words = f"{after} {line} --timeout 60s".split()
                    children[name] = subprocess.Popen(
                        [sys.executable, "-c", INTERRUPTED, *words],
                        env={**os.environ, **Cli(tmp_path).environ, "PYTHONUNBUFFERED": "1"},
                        stdin=subprocess.PIPE,
                        stdout=subprocess.DEVNULL,
                        stderr=subprocess.PIPE,
                    )
                for name, child in children.items():
                    child.wait(20)  # its stdin stays open
                    _, err = child.communicate()
                    ended = (0, 130) if name in ("subscribed", "a live report", "away") else (130,)
                    found = name, child.returncode, err
                    assert child.returncode in ended and b"Traceback" not in err, found
                    assert b"never" not in err, found  # awaited, retrieved
                    record.count(name)


def test_responses() -> None:
    """The check itself: any bytes are an object of the right shape, or an error in one line."""
    seed = (
        b'{"type":"x","total":1,"offset":0,"limit":256,"streams":[{"config":{"name":"S","retention":"limits",'
        b'"storage":"file","max_msgs":-1,"max_bytes":-1,"max_age":0,"num_replicas":1,"subjects":["s"]},'
        b'"created":"2026-11-21T06:57:05Z","state":{"messages":1,"bytes":2,"first_seq":1,"last_seq":1,'
        b'"first_ts":"2026-11-21T06:57:05Z","last_ts":"2026-11-21T06:57:05Z","consumer_count":0}}]}'
    )
    assert parse_response(seed, "$JS.API.STREAM.LIST")["total"] == 1
    with Record("API responses") as record:
        for number in range(cases(500)):
            chance = random.Random(number)
            data = mutate_answer(seed, chance)
            record.tried(partial(parse_response, data, "$JS.API.STREAM.LIST"), ())
