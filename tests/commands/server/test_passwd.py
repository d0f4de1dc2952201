"""`server passwd`: hashes that a real server takes."""

import asyncio
from pathlib import Path

import pytest

from jsctl.contexts.settings import Settings
from jsctl.nats.connection import Connection
from tests.support.run import Cli
from tests.support.servers import RealServer

SECRET = "correct horse"


def test_a_server_takes_the_hash(offline_cli: Cli, tmp_path: Path) -> None:
    hash = offline_cli("server passwd --cost 4", stdin=f"{SECRET}\n", status=0).out.strip()
    assert hash.startswith("$2a$04$")
    users = f'authorization {{ users: [{{user: ann, password: "{hash}"}}] }}'
    server = RealServer(tmp_path, f'listen: "127.0.0.1:{{port}}"\n{users}').start()

    async def connect() -> None:
        url = f"nats://127.0.0.1:{server.port}"
        await (await Connection.open(Settings(url=url, user="ann", password=SECRET))).close()

    try:
        asyncio.run(connect())
    finally:
        server.stop()


def test_a_generated_password(offline_cli: Cli) -> None:
    result = offline_cli("server mkpasswd -g -c 4 --json", status=0).json
    assert len(result["password"]) == 22 and result["hash"].startswith("$2a$04$")
    shown = offline_cli("server passwd --generate -c 4", tty=True, status=0).out
    assert "Password:" in shown and "bcrypt Hash: $2a$04$" in shown


def test_where_the_password_comes_from(offline_cli: Cli) -> None:
    assert offline_cli(["server", "passwd", "-c", "4", "-p", SECRET], status=0).out.startswith("$2a$")
    from_variable = offline_cli("server passwd -c 4 --json", environ={"PASSWORD": SECRET}, status=0)
    assert set(from_variable.json) == {"hash"}
    asked = offline_cli("server passwd -c 4", answers=[SECRET, SECRET], status=0)
    assert asked.asked == ["Password", "Password again"] and asked.out.startswith("$2a$")


@pytest.mark.parametrize(
    ("line", "stdin", "words"),
    [
        ("server passwd", "", "there is no password"),
        ("server passwd", "short\n", "10 characters or more"),
        ("server passwd", "x" * 73, "at most 72 bytes"),
        ("server passwd --pass abcdefghijk --generate", "", "cannot be used together"),
        ("server passwd --cost 3", "", "--cost"),
    ],
)
def test_what_cannot_be_hashed(offline_cli: Cli, line: str, stdin: str, words: str) -> None:
    outcome = offline_cli(line, stdin=stdin, status=64)
    assert words in outcome.err and len(outcome.err.splitlines()) == 1


def test_two_different_answers(offline_cli: Cli) -> None:
    outcome = offline_cli("server passwd", answers=[SECRET, SECRET + "!"], status=64)
    assert "differ" in outcome.err
