"""Logins, configurations and other files in pipes, as `<(vault read ...)` of a shell makes them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.nats.test_tls import OK, Certificates, certs, tls_server
from tests.support import js
from tests.support.jwt import Key, Operator, write_creds
from tests.support.run import Cli
from tests.support.servers import RealServer
from tests.support.waiting import wait_for

__all__ = ["certs"]  # a fixture


def run(cli: Cli, command: str, status: int = 0) -> str:
    """Run a command of bash in which $J is jsctl, check its status, and return what it writes."""
    ended = subprocess.run(
        ["bash", "-c", command],
        env={**os.environ, **cli.environ, "J": f"{sys.executable} -m jsctl"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == status, ended
    return ended.stdout + (ended.stderr if status else "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "verb",
    [
        "stream ls",
        "server check connection --connect-critical 9s --connect-warn 9s",
        "rtt",
        "sub a --count 1 --timeout 5s",
    ],
)
def test_credentials(
    verb: str, offline_cli: Cli, signed: RealServer, operator: Operator, tmp_path: Path
) -> None:
    jwt, key = operator.user()
    creds = write_creds(tmp_path / "user.creds", jwt, key.seed)
    again = f"for i in 1 2 3; do sleep 1; $J pub a x -s {signed.url} --creds {creds}; done"
    publishing = f"({again}) &" if "sub" in verb else ""
    assert run(offline_cli, f"{publishing} $J {verb} -s {signed.url} --creds <(cat {creds})")
    if not publishing:
        assert run(offline_cli, f"cat {creds} | $J {verb} -s {signed.url} --creds /dev/stdin")
        assert run(offline_cli, f"NATS_CREDS=<(sleep 1; cat {creds}) $J {verb} -s {signed.url}")


def test_a_named_pipe(offline_cli: Cli, signed: RealServer, operator: Operator, tmp_path: Path) -> None:
    jwt, key = operator.user()
    creds = write_creds(tmp_path / "user.creds", jwt, key.seed)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert (
        run(offline_cli, f"(sleep 1; cat {creds} > {pipe}) & $J stream ls -s {signed.url} --creds {pipe}")
        == OK
    )


def test_credentials_of_benchmarks_in_processes(
    offline_cli: Cli, signed: RealServer, operator: Operator, tmp_path: Path
) -> None:
    jwt, key = operator.user()
    creds = write_creds(tmp_path / "user.creds", jwt, key.seed)
    line = "bench pub a --msgs 100 --clients 2 --no-progress"
    assert run(offline_cli, f"$J {line} -s {signed.url} --creds <(cat {creds})")


def test_a_context_stores_what_a_pipe_had_not_its_path(
    offline_cli: Cli, signed: RealServer, operator: Operator, tmp_path: Path
) -> None:
    jwt, key = operator.user()
    creds = write_creds(tmp_path / "user.creds", jwt, key.seed)
    add = f"$J context add ci -s {signed.url} --creds <(cat {creds}) --defaults"
    assert "it is not a regular file" in run(offline_cli, add, status=64)
    run(offline_cli, f"{add} --embed")
    assert offline_cli("stream ls --context ci", status=0).out == OK


def test_certificates(offline_cli: Cli, certs: Certificates, tmp_path: Path) -> None:
    with tls_server(tmp_path, certs, "verify: true") as server:
        pipes = (
            f"--tlsca <(cat {certs.ca}) --tlscert <(cat {certs.client}) --tlskey <(cat {certs.client_key})"
        )
        assert run(offline_cli, f"$J stream ls -s {server.url} {pipes}") == OK


@pytest.mark.slow
def test_configurations(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "A", "a.>", description="one")
    config = '$J stream info A --json | sed \'s/"A"/"B"/; s/a[.]>/b.>/\''
    run(cli, f"$J stream add --config <({config})")
    run(cli, "$J stream rm B --force")
    run(cli, f"{config} | $J stream add --config /dev/stdin")
    run(cli, '$J stream edit B --config <($J stream info B --json | sed \'s/"one"/"two"/\') --force')
    assert cli("stream info B --json", status=0).json["config"]["description"] == "two"
    run(cli, '$J consumer add B C --config <(echo \'{"ack_policy": "explicit"}\') --pull --defaults')
    run(cli, "$J diff -f <($J export config)")
    run(cli, "$J export config | $J diff -f /dev/stdin")
    run(
        cli,
        "$J export config > all.yaml; $J apply --force -f <(cat all.yaml)".replace(
            "all", str(tmp_path / "a")
        ),
    )


@pytest.mark.slow
def test_data(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "A", "a.>")
    cli("kv add B", status=0)
    cli("object add O", status=0)
    dump = '{"subject": "a.b", "data": "x"}'
    run(cli, f"$J pub --from-dump <(for i in 1 2 3; do echo '{dump}'; sleep 0.2; done)")
    run(cli, f"echo '{dump}' | $J pub --from-dump /dev/stdin")
    wait_for(lambda: js.ask(url, "STREAM.INFO.A")["state"]["messages"] == 4, "the dumped messages")
    run(cli, 'echo \'{"key": "k", "value": "v"}\' | $J kv import B /dev/stdin')
    assert run(cli, "$J kv get B k --raw") == "v"
    run(cli, "$J object put O <(echo hello) --name x")
    run(cli, "$J object put O /dev/null --name empty")
    assert run(cli, "$J object get O x --output -") == "hello\n"
    assert run(cli, "$J object get O x --output /dev/stdout --no-progress").startswith("hello\n")
    line = f"(echo first; $J object get O x --output /dev/stdout; echo last) > {tmp_path}/all"
    run(cli, line)
    assert (tmp_path / "all").read_text().startswith("first\nhello\n")
    assert (tmp_path / "all").read_text().endswith("last\n")
    run(cli, "$J object get O x --output /dev/null")
    assert "valid" in run(cli, "$J schema validate stream_info_response <($J stream info A --json)", 1)
    assert run(cli, "$J shell --file <(echo stream ls --names)").startswith("A\n")


def test_keys(offline_cli: Cli, nkey: Key, tmp_path: Path) -> None:
    seed = tmp_path / "seed"
    seed.write_text(nkey.seed)
    public = offline_cli(f"auth nkey show {seed}", status=0).out
    assert run(offline_cli, f"$J auth nkey show <(cat {seed})") == public
    assert run(offline_cli, f"$J auth nkey sign <(echo data) <(cat {seed})")
