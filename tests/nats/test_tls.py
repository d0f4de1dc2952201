"""TLS and proxies on real servers, and servers that hang or die."""

import asyncio
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
import trustme

from jsctl.base.units import SECOND
from jsctl.contexts.settings import Settings
from jsctl.errors import Denied, ExitStatus, Unreachable
from jsctl.nats.connection import Connection
from jsctl.nats.events import ConnectionEvent, Disconnected, Reconnected
from tests.support.run import Cli
from tests.support.servers import Account, RealServer, binary, free_port
from tests.support.socks import socks5
from tests.support.waiting import wait_for

pytestmark = pytest.mark.usefixtures("each_connection")

OK = "No Streams defined\n"


class Certificates(NamedTuple):
    ca: Path
    server: Path
    client: Path
    client_key: Path
    other_ca: Path
    other_client: Path


@pytest.fixture(scope="module")
def certs(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    folder = tmp_path_factory.mktemp("certs")
    certs = Certificates(*(folder / f"{name}.pem" for name in Certificates._fields))
    ca = trustme.CA()
    ca.cert_pem.write_to_path(str(certs.ca))
    ca.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(certs.server))
    client = ca.issue_cert("client@example.org")
    client.cert_chain_pems[0].write_to_path(str(certs.client))
    client.private_key_pem.write_to_path(str(certs.client_key))
    other = trustme.CA()
    other.cert_pem.write_to_path(str(certs.other_ca))
    other.issue_cert("client@example.org").private_key_and_cert_chain_pem.write_to_path(
        str(certs.other_client)
    )
    return certs


class TlsServer(RealServer):
    """`RealServer.start` waits for a plain INFO, which a server with TLS first does not send."""

    def start(self) -> "RealServer":
        with self.log.open("ab") as log:
            self.process = subprocess.Popen([binary(), "-c", str(self.config)], stdout=log, stderr=log)
        wait_for(lambda: "Server is ready" in self.log.read_text(), f"it did not start; see {self.log}")
        return self


@contextmanager
def tls_server(folder: Path, certs: Certificates, more: str = "") -> Iterator[RealServer]:
    server = TlsServer(
        folder,
        f"""
listen: "127.0.0.1:{{port}}"
jetstream {{ store_dir: "{{store}}" }}
tls {{ cert_file: "{certs.server}", key_file: "{certs.server}", ca_file: "{certs.ca}", timeout: 1, {more} }}
""",
    )
    try:
        yield server.start()
    finally:
        server.stop()


def tls_failure(cli: Cli, line: str) -> str:
    outcome = cli(line, status=ExitStatus.UNREACHABLE)
    assert outcome.out == ""
    assert outcome.err.count("\n") == 1, outcome.err
    return outcome.err


def test_ca(offline_cli: Cli, certs: Certificates, tmp_path: Path) -> None:
    with tls_server(tmp_path, certs) as server:
        line = f"stream ls -s {server.url}"
        assert offline_cli(f"{line} --tlsca {certs.ca}", status=0).out == OK
        assert offline_cli(f"{line.replace('nats:', 'tls:')} --tlsca {certs.ca}", status=0).out == OK
        untrusted = tls_failure(offline_cli, line)
        assert "no known CA has signed the server's certificate (" in untrusted
        assert "; name its CA with --tlsca\n" in untrusted
        assert "TLS with" in tls_failure(offline_cli, f"{line} --tlsca {certs.other_ca}")
        assert "certificate is not valid for 'localhost'; connect to a name" in tls_failure(
            offline_cli, f"stream ls -s nats://localhost:{server.port} --tlsca {certs.ca}"
        )
        offline_cli(f"context add t -s tls://127.0.0.1:{server.port} --tlsca {certs.ca} --defaults", status=0)
        assert offline_cli("stream ls --context t", status=0).out == OK


