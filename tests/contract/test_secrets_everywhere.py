"""Secrets in every place where a login can stand: no verb shows one, or writes one to a file."""

import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import nkeys
import pytest
import trustme

from tests.fuzz.commands import (
    NETWORK_VERBS,
    is_endless,
    lines,
    make_again,
    prepare,
    renew_streams,
    without_spark,
)
from tests.support.jwt import Operator, new_key, write_creds
from tests.support.run import Cli
from tests.support.servers import RealServer, free_port

START = 'listen: "127.0.0.1:{port}"\nserver_name: n1\njetstream { store_dir: "{store}" }\n'
VARIABLES = {
    "creds": "NATS_CREDS",
    "nkey": "NATS_NKEY",
    "tlsca": "NATS_CA",
    "tlscert": "NATS_CERT",
    "tlskey": "NATS_KEY",
}
BATCH = 6
"""Processes at a time."""


class Login(NamedTuple):
    """A server, how to log in to it, and what must not be shown. files: paths by name in `Settings`."""

    server: RealServer
    url: str
    files: dict[str, str]
    secrets: tuple[str, ...]


def make_login(kind: str, folder: Path, operator: Operator) -> Login:
    """Return a server that is not started yet, with its login."""
    if kind == "creds":
        jwt, key = operator.user()
        path = write_creds(folder / "user.creds", jwt, key.seed)
        config = operator.config().replace("listen:", "server_name: n1\nlisten:")
        server = RealServer(folder / "server", config)
        return Login(server, server.url, {"creds": str(path)}, (key.seed,))
    if kind == "nkey and TLS":
        ca, key = trustme.CA(), new_key(nkeys.PREFIX_BYTE_USER)
        ca.cert_pem.write_to_path(str(folder / "ca.pem"))
        ca.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(folder / "server.pem"))
        client = ca.issue_cert("client@example.org")
        client.cert_chain_pems[0].write_to_path(str(folder / "client.pem"))
        client.private_key_pem.write_to_path(str(folder / "client.key"))
        (folder / "user.nk").write_text(key.seed)
        config = (
            f'{START}tls {{ cert_file: "{folder}/server.pem", key_file: "{folder}/server.pem", '
            f'ca_file: "{folder}/ca.pem", verify: true }}\n'
            f"authorization {{ users: [{{ nkey: {key.public} }}] }}\n"
        )
        server = RealServer(folder / "server", config)
        names = {"nkey": "user.nk", "tlsca": "ca.pem", "tlscert": "client.pem", "tlskey": "client.key"}
        secret = client.private_key_pem.bytes().decode().splitlines()[1]
        files = {name: str(folder / file) for name, file in names.items()}
        return Login(server, server.url, files, (key.seed, secret))
    login = "user:hunter2" if kind == "password" else "hunter2"
    users = "user: user, password: hunter2" if kind == "password" else "token: hunter2"
    server = RealServer(folder / "server", f"{START}authorization {{ {users} }}\n")
    return Login(server, server.url.replace("nats://", f"nats://{login}@"), {}, ("hunter2",))


@pytest.fixture
def login(request: pytest.FixtureRequest, tmp_path: Path, operator: Operator) -> Iterator[Login]:
    (tmp_path / "login").mkdir()
    login = make_login(request.param, tmp_path / "login", operator)
    login.server.start()
    yield login
    login.server.stop()


