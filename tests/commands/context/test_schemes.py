"""Values of contexts that say where the value is: file://, env://, data:, op:// and nsc://."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jsctl.contexts.settings import Settings
from tests.support.jwt import Key, Operator, write_creds
from tests.support.run import Cli
from tests.support.servers import RealServer

SECRET = "Tr0ub4dor"


def encoded(text: str) -> str:
    return "data:;base64," + base64.b64encode(text.encode()).decode()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory, nkey: Key) -> Iterator[RealServer]:
    server = RealServer(
        tmp_path_factory.mktemp("plain"),
        f"""
listen: "127.0.0.1:{{port}}"
authorization {{ users: [{{user: bob, password: "{SECRET}"}}, {{nkey: {nkey.public}}}] }}
""",
    ).start()
    yield server
    server.stop()


def write(cli: Cli, url: str, **raw: Any) -> Path:
    """Write the context `c`, as any tool may."""
    folder = cli.home / "nats" / "context"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "c.json"
    path.write_text(json.dumps({"url": url, **raw}))
    return path


def test_password_and_nkey(offline_cli: Cli, plain: RealServer, nkey: Key, tmp_path: Path) -> None:
    (tmp_path / "a secret").write_text(SECRET + "\n")
    (tmp_path / "seed").write_text(nkey.seed)
    file = f"file://{tmp_path}/a%20secret"
    for password in (file, "env://MY_PASSWORD", encoded(SECRET)):
        write(offline_cli, plain.url, user="bob", password=password)
        offline_cli("rtt --context c", environ={"MY_PASSWORD": SECRET}, status=0)
    for seed in (f"file://{tmp_path}/seed", "env://MY_SEED", encoded(nkey.seed)):
        write(offline_cli, plain.url, nkey=seed)
        offline_cli("rtt --context c", environ={"MY_SEED": nkey.seed}, status=0)
        offline_cli("context validate c --connect", environ={"MY_SEED": nkey.seed}, status=0)


def test_credentials_and_jwt(
    offline_cli: Cli, signed: RealServer, operator: Operator, tmp_path: Path
) -> None:
    jwt, key = operator.user()
    creds = write_creds(tmp_path / "user.creds", jwt, key.seed)
    for value in (f"file://{creds}", "env://MY_CREDS", encoded(creds.read_text())):
        write(offline_cli, signed.url, creds=value)
        offline_cli("rtt --context c", environ={"MY_CREDS": creds.read_text()}, status=0)
    write(offline_cli, signed.url, user_jwt="env://MY_JWT", user_seed=encoded(key.seed))
    offline_cli("rtt --context c", environ={"MY_JWT": jwt}, status=0)


def test_other_tools(
    offline_cli: Cli,
    signed: RealServer,
    plain: RealServer,
    operator: Operator,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    jwt, key = operator.user()
    creds = write_creds(tmp_path / "user.creds", jwt, key.seed)
    tools = tmp_path / "tools"
    tools.mkdir()
    profile = json.dumps({"user_creds": str(creds)})
    (tools / "op").write_text(f'#!/bin/sh\n[ "$2" = op://v/i/creds ] && cat {creds} || echo {SECRET}\n')
    (tools / "nsc").write_text(f"#!/bin/sh\necho '{profile}'\n")
    for tool in tools.iterdir():
        tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tools), prepend=":")
    for value in ("op://v/i/creds", "nsc://O/A/U"):
        write(offline_cli, signed.url, creds=value)
        offline_cli("rtt --context c", status=0)
    write(offline_cli, plain.url, user="bob", password="op://v/i/password")
    offline_cli("rtt --context c", status=0)
    write(offline_cli, plain.url, user="bob", password="nsc://O/A/U")
    assert "use nsc:// for creds" in offline_cli("rtt --context c", status=64).err


def test_what_cannot_be_found(offline_cli: Cli, plain: RealServer) -> None:
    for value, words in (
        ("env://NOT_SET", "the variable NOT_SET is not set"),
        ("data:;base64,***", "not valid base64"),
        ("file:///nowhere/at/all", "No such file"),
    ):
        write(offline_cli, plain.url, user="bob", password=value)
        outcome = offline_cli("rtt --context c", status=64)
        assert words in outcome.err and len(outcome.err.splitlines()) == 1


def test_they_are_kept_and_shown_if_they_are_not_secret(offline_cli: Cli, plain: RealServer) -> None:
    path = write(offline_cli, plain.url, user="bob", password="env://MY_PASSWORD", creds="file:///a/b.creds")
    offline_cli("context add c --description changed --defaults", status=0)
    saved = json.loads(path.read_text())
    assert (saved["password"], saved["creds"]) == ("env://MY_PASSWORD", "file:///a/b.creds")
    shown = offline_cli("context info c", status=0).out
    assert "env://MY_PASSWORD" in shown and "file:///a/b.creds (file)" in shown
    write(offline_cli, plain.url, creds=encoded(SECRET))
    for line in ("context info c", "context info c --json", "context ls --json"):
        assert encoded(SECRET)[-12:] not in offline_cli(line, status=0).out
    assert "embedded" in offline_cli("context info c", status=0).out
    assert SECRET not in repr(Settings(creds=encoded(SECRET), nkey=encoded(SECRET)))


def test_embed(offline_cli: Cli, signed: RealServer, operator: Operator, tmp_path: Path) -> None:
    jwt, key = operator.user()
    creds = write_creds(tmp_path / "user.creds", jwt, key.seed)
    outcome = offline_cli(f"context add c --server {signed.url} --creds {creds} --embed --defaults", status=0)
    assert key.seed not in outcome.out
    path = offline_cli.home / "nats/context/c.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert json.loads(path.read_text())["creds"] == encoded(creds.read_text())
    creds.unlink()
    offline_cli("rtt --context c", status=0)
    assert "no file to embed" in offline_cli("context add d --embed --defaults", status=64).err