def test_client_certificate(offline_cli: Cli, certs: Certificates, tmp_path: Path) -> None:
    with tls_server(tmp_path, certs, "verify: true") as server:
        line = f"stream ls -s {server.url} --tlsca {certs.ca}"
        login = f"--tlscert {certs.client} --tlskey {certs.client_key}"
        assert offline_cli(f"{line} {login}", status=0).out == OK
        # Who still writes when the server closes does not read why.
        closed = (
            "the server closed the connection; see its log; a server that verifies clients needs --tlscert"
        )
        required = "the server requires a client certificate; name yours with --tlscert and --tlskey"
        missing = tls_failure(offline_cli, line)
        assert required in missing or closed in missing
        other = f"--tlscert {certs.other_client} --tlskey {certs.other_client}"
        refused = tls_failure(offline_cli, f"{line} {other}")
        assert "does not accept the client certificate (" in refused or closed in refused
        outcome = offline_cli(f"{line} --tlscert {certs.client}", status=ExitStatus.USAGE)
        assert "needs both --tlscert and --tlskey" in outcome.err
        outcome = offline_cli(
            f"{line} --tlscert {certs.ca} --tlskey {certs.client_key}", status=ExitStatus.USAGE
        )
        assert "not a certificate and its key" in outcome.err


@pytest.mark.slow
def test_tls_first(offline_cli: Cli, certs: Certificates, tmp_path: Path) -> None:
    with tls_server(tmp_path, certs, "handshake_first: true") as server:
        line = f"stream ls -s {server.url} --tlsca {certs.ca}"
        assert offline_cli(f"{line} --tlsfirst", status=0).out == OK
        assert "needs --tlsfirst" in tls_failure(offline_cli, line)
        offline_cli(f"context add f -s {server.url} --tlsca {certs.ca} --tlsfirst --defaults", status=0)
        assert offline_cli("stream ls --context f", status=0).out == OK


def test_tls_that_was_asked_for_is_never_left_out(
    offline_cli: Cli, own_account: Account, certs: Certificates
) -> None:
    for flags in (f"--tlsca {certs.ca}", ""):
        url = f"tls://t0:t0@127.0.0.1:{own_account.server.port}"
        assert "the server has none" in tls_failure(offline_cli, f"stream ls -s {url} {flags}")
    assert "--tlsfirst is for" in tls_failure(
        offline_cli, f"stream ls -s nats://t0:t0@127.0.0.1:{own_account.server.port} --tlsfirst"
    )


def test_missing_files(offline_cli: Cli, certs: Certificates) -> None:
    line = "stream ls -s tls://127.0.0.1:1"
    for flags in ("--tlsca /nope", f"--tlscert /nope --tlskey {certs.client_key}"):
        assert "does not exist" in offline_cli(f"{line} {flags}", status=ExitStatus.USAGE).err
    assert "holds no CA" in offline_cli(f"{line} --tlsca {__file__}", status=ExitStatus.USAGE).err


def test_socks_proxy(cli: Cli, certs: Certificates, own_account: Account, tmp_path: Path) -> None:
    with socks5() as proxy:
        flag = f"--socks-proxy socks5://127.0.0.1:{proxy.port}"
        assert cli(f"stream ls {flag}", status=0).out == OK
        assert proxy.targets == [f"127.0.0.1:{own_account.server.port}"]
        with tls_server(tmp_path, certs) as server:
            assert cli(f"stream ls {flag} --tlsca {certs.ca} -s {server.url}", status=0).out == OK
        assert len(proxy.targets) == 2
        outcome = cli(f"stream ls {flag} -s nats://127.0.0.1:{free_port()}", status=ExitStatus.UNREACHABLE)
        assert outcome.err.count("\n") == 1 and "the proxy says" in outcome.err
        variables = {"NATS_SOCKS_PROXY": f"socks5://127.0.0.1:{proxy.port}"}
        assert cli("stream ls", environ=variables, status=0).out == OK
        assert len(proxy.targets) == 4
        assert cli("stream ls --socks-proxy none", environ=variables, status=0).out == OK
        assert len(proxy.targets) == 4
    outcome = cli(f"stream ls {flag}", status=ExitStatus.UNREACHABLE)
    assert outcome.err.count("\n") == 1 and "cannot be reached" in outcome.err


