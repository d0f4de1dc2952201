"""The README's table of permissions: a user with those of a row, and no others, can run its commands."""

import json
import re
from collections.abc import Iterator

import pytest

from tests.support import js
from tests.support.readme import README
from tests.support.run import Cli
from tests.support.servers import RealServer

pytestmark = pytest.mark.slow

TABLE = README.read_text().split("### Permissions")[1].split("\n\n")[2]
ROWS = [
    (re.findall(r"`([^`]+)`", commands), re.findall(r"`([^`]+)`", subjects))
    for commands, subjects in re.findall(r"^\| (`.*?) \| (.*?) \|$", TABLE, re.MULTILINE)
    if "`export" not in commands and "`import" not in commands  # those are run with Spark, in tests/spark
]
ARGUMENTS = {
    "pub": "S.new hello",
    "account info": "",
    "stream ls": "",
    "stream report": "",
    "stream find": "",
    "stream info": "S",
    "stream add": "N --subjects n.x --defaults",
    "stream edit": "S --description changed -f",
    "stream purge --force": "S",
    "stream rm --force": "S",
    "stream get": "S 1",
    "stream view": "S 1",
    "consumer ls": "S",
    "consumer info": "S C",
    "consumer add": "S N --pull --defaults",
    "consumer next": "S C",
    "consumer why": "S C",
    "consumer rm --force": "S C",
    "report": "",
}
"""What follows each command; N is a new name."""


def fill(text: str, number: int) -> str:
    """With the names of a row's stream S, its consumer C and what it creates, N."""
    return re.sub(r"\b([SCN])\b", rf"\g<1>{number}", text)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    """With an account that has a stream and a user for each row."""
    users: list[dict[str, object]] = [{"user": "all", "password": "all"}]
    for number, (commands, subjects) in enumerate(ROWS):
        added = "add" in " ".join(commands)
        allowed = [
            fill(re.sub(r"\bS$" if "stream" in commands[0] else r"\bC\b", "N", one) if added else one, number)
            for one in subjects
            if one.startswith("$")
        ]
        permissions = {"publish": allowed or [f"S{number}.>"], "subscribe": ["_INBOX.>"]}
        users.append({"user": f"u{number}", "password": f"u{number}", "permissions": permissions})
    config = 'listen: "127.0.0.1:{port}"\njetstream { store_dir: "{store}" }\naccounts: ' + json.dumps(
        {"A": {"jetstream": "enabled", "users": users}}
    )
    one = RealServer(tmp_path_factory.mktemp("rights"), config).start()
    try:
        url = one.url_for("all")
        for number in range(len(ROWS)):
            js.stream(url, f"S{number}", f"S{number}.>")
            js.publish(url, f"S{number}.a", count=2)
            consumer = {"durable_name": f"C{number}", "ack_policy": "explicit"}
            body = {"stream_name": f"S{number}", "config": consumer}
            js.ask(url, f"CONSUMER.CREATE.S{number}.C{number}", body)
        yield one
    finally:
        one.stop()


@pytest.mark.parametrize("number", range(len(ROWS)), ids=[commands[0] for commands, _ in ROWS])
def test_the_permissions_of_a_row_are_enough(number: int, server: RealServer, offline_cli: Cli) -> None:
    for command in ROWS[number][0]:
        arguments = fill(ARGUMENTS[command], number)
        done = offline_cli(f"{command} {arguments} -s {server.url_for(f'u{number}')}", status=0)
        assert "not allowed" not in done.err + done.out, done
        assert done.out or done.err


def test_all_commands_of_the_table_are_run() -> None:
    assert {command for commands, _ in ROWS for command in commands} == set(ARGUMENTS)
