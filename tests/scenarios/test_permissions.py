"""The manual's table of permissions: a user with those of a row, and no others, can run its commands."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import js
from tests.support.readme import MANUAL
from tests.support.run import Cli
from tests.support.servers import RealServer

PAGE = (MANUAL / "permissions.md").read_text()
TABLE = next(part for part in PAGE.split("\n\n") if part.startswith("| command "))
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
    "stream edit PATTERN": "*S --description changed -f",
    "stream seal --force": "S",
    "stream purge --force": "S",
    "stream rm --force": "S",
    "stream get": "S 1",
    "stream view": "S 1",
    "stream search": "S --match true",
    "stream rmm --force": "S 1",
    "stream subjects": "S",
    "stream gaps": "S",
    "consumer ls": "S",
    "consumer info": "S C",
    "consumer add": "S N --pull --defaults",
    "consumer edit --force": "S C --description changed",
    "consumer reset --force": "S C",
    "consumer pause --force": "S C 1h",
    "consumer resume --force": "S C",
    "consumer dead": "S C",
    "consumer next": "S C",
    "consumer why": "S C",
    "consumer rm --force": "S C",
    "report": "",
    "doctor": "",
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
        findings = command == "doctor"  # nobody pulls from the rows' consumers
        verb = command.removesuffix(" PATTERN")
        done = offline_cli(f"{verb} {arguments} -s {server.url_for(f'u{number}')}", status=int(findings))
        assert "not allowed" not in done.err + done.out, done
        assert done.out or done.err or command.endswith("--force")


def test_all_commands_of_the_table_are_run() -> None:
    assert {command for commands, _ in ROWS for command in commands} == set(ARGUMENTS)


@pytest.mark.slow
def test_what_doctor_asks_the_system_account(tmp_path: Path, offline_cli: Cli) -> None:
    text = PAGE.split("Its context of the system account needs")[1].split("\n\n")[0]
    rights = {"publish": re.findall(r"`([^`]+)`", text), "subscribe": ["_INBOX.>"]}
    system = {"user": "system", "password": "system", "permissions": rights}
    accounts = {
        "SYS": {"users": [system]},
        "A": {"jetstream": "enabled", "users": [{"user": "a", "password": "a"}]},
    }
    config = 'listen: "127.0.0.1:{port}"\njetstream { store_dir: "{store}" }\nsystem_account: SYS\naccounts: '
    one = RealServer(tmp_path, config + json.dumps(accounts)).start()
    try:
        for name in ("system", "a"):
            offline_cli(f"context add {name} --server {one.url_for(name)}", status=0)
        js.stream(one.url_for("a"), "S", "s")
        done = offline_cli("doctor --all-contexts", status=0)
        assert "could not be asked" not in done.out + done.err
        assert "1 stream and 1 server" in done.out
    finally:
        one.stop()


# -- Spark --------------------------------------------------------------------------------------------

_SPARK = [
    (commands, re.findall(r"`([^`]+)`", subjects))
    for commands, subjects in re.findall(r"^\| (.*?) \| (.*?) \|$", TABLE, re.MULTILINE)
    if commands.startswith(("`export", "the same", "`import"))
]
SPARK_ROWS = ("direct", "no direct get", "pattern", "committedConsumer", "import")


def spark_subjects(number: int) -> list[str]:
    """What a row allows: for "the same", with what the first row allows. Braces are written out."""
    commands, subjects = _SPARK[number]
    base = _SPARK[0][1] if commands.startswith("the same") else []
    if "without direct get" in commands:
        base = base[:-1]
    words: list[str] = []
    for subject in [*base, *subjects]:
        head, _, rest = subject.partition("{")
        choices, _, tail = rest.partition("}")
        words += [f"{head}{choice}{tail}" for choice in choices.split(",")]
    return [re.sub(r"\b([SC])\b", rf"\g<1>PARK{number}", word) for word in words]


@pytest.fixture(scope="module")
def spark_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    """With a stream SPARK0, SPARK1, ... and a user for each of Spark's rows."""
    users: list[dict[str, object]] = [{"user": "all", "password": "all"}]
    for number, row in enumerate(SPARK_ROWS):
        allowed = [*spark_subjects(number), *(["SPARK4.>"] if row == "import" else [])]
        permissions = {"publish": allowed, "subscribe": ["_INBOX.>"]}
        users.append({"user": f"u{number}", "password": f"u{number}", "permissions": permissions})
    config = 'listen: "127.0.0.1:{port}"\njetstream { store_dir: "{store}" }\naccounts: ' + json.dumps(
        {"A": {"jetstream": "enabled", "users": users}}
    )
    one = RealServer(tmp_path_factory.mktemp("sparkrights"), config).start()
    try:
        for number, row in enumerate(SPARK_ROWS):
            name = f"SPARK{number}"
            js.stream(one.url_for("all"), name, f"{name}.>", allow_direct=row != "no direct get")
            js.publish(one.url_for("all"), f"{name}.a", count=2)
        yield one
    finally:
        one.stop()


def test_spark_rows_are_those_of_the_table() -> None:
    assert len(_SPARK) == len(SPARK_ROWS)


@pytest.mark.spark
def test_the_permissions_of_sparks_rows_are_enough(
    spark_server: RealServer, offline_cli: Cli, spark: Any, tmp_path: Path
) -> None:
    def url(row: str) -> str:
        return spark_server.url_for(f"u{SPARK_ROWS.index(row)}")

    to = tmp_path / "out"
    for row, stream in (("direct", "SPARK0"), ("no direct get", "SPARK1")):
        done = offline_cli(f"export stream {stream} --to {to} -s {url(row)} --json", status=0)
        assert done.json["exported"] == 2, (row, done)
    source = spark.read.format("jetstream").options(servers=url("pattern"), streams="SPARK2*")
    assert source.load().count() == 2
    query = (
        spark.readStream.format("jetstream")
        .options(servers=url("committedConsumer"), stream="SPARK3", committedConsumer="CPARK3")
        .option("startingOffsets", "earliest")
        .load()
        .writeStream.format("noop")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    assert query.exception() is None
    offline_cli(f"import {to}/SPARK0 --stream SPARK4 --map SPARK0=SPARK4 -s {url('import')}", status=0)
    assert js.info(spark_server.url_for("all"), "SPARK4")["state"]["messages"] == 4
