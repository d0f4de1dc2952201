"""Answers of another shape: each command ends with one line, whatever a man in the middle makes of them."""

import random
import time
from collections.abc import Iterator
from functools import partial

import pytest

from jsctl.jetstream.api import parse_response
from tests.fuzz.record import Record
from tests.support import js
from tests.support.hostile import Middleman, middleman, mutate_answer
from tests.support.run import Cli
from tests.support.servers import Account

COMMANDS = (
    "stream ls",
    "stream ls --names",
    "stream report",
    "stream info S",
    "stream state S",
    "stream subjects S",
    "stream gaps S",
    "stream find --json",
    "stream graph",
    "stream get S 1",
    "stream get S --last-for s.a",
    "stream view S --raw",
    "stream edit S --description x --force",
    "stream purge S --keep 5 --force",
    "stream add T --subjects t --defaults",
    "consumer ls S",
    "consumer report S",
    "consumer info S C",
    "consumer why S C",
    "consumer next S C",
    "consumer add S D --pull --defaults",
    "account info",
    "report --json",
    "report",
    "pub -J s.x hello",
    "rtt",
    "export config",
)
ENDS = (0, 1, 3, 4, 5)


@pytest.fixture
def man(own_account: Account) -> Iterator[Middleman]:
    """In the middle of an account with a stream and a consumer."""
    url = own_account.url
    js.stream(url, "S", "s.>")
    js.publish(url, "s.a", b"one")
    js.publish(url, "s.b", b"two")
    cli_url = url
    with middleman(own_account.server.port) as made:
        made.account_url = cli_url.replace(str(own_account.server.port), str(made.port))
        yield made


def run(cli: Cli, man: Middleman, line: str, record: Record) -> None:
    started = time.monotonic()
    outcome = cli(f"{line} --timeout 400ms", environ={"NATS_URL": man.account_url})
    spent = time.monotonic() - started
    assert spent < 5, (line, spent)
    record.slowest = max(record.slowest, spent)
    assert "bug in jsctl" not in outcome.err and "Traceback" not in outcome.err, (line, outcome.err)
    record.count(f"status {outcome.status}")


def _perhaps(chance: random.Random, _: bytes, payload: bytes) -> bytes:
    """Every other answer is changed, so that commands come further than the first."""
    return mutate_answer(payload, chance) if chance.random() < 0.5 else payload


@pytest.mark.slow
def test_commands(man: Middleman, offline_cli: Cli, cases: int, capfd: pytest.CaptureFixture[str]) -> None:
    offline_cli(f"consumer add S C --pull --defaults --server {man.account_url}", status=0)
    faults = []
    with Record("mutated answers of commands") as record:
        for number in range(cases):
            chance = random.Random(number)
            man.change = partial(_perhaps, chance)
            try:
                run(offline_cli, man, COMMANDS[number % len(COMMANDS)], record)
            except AssertionError as fault:
                faults.append((number, str(fault)[:300]))
    assert not faults, "\n".join(map(str, faults))
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.slow
def test_cut_and_drip(man: Middleman, offline_cli: Cli, cases: int) -> None:
    man.change = None
    with Record("answers cut at a byte") as record:
        for number in range(max(cases // 10, 20)):
            chance = random.Random(number)
            man.cut_at = chance.randrange(3000)
            run(offline_cli, man, "stream info S", record)
    man.cut_at, man.drip = -1, 1
    outcome = offline_cli("stream info S --json", environ={"NATS_URL": man.account_url}, status=0)
    assert outcome.json["config"]["name"] == "S"


def test_list_without_end(man: Middleman, offline_cli: Cli) -> None:
    """`total` is not true, and pages repeat."""
    man.change = lambda _, payload: payload.replace(b'"total":1', b'"total":1000000000000000000')
    outcome = offline_cli("stream ls --names", environ={"NATS_URL": man.account_url}, status=0)
    assert outcome.out.split() == ["S"]


def test_responses(cases: int) -> None:
    """The check itself: any bytes are an object of the right shape, or an error in one line."""
    seed = (
        b'{"type":"x","total":1,"offset":0,"limit":256,"streams":[{"config":{"name":"S","retention":"limits",'
        b'"storage":"file","max_msgs":-1,"max_bytes":-1,"max_age":0,"num_replicas":1,"subjects":["s"]},'
        b'"created":"2026-11-21T06:57:05Z","state":{"messages":1,"bytes":2,"first_seq":1,"last_seq":1,'
        b'"first_ts":"2026-11-21T06:57:05Z","last_ts":"2026-11-21T06:57:05Z","consumer_count":0}}]}'
    )
    assert parse_response(seed, "$JS.API.STREAM.LIST")["total"] == 1
    with Record("API responses") as record:
        for number in range(cases):
            chance = random.Random(number)
            data = mutate_answer(seed, chance)
            record.tried(partial(parse_response, data, "$JS.API.STREAM.LIST"), ())
