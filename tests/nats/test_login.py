"""Every way to log in, on real servers: what works, what is refused, and what is said about it."""

import re
from collections.abc import Iterator
from pathlib import Path

import nkeys
import pytest

from jsctl.errors import ExitStatus
from tests.support.jwt import Key, Operator, new_key, write_creds
from tests.support.run import Cli, Outcome
from tests.support.servers import RealServer, free_port

pytestmark = pytest.mark.usefixtures("each_connection")

OK = "No Streams defined\n"
SECRET = "Tr0ub4dor"


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory, nkey: Key) -> Iterator[RealServer]:
    """User and password, and an nkey."""
    server = RealServer(
        tmp_path_factory.mktemp("plain"),
        f"""
listen: "127.0.0.1:{{port}}"
jetstream {{ store_dir: "{{store}}" }}
accounts {{ A: {{ jetstream: enabled, users: [
  {{user: bob, password: "{SECRET}"}}, {{user: eve, password: "p@ss/w:rd"}}, {{nkey: {nkey.public}}}
] }} }}
""",
    ).start()
    yield server
    server.stop()


def refused(outcome: Outcome, *secrets: str) -> None:
    """One line, the right status, and no secret in it."""
    assert outcome.status == ExitStatus.DENIED, outcome
    assert outcome.out == ""
    assert outcome.err.count("\n") == 1, outcome.err
    assert "refuses the login: Authorization Violation" in outcome.err
    for secret in (SECRET, *secrets):
        assert secret not in outcome.err


def test_user_and_password(offline_cli: Cli, plain: RealServer) -> None:
    line = f"stream ls -s {plain.url} --user bob"
    assert offline_cli(f"{line} --password {SECRET}", status=0).out == OK
    refused(offline_cli(f"{line} --password {SECRET}x"))
    refused(offline_cli(f"stream ls -s {plain.url}"))
    refused(offline_cli(f"stream ls -s nats://bob:{SECRET}x@127.0.0.1:{plain.port}"))
    assert offline_cli(f"stream ls -s nats://bob:{SECRET}@127.0.0.1:{plain.port}", status=0).out == OK


def test_percent_encoded_password_in_the_url(offline_cli: Cli, plain: RealServer) -> None:
    line = f"stream ls -s nats://eve:p%40ss%2Fw%3Ard@127.0.0.1:{plain.port}"
    assert offline_cli(line, status=0).out == OK


def test_password_that_breaks_the_url_is_not_shown(offline_cli: Cli) -> None:
    for url in ("nats://bob:Tr0ub4dor/x@127.0.0.1:1", "nats://bob:Tr0ub4dor,x@127.0.0.1:1"):
        outcome = offline_cli(f"stream ls -s {url}", status=ExitStatus.USAGE)
        assert "Tr0ub4dor" not in outcome.err


def test_token(offline_cli: Cli, tmp_path: Path) -> None:
    server = RealServer(
        tmp_path / "token",
        f'listen: "127.0.0.1:{{port}}"\njetstream {{ store_dir: "{{store}}" }}\n'
        f'authorization {{ token: "{SECRET}" }}',
    ).start()
    try:
        url = server.url
        assert offline_cli(f"stream ls -s {url} --token {SECRET}", status=0).out == OK
        # A user without a password is a token, as in the `nats` tool.
        assert offline_cli(f"stream ls -s {url} --user {SECRET}", status=0).out == OK
        assert offline_cli(f"stream ls -s nats://{SECRET}@127.0.0.1:{server.port}", status=0).out == OK
        refused(offline_cli(f"stream ls -s {url} --token {SECRET}x"))
    finally:
        server.stop()


def test_nkey(offline_cli: Cli, plain: RealServer, nkey: Key, tmp_path: Path) -> None:
    seed = tmp_path / "user.nk"
    seed.write_text(nkey.seed + "\n")
    assert offline_cli(f"stream ls -s {plain.url} --nkey {seed}", status=0).out == OK
    other = new_key(nkeys.PREFIX_BYTE_USER)
    seed.write_text(other.seed)
    refused(offline_cli(f"stream ls -s {plain.url} --nkey {seed}"), other.seed)
    seed.write_text("SUAnonsense")
    outcome = offline_cli(f"stream ls -s {plain.url} --nkey {seed}", status=ExitStatus.USAGE)
    assert "holds no nkey seed" in outcome.err
    outcome = offline_cli(f"stream ls -s {plain.url} --nkey {seed}x", status=ExitStatus.USAGE)
    assert "does not exist" in outcome.err


def test_credentials(offline_cli: Cli, signed: RealServer, operator: Operator, tmp_path: Path) -> None:
    jwt, key = operator.user()
    creds = write_creds(tmp_path / "user.creds", jwt, key.seed)
    assert offline_cli(f"stream ls -s {signed.url} --creds {creds}", status=0).out == OK
    # In the home folder, through a variable, and with other line ends.
    offline_cli.home.mkdir(exist_ok=True)
    (offline_cli.home / "u.creds").write_text(creds.read_text().replace("\n", "\r\n"))
    for path in ("~/u.creds", "$HOME/u.creds"):
        line = ["stream", "ls", "-s", signed.url, "--creds", path]
        assert offline_cli(line, status=0).out == OK
    other, _ = Operator().user()
    refused(offline_cli(f"stream ls -s {signed.url} --creds {write_creds(creds, other, key.seed)}"), key.seed)