def test_socks_proxy_with_a_login(cli: Cli) -> None:
    with socks5("me", "s3cret") as proxy:
        line = "context add p --defaults --socks-proxy"
        added = cli(f"{line} socks5://me:s3cret@127.0.0.1:{proxy.port}", status=0)
        assert "s3cret" not in added.out
        assert cli("stream ls --context p", status=0).out == OK
        outcome = cli(
            f"stream ls --socks-proxy me:wr0ng@127.0.0.1:{proxy.port}", status=ExitStatus.UNREACHABLE
        )
        assert "wr0ng" not in outcome.err and outcome.err.count("\n") == 1
    assert "http" not in cli("stream ls --socks-proxy http://x", status=ExitStatus.USAGE).err


@contextmanager
def mute() -> Iterator[int]:
    """A port that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield int(listener.getsockname()[1])


@pytest.mark.long
def test_a_server_that_hangs(cli: Cli, url: str) -> None:
    with mute() as port:
        started = time.monotonic()
        outcome = cli(f"stream ls -s nats://127.0.0.1:{port} --timeout 1s", status=ExitStatus.UNREACHABLE)
        assert time.monotonic() - started < 2
        assert outcome.err.count("\n") == 1 and "no answer in time" in outcome.err
        started = time.monotonic()
        assert cli(f"stream ls -s nats://127.0.0.1:{port},{url} --timeout 2s", status=0).out == OK
        assert time.monotonic() - started < 2


def test_a_server_that_closes_the_connection_is_named(cli: Cli) -> None:
    listener = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        for greeting in (b"", b'INFO {"server_id":"x","max_payload":1}\r\n', b"HTTP/1.1 400\r\n\r\n"):
            client, _ = listener.accept()
            client.sendall(greeting)
            client.recv(100) if b"INFO" in greeting else None
            client.close()

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    for _ in range(3):
        line = f"stream ls -s nats://127.0.0.1:{listener.getsockname()[1]} --timeout 2s"
        outcome = cli(line, status=ExitStatus.UNREACHABLE)
        assert outcome.err.count("\n") == 1, outcome.err
    thread.join()
    listener.close()


def test_a_server_that_dies(offline_cli: Cli, tmp_path: Path) -> None:
    server = RealServer(tmp_path, 'listen: "127.0.0.1:{port}"\njetstream { store_dir: "{store}" }').start()
    line = f"stream ls -s {server.url} --timeout 1s"
    try:
        assert offline_cli(line, status=0).out == OK
    finally:
        server.kill()
    outcome = offline_cli(line, status=ExitStatus.UNREACHABLE)
    assert outcome.err.count("\n") == 1 and "connection refused" in outcome.err


@pytest.mark.slow
def test_a_lost_connection_is_reported_once(tmp_path: Path) -> None:
    """Not once a try: a watch would scroll away."""
    server = RealServer(tmp_path, 'listen: "127.0.0.1:{port}"').start()
    events: list[ConnectionEvent] = []

    async def watch() -> None:
        back = asyncio.Event()

        def on_event(event: ConnectionEvent) -> None:
            events.append(event)
            if isinstance(event, Reconnected):
                back.set()

        connection = await Connection.open(Settings(url=server.url, timeout=SECOND), on_event=on_event)
        server.kill()
        with pytest.raises(Unreachable, match="lost the connection"):
            await connection.request("x", timeout=2 * SECOND)
        server.start()
        await back.wait()
        await connection.flush()
        await connection.close()

    try:
        asyncio.run(asyncio.wait_for(watch(), 20))
    finally:
        server.stop()
    assert [type(event) for event in events] == [Disconnected, Reconnected]


def test_a_refused_login_is_not_a_lost_connection(own_account: Account) -> None:
    events: list[ConnectionEvent] = []

    async def attempt() -> None:
        url = f"nats://t0:wrong@127.0.0.1:{own_account.server.port}"
        await Connection.open(Settings(url=url), on_event=events.append)

    with pytest.raises(Denied):
        asyncio.run(attempt())
    assert events == []
