"""`account info` on real servers."""

import asyncio
import json
from pathlib import Path

from jsctl.contexts.settings import Settings
from jsctl.monitor.account import fetch_login
from jsctl.nats.connection import Connection
from tests.support.run import Cli
from tests.support.servers import HubLeaf


def test_info(cli: Cli, account: str) -> None:
    plain = cli("account info", status=0)
    assert "Connected Server Version: 2." in plain.out
    assert "Streams: 3 of unlimited" in plain.out
    assert "JetStream Account Information:" in plain.out.splitlines()  # what scripts look for
    assert "Account Information" in cli("a nfo", tty=True, status=0).out
    password = account.split("@")[0].split(":")[-1]
    user = account.split("//")[1].split(":")[0]
    assert f"{user}:{password}" not in plain.out
    document = cli("account info --json", status=0).json
    assert document["jetstream"]["streams"] == 3
    assert document["user"]["user"] == user
    assert f":{password}@" not in json.dumps(document)


def test_info_where_jetstream_is_off(tmp_path: Path, system_url: str) -> None:
    cli = Cli(tmp_path / "config", system_url)
    shown = cli("account info", status=0)
    assert "Connected URL" in shown.out and "System Account: true" in shown.out
    assert shown.err == "jsctl: JetStream is not enabled in this account\n" and "JetStream" not in shown.out
    document = cli("account info --json", status=0).json
    assert document["jetstream"] is None and document["error"]


def test_the_user_is_that_of_the_connected_server(hub_leaf: HubLeaf) -> None:
    """A server behind a leaf node replies first to 7 in 100 requests, about the leaf node's connection."""

    async def work() -> set[tuple[str, str]]:
        connection = await Connection.open(Settings(url=hub_leaf.url))
        try:
            logins = [await fetch_login(connection) for _ in range(300)]
        finally:
            await connection.close()
        return {(login["user"], login["account"]) for login in logins}

    assert asyncio.run(work()) == {("acc", "ACC")}


def test_info_in_a_domain_that_does_not_exist(cli: Cli) -> None:
    shown = cli("account info --js-domain nope", status=4)
    assert "Connected URL" in shown.out and shown.err.count("\n") == 1


def test_info_without_a_server(offline_cli: Cli) -> None:
    refused = offline_cli("account info -s nats://127.0.0.1:1", status=4)
    assert refused.out == "" and refused.err.count("\n") == 1