def test_invalid_credentials(offline_cli: Cli, signed: RealServer, tmp_path: Path) -> None:
    creds = tmp_path / "user.creds"
    for text in ("", "hello", "-----BEGIN NATS USER JWT-----\nabc\n------END NATS USER JWT------\n"):
        creds.write_text(text)
        outcome = offline_cli(f"stream ls -s {signed.url} --creds {creds}", status=ExitStatus.USAGE)
        assert "is not a credentials file" in outcome.err
    write_creds(creds, "abc", "SUBROKEN")
    outcome = offline_cli(f"stream ls -s {signed.url} --creds {creds}", status=ExitStatus.USAGE)
    assert "the user seed is not valid" in outcome.err
    assert "SUBROKEN" not in outcome.err


def test_a_jwt_that_has_expired(
    offline_cli: Cli, signed: RealServer, operator: Operator, tmp_path: Path
) -> None:
    jwt, key = operator.user(lifetime=-60)
    creds = write_creds(tmp_path / "user.creds", jwt, key.seed)
    for login in (f"--creds {creds}", f"--jwt {jwt} --seed {key.seed}"):
        outcome = offline_cli(f"stream ls -s {signed.url} {login}", status=ExitStatus.DENIED)
        assert re.search("refuses the login: its JWT expired at [-0-9]+ [:0-9]+.*; use new cred", outcome.err)
        assert key.seed not in outcome.err


def test_jwt_and_seed(offline_cli: Cli, signed: RealServer, operator: Operator) -> None:
    jwt, key = operator.user()
    line = f"stream ls -s {signed.url} --jwt {jwt}"
    assert offline_cli(f"{line} --seed {key.seed}", status=0).out == OK
    refused(offline_cli(line), jwt)
    _, other = operator.user()
    refused(offline_cli(f"{line} --seed {other.seed}"), jwt, other.seed)
    variables = {"NATS_URL": signed.url, "NATS_JWT": jwt, "NATS_SEED": key.seed}
    assert offline_cli("stream ls", environ=variables, status=0).out == OK


def test_bearer_jwt_needs_no_seed(offline_cli: Cli, signed: RealServer, operator: Operator) -> None:
    jwt, _ = operator.user(bearer=True)
    assert offline_cli(f"stream ls -s {signed.url} --jwt {jwt}", status=0).out == OK


def test_context_with_jwt_and_seed(offline_cli: Cli, signed: RealServer, operator: Operator) -> None:
    jwt, key = operator.user()
    added = offline_cli(f"context add j -s {signed.url} --jwt {jwt} --seed {key.seed}", status=0)
    assert jwt not in added.out and key.seed not in added.out
    assert offline_cli("stream ls --context j", status=0).out == OK
    assert offline_cli("context validate j --connect", status=0).out.splitlines()[-1].split() == [
        "j",
        "OK",
        "OK",
    ]


def test_a_flags_login_replaces_the_contexts(
    offline_cli: Cli, plain: RealServer, nkey: Key, tmp_path: Path
) -> None:
    seed = tmp_path / "user.nk"
    seed.write_text(nkey.seed)
    offline_cli(f"context add bob -s {plain.url} --user bob --password wrong --select", status=0)
    refused(offline_cli("stream ls"))
    # The `nats` tool would go on with the context's user here.
    assert offline_cli(f"stream ls --nkey {seed}", status=0).out == OK
    assert offline_cli(f"stream ls --password {SECRET}", status=0).out == OK
    assert offline_cli("stream ls", environ={"NATS_PASSWORD": SECRET}, status=0).out == OK
    offline_cli(f"context add bob --nkey {seed}", status=0)
    assert offline_cli(f"stream ls --user bob --password {SECRET}", status=0).out == OK
    refused(offline_cli("stream ls --user bob --password wrong"))
    # A flag goes before the login in a variable's URL.
    url = f"nats://bob:wrong@127.0.0.1:{plain.port}"
    line = f"stream ls --user bob --password {SECRET}"
    assert offline_cli(line, environ={"NATS_URL": url}, status=0).out == OK


def test_no_context_leaves_out_the_login_of_the_selected_one(offline_cli: Cli, plain: RealServer) -> None:
    offline_cli(f"context add bob -s {plain.url} --user bob --password {SECRET} --select", status=0)
    assert offline_cli("stream ls", status=0).out == OK
    refused(offline_cli(f"stream ls --no-context -s {plain.url}"))


def test_the_second_server_is_tried(offline_cli: Cli, plain: RealServer) -> None:
    good = f"nats://bob:{SECRET}@127.0.0.1:{plain.port}"
    for first in (f"nats://127.0.0.1:{free_port()}", f"nats://bob:wrong@127.0.0.1:{plain.port}"):
        assert offline_cli(f"stream ls -s {first},{good}", status=0).out == OK
    refused(offline_cli(f"stream ls -s {plain.url},nats://127.0.0.1:{free_port()}"))
    outcome = offline_cli(
        f"stream ls -s nats://127.0.0.1:{free_port()},nats://127.0.0.1:{free_port()}",
        status=ExitStatus.UNREACHABLE,
    )
    assert "cannot connect to any of" in outcome.err and outcome.err.count("\n") == 1
