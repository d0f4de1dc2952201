"""The command lines of every verb: those of networks stand here, the others are made from help."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from jsctl import registry
from jsctl.contexts.settings import Settings
from jsctl.errors import ApiError, MissingDependency
from jsctl.jetstream.api import Api, Json
from jsctl.nats.connection import Connection
from jsctl.nats.error_codes import ErrorCode
from jsctl.registry.model import READS
from jsctl.spark.session.session import preload
from tests.contract.test_commands import VERBS, resolve
from tests.contract.test_nouns import NAMES, add_object, command_line
from tests.support.run import Cli

NETWORK_VERBS = {
    "server stop": "server stop {} --dry-run",
    "server network ls": "server network ls",
    "server network status": "server network status {}",
    "server network wait": "server network wait {} --for 300ms",
    "server network env": "server network env {}",
    "server network topology": "server network topology",
    "server network logs": "server network logs --network {}",
    "server network link": "server network link --network {}",
    "server network kill": "server network kill --network {} --all",
    "server network stop": "server network stop --network {} --all",
    "server network pause": "server network pause --network {} --all",
    "server network resume": "server network resume --network {} --all",
    "server network lame-duck": "server network lame-duck --network {} --all",
    "server network shell": "server network shell {}",
    "server network down": "server network down {} --dry-run",
}
"""Lines of the verbs about a network that was started, by verb; {} is its folder."""

AGENT_VERBS = ("agent run", "agent start", "agent stop")
"""Those that start or stop an agent, which tests/agent have."""

STARTING_VERBS = {
    "server run": "server run --store {} --port 0",
    "demo guide": "demo guide --to {}/guide",
    "demo hub-spokes": "demo hub-spokes --to {}/spokes",
    "server network up": "server network up single --store {} --port 0",
    "server network start": "server network start --network {} --all",
    "server network restart": "server network restart --network {} --all",
    "server network add": "server network add c1 --network {}",
    "server network scale": "server network scale c1 3 --network {}",
}
"""Lines of the verbs that start servers, by verb; {} is their folder."""

SESSIONS = ("jsctl.spark.session.session", "jsctl.spark.session.make_class_archive")
"""Modules that open a session of Spark. Verbs are run up to there."""

ENDLESS = ("reply", "events", "subscribe", "latency", "service serve", "service stats", "trace", "exporter")
ENDLESS_TOO = (
    "stream graph",
    "consumer graph",
    "consumer sub",
    "consumer events",
    "kv watch",
    "counter watch",
    "object watch",
    "bench sub",
    "bench service serve",
)
ENDLESS_OF_SERVERS = (
    *("server graph", "server watch servers", "server watch accounts"),
    *("server watch jetstream", "server watch api requests", "top"),
)
"""Verbs that ctrl-C ends."""

ABOUT_SERVERS = ("server", "audit gather", "top", "doctor", "account report", "exporter")
STOPPING = ("server cluster rescue", "server cluster evacuate", "server cluster peer-remove", "server passwd")
_LOGIN = ("--user", "--password", "admin", "--context", "system")

VERB_NAMES = {**NAMES, "service": "demo", "schema": "x", "context": "x", "network": "x"}


def lines(folder: Path) -> dict[str, list[str]]:
    """A command line for each verb, by its path in the registry. folder: for what they read and write."""
    results = {}
    for path in VERBS:
        if path in {*NETWORK_VERBS, *STARTING_VERBS, *AGENT_VERBS}:
            continue
        line = [*command_line(path, VERB_NAMES, folder), "--timeout", "300ms"]
        if any("--force" in param.opts for param in resolve(path.split()).params):
            line.append("--force")
        if path.startswith("bench ") and path != "bench compare":
            line += ["--msgs", "20", "--processes", "0"]
        if path == "exporter":
            line += ["--listen", "127.0.0.1:0"]  # two runs at once must not want one port
        results[path] = line
    assert len(results) > 200 and registry.list_commands()
    return results


@contextmanager
def without_spark() -> Iterator[None]:
    """No session of Spark can be opened."""

    def refuse(*args: Any, **more: Any) -> Any:
        raise MissingDependency("there is no Spark here")

    with pytest.MonkeyPatch.context() as patch:
        if find_spec("pyspark"):
            for module in SESSIONS:
                patch.setattr(f"{module}.open_session", refuse)
            preload()  # its memory is not that of a command
        yield


def is_endless(path: str) -> bool:
    """Whether only ctrl-C ends a verb."""
    return path in (*ENDLESS, *ENDLESS_TOO, *ENDLESS_OF_SERVERS)


def system_lines(folder: Path, server: str) -> dict[str, list[str]]:
    """A command line for each verb that needs the system account and stops no server, by its path.

    server: the name of the one that answers.
    """
    return {
        path: [server if word == "n1" else word for word in line if word not in _LOGIN]
        for path, line in lines(folder).items()
        if path.startswith(ABOUT_SERVERS) and path not in STOPPING
    }


def prepare(cli: Cli, url: str, folder: Path, **login: Any) -> None:
    """Make what the command lines name, on the server and in the current folder. login: of `Settings`, where
    the URL has none."""
    (folder / "site").mkdir()
    (folder / NAMES["object"]).write_text("x")
    (folder / "nightly.sh").write_text("nats stream ls\n")
    (folder / "streams.yaml").write_text("streams: [{name: ORDERS, subjects: ['ORDERS.*'], max_age: 1d}]\n")
    make_again(url, **login)
    add_object(cli, NAMES["object bucket"], NAMES["object"], folder)
    cli(["stream", "backup", "ORDERS", str(folder / "data/backup/ORDERS")], status=0)


def renew_streams(url: str, lines: dict[str, list[str]], **login: Any) -> Iterator[tuple[str, list[str]]]:
    """Yield verbs and their lines; each finds new streams, unless the one before has only read them. login:
    as for `prepare`."""
    has_changed, commands = True, registry.list_commands()
    for path, line in lines.items():
        if has_changed:
            make_again(url, **login)
        yield path, line
        entry = commands[path]
        has_changed = entry.impact != READS or bool(entry.changes_with) or is_endless(path)


def make_again(url: str, **login: Any) -> None:
    """Make the streams as new ones; the last command may have removed or sealed them. login: as for
    `prepare`."""
    streams = (
        {"name": "ORDERS", "subjects": ["ORDERS.*"], "allow_direct": True},
        {
            "name": "KV_CONFIG",
            "subjects": ["$KV.CONFIG.>"],
            "max_msgs_per_subject": 8,
            "allow_rollup_hdrs": True,
            "deny_delete": True,
            "allow_direct": True,
        },
    )
    consumer = {"stream_name": "ORDERS", "config": {"durable_name": "NEW", "ack_policy": "explicit"}}

    async def is_new(api: Api, stream: Json) -> bool:
        """Make a stream; False if it continues the last one: the server moves the folder of a stream that is
        deleted, and cannot while it still removes the one before (filestore.go, Delete)."""
        try:
            await api.call(f"STREAM.DELETE.{stream['name']}")
        except ApiError as error:
            assert error.err_code == ErrorCode.STREAM_NOT_FOUND, error
        made = await api.call(f"STREAM.CREATE.{stream['name']}", stream)
        return bool(made["state"]["last_seq"] == 0)

    async def work() -> None:
        connection = await Connection.open(Settings(url=url)._replace(**login))
        try:
            api = Api(connection)
            for stream in streams:
                for _ in range(1000):
                    if await is_new(api, stream):
                        break
                    await asyncio.sleep(0.01)
            await api.call("CONSUMER.DURABLE.CREATE.ORDERS.NEW", consumer)
            for subject in ("ORDERS.received", "$KV.CONFIG.user.1"):
                for sequence in range(1, 9):
                    ack = json.loads((await connection.request(subject, b"x")).data)
                    assert ack.get("seq") == sequence, (subject, ack)
        finally:
            await connection.close()

    asyncio.run(work())