@pytest.fixture
def cli(login: Login, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """In a folder with what the command lines name, `here`; the login is in variables."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    cli = Cli(tmp_path / "config", login.url)
    cli.environ |= {VARIABLES[name]: path for name, path in login.files.items()}
    cli.environ["EDITOR"] = "true"
    prepare(cli, login.url, here, **login.files)
    return cli


def choose_flags(cli: Cli, login: Login, place: str) -> list[str]:
    """Move the login to a place; return the flags that a line needs then."""
    if place == "variables":
        return []
    flags = [
        "--server",
        login.url,
        *(word for name, path in login.files.items() for word in (f"--{name}", path)),
    ]
    cli(["context", "add", "guarded", *flags], status=0)
    for name in ("NATS_URL", *VARIABLES.values()):
        cli.environ.pop(name, None)
    return flags if place == "flags" else ["--context", "guarded"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("login", "place"),
    [
        ("password", "context"),
        *(
            pytest.param(*case, marks=pytest.mark.long)
            for case in (
                ("password", "variables"),
                ("password", "flags"),
                ("token", "context"),
                ("creds", "variables"),
                ("nkey and TLS", "flags"),
            )
        ),
    ],
    indirect=["login"],
)
def test_every_verb(place: str, login: Login, cli: Cli, tmp_path: Path) -> None:
    """What each verb of the registry writes on a server, with --json and --trace, holds no secret."""
    here = tmp_path / "here"
    flags = choose_flags(cli, login, place)
    done = 0
    with without_spark():
        ending = {
            path: line
            for path, line in lines(here).items()
            if not is_endless(path) and path not in ("context rm", "completion", "shell")
        }
        for _, line in renew_streams(login.url, ending, **login.files):
            for more in ([], ["--json", "--trace"], ["--no-such-flag"]):
                outcome = cli([*line, *flags, *more])
                for secret in login.secrets:
                    assert secret not in outcome.out + outcome.err, (line, more, outcome)
            done += 1
    assert done > 170
    for file in here.rglob("*"):
        if file.is_file():
            assert not any(secret.encode() in file.read_bytes() for secret in login.secrets), file


@pytest.mark.slow
@pytest.mark.parametrize("login", ["password", pytest.param("creds", marks=pytest.mark.long)], indirect=True)
def test_every_endless_verb(login: Login, cli: Cli, tmp_path: Path) -> None:
    """So does what verbs write until ctrl-C."""
    flags = choose_flags(cli, login, "context")
    endless = [line for path, line in lines(tmp_path / "here").items() if is_endless(path)]
    assert len(endless) > 20
    for start in range(0, len(endless), BATCH):
        batch = [(line, cli.start([*line, *flags, "--trace"])) for line in endless[start : start + BATCH]]
        until = time.monotonic() + 2
        for line, process in batch:
            try:
                out, err = process.communicate(timeout=max(0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=60)
            assert not any(secret in out + err for secret in login.secrets), (line, out, err)


@pytest.mark.cluster
def test_networks(tmp_path: Path) -> None:
    """Nor do the verbs of networks show the seeds of their accounts and users."""
    cli, store = Cli(tmp_path / "config"), tmp_path / "network"
    cli(f"server network up hub-spokes --store {store} --port 0", status=0)
    try:
        seeds = [file.read_text().strip() for file in store.rglob("*.nk")]
        assert len(seeds) >= 5
        for line in NETWORK_VERBS.values():
            words = [word.replace("{}", str(store)) for word in line.split()]
            if {"stop", "kill", "pause", "lame-duck", "shell"} & set(words):
                words.append("--no-such-flag")
            for more in ([], ["--json"]):
                outcome = cli([*words, *more])
                assert not any(seed in outcome.out + outcome.err for seed in seeds), (words, outcome)
    finally:
        cli(f"server network down {store} --force", status=0)


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize("login", ["password"], indirect=True)
@pytest.mark.parametrize(
    "flags",
    [
        ["--remote", "sc://{}/;token=hunter3;user_id=hunter3"],
        ["--remote", "sc://user:hunter3@{}"],
        ["--master", "spark://user:hunter3@{}"],
        ["--remote", "http://user:hunter3@{}"],
    ],
)
def test_the_connection_of_a_spark_session(login: Login, cli: Cli, tmp_path: Path, flags: list[str]) -> None:
    """No verb that moves data shows how to log in to its cluster, where none answers as one."""
    (tmp_path / "table").mkdir()
    verbs = (
        "export stream ORDERS --to {0}/out",
        "export kv CONFIG --to {0}/out",
        "export reports --to {0}/out",
        "import {0}/table --format parquet --stream ORDERS",
    )
    silent = f"127.0.0.1:{free_port()}"
    for line in verbs:
        words = line.format(tmp_path).split()
        for more in ([], ["--json", "--trace"]):
            outcome = cli([*words, *(flag.format(silent) for flag in flags), *more])
            shown = outcome.out + outcome.err
            assert outcome.status and silent in shown, "it did not ask for the cluster"
            assert "hunter" not in shown, (words, outcome)


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize("login", ["password"], indirect=True)
@pytest.mark.parametrize(
    "flags",
    [
        "--remote sc://{}/;token=hunter2;hunter3",
        "--remote sc://{}/hunter3;token=hunter3",
        "--master spark://user:hunter3@{}",
        "--master spark://{}/hunter3",
    ],
)
def test_what_spark_says_of_a_connection(login: Login, cli: Cli, tmp_path: Path, flags: str) -> None:
    """Nor does what Spark says of an address that it does not take, where something listens. In a process of
    its own: one that has a session would use that."""
    make_again(login.url)
    line = f"export stream ORDERS --to {tmp_path}/out {flags.format(login.url.rpartition('@')[2])}"
    process = cli.start(line)
    out, err = process.communicate(timeout=300)
    assert process.returncode and "127.0.0.1" in err
    assert "hunter" not in out + err
