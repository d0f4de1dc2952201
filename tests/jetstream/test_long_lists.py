"""Lists of several pages: complete, in order, and no more in memory than what is shown."""

import asyncio
import gc
import subprocess
import sys
from collections.abc import Awaitable, Callable

import pytest

from jsctl.base.units import SECOND
from jsctl.contexts.settings import Settings
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.stream import requests as streams
from jsctl.monitor.origins import fetch_report
from jsctl.nats.connection import Connection
from jsctl.views.stream.ls import list_row
from tests.bench.streams import create
from tests.support import js
from tests.support.run import Cli
from tests.support.servers import AccountServers

NAMES = [f"ORDERS_{number:05}" for number in range(1300)]
PAGE = 256  #: infos in a page of nats-server


@pytest.fixture(scope="module")
def many(account_servers: AccountServers) -> str:
    """The URL of an account with many streams."""
    url = account_servers.new_account().url
    asyncio.run(create(url, len(NAMES)))
    js.stream(url, "KV_hidden", "$KV.hidden.>", storage="memory")
    return url


@pytest.fixture
def cli_many(cli: Cli, many: str) -> Cli:
    cli.environ["NATS_URL"] = many
    return cli


def test_names_are_all_there_in_order(cli_many: Cli) -> None:
    for words in ("stream ls --names", "stream find --names"):
        assert cli_many(words, status=0).out.split() == ["KV_hidden", *NAMES]
        assert cli_many(f"{words} --json", status=0).json == ["KV_hidden", *NAMES]
    assert cli_many("stream ls --json", status=0).json == NAMES
    assert cli_many("stream ls --json --all", status=0).json == ["KV_hidden", *NAMES]


def test_what_is_found_is_one_document(cli_many: Cli) -> None:
    result = cli_many("stream find --empty --json", status=0).json
    assert [info["config"]["name"] for info in result] == NAMES
    assert cli_many("stream find --empty --invert --json", status=0).json == []
    assert cli_many("stream find --empty --invert --names", status=0).out == ""


def test_tables_have_a_row_each(cli_many: Cli) -> None:
    rows = cli_many("stream ls --as csv", status=0).out.splitlines()
    assert [row.partition(",")[0] for row in rows] == ["name", *NAMES]
    report = cli_many("stream report --json --name", status=0).json
    assert [row["stream"] for row in report["streams"] if row["stream"] in NAMES] == NAMES


@pytest.mark.parametrize("words", ["stream ls --names", "stream find --json", "stream ls", "stream report"])
def test_a_reader_that_has_enough_ends_it(many: str, words: str) -> None:
    command = [sys.executable, "-m", "jsctl", "-s", many, *words.split()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout and process.stderr
        assert process.stdout.readline()
        process.stdout.close()
        assert process.wait(10) == 0
        assert b"rror" not in process.stderr.read()


def infos_held() -> int:
    gc.collect()
    configs = [one["config"] for one in gc.get_objects() if type(one) is dict and "config" in one]
    return sum(isinstance(one, dict) and str(one.get("name")).startswith("ORDERS_") for one in configs)


def ask(url: str, work: Callable[[Api], Awaitable[None]]) -> None:
    async def connected_work() -> None:
        connection = await Connection.open(Settings(url=url, timeout=30 * SECOND))
        try:
            await work(Api(connection))
        finally:
            await connection.close()

    asyncio.run(connected_work())


def test_consumers_of_several_pages(cli: Cli, url: str) -> None:
    names = [f"C{number:03}" for number in range(PAGE + 50)]
    js.stream(url, "S", "s.>", storage="memory")
    asyncio.run(consume(url, names))
    for words in ("consumer ls S --names", "consumer find S --pull"):
        assert cli(words, status=0).out.split() == names
        assert cli(f"{words} --json", status=0).json == names
    assert len(cli("consumer ls S --as csv", status=0).out.splitlines()) == len(names) + 1
    assert len(cli("consumer report S --json", status=0).json["consumers"]) == len(names)


async def consume(url: str, names: list[str]) -> None:
    connection = await Connection.open(Settings(url=url, timeout=30 * SECOND))
    api = Api(connection)
    try:
        await asyncio.gather(
            *(consumers.create(api, "S", {"durable_name": name, "ack_policy": "explicit"}) for name in names)
        )
    finally:
        await connection.close()


def test_pages_go_when_they_were_read(many: str) -> None:
    async def read(api: Api) -> None:
        async for page in streams.list_info_pages(api):
            del page
            held.append(infos_held())

    held: list[int] = []
    ask(many, read)
    assert len(held) == -(-(len(NAMES) + 1) // PAGE)
    assert max(held) <= 2 * PAGE


def test_rows_are_kept_and_their_pages_not(many: str) -> None:
    held: list[int] = []

    def keep(info: Json) -> object:
        if info["config"]["name"].endswith("00"):
            held.append(infos_held())
        return list_row(info, 0)

    async def read(api: Api) -> None:
        assert len((await streams.collect(api, keep)).items) == len(NAMES) + 1
        assert len((await fetch_report(api)).streams) == len(NAMES) + 1
        assert infos_held() == 0

    ask(many, read)
    assert max(held) <= 2 * PAGE


def test_a_list_that_is_left_early_asks_no_further(many: str) -> None:
    async def read(api: Api) -> None:
        pages = streams.list_name_pages(api)
        async for page in pages:
            assert page[0] == "KV_hidden"
            break
        await pages.aclose()
        assert (await streams.fetch_info(api, NAMES[0]))["config"]["name"] == NAMES[0]

    ask(many, read)
