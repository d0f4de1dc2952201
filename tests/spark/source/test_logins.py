"""Logins and TLS of the reader of Spark tasks."""

import contextlib
import socket
import threading
from pathlib import Path

import nkeys
import pytest
import trustme

from jsctl.base.units import SECOND
from jsctl.contexts.settings import Settings
from jsctl.errors import Denied, Unreachable
from jsctl.spark.source.connection import StreamConnection
from jsctl.spark.source.direct import DirectReader
from jsctl.spark.source.range_reader import ReadJob
from tests.spark.source.test_reader import sequences
from tests.support.jwt import Operator, new_key, write_creds
from tests.support.servers import RealServer, free_port


def info(settings: Settings) -> str:
    with contextlib.closing(StreamConnection.open(settings)) as connection:
        return str(connection.call("$JS.API.INFO")["limits"])


def test_logins(tmp_path: Path) -> None:
    key = new_key(nkeys.PREFIX_BYTE_USER)
    seed = tmp_path / "user.nk"
    seed.write_text(key.seed)
    server = RealServer(
        tmp_path / "plain",
        'listen: "127.0.0.1:{port}"\njetstream { store_dir: "{store}" }\n'
        "accounts { A: { jetstream: enabled, users: ["
        f" {{user: bob, password: secret1}}, {{nkey: {key.public}}} ] }} }}\n",
    ).start()
    try:
        assert info(Settings(url=server.url, user="bob", password="secret1"))
        assert info(Settings(url=server.url_for("bob", "secret1")))
        assert info(Settings(url=server.url, nkey=str(seed)))
        assert info(Settings(url=f"nats://127.0.0.1:{free_port()},{server.url_for('bob', 'secret1')}"))
        with pytest.raises(Denied, match="refuses the login") as refused:
            StreamConnection.open(Settings(url=server.url_for("bob", "wrong2")))
        assert "wrong2" not in str(refused.value)
    finally:
        server.stop()
    with pytest.raises(Unreachable, match="connection refused"):
        StreamConnection.open(Settings(url=server.url))


def test_credentials(tmp_path: Path) -> None:
    operator = Operator()
    server = RealServer(tmp_path / "operator", operator.config()).start()
    try:
        jwt, key = operator.user()
        creds = write_creds(tmp_path / "user.creds", jwt, key.seed)
        assert info(Settings(url=server.url, creds=str(creds)))
        assert info(Settings(url=server.url, jwt=jwt, seed=key.seed))
        with pytest.raises(Denied):
            StreamConnection.open(Settings(url=server.url))
    finally:
        server.stop()


@pytest.mark.parametrize("first", [False, True])
def test_tls(tmp_path: Path, first: bool) -> None:
    ca = trustme.CA()
    ca.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    ca.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "server.pem"))
    pem = tmp_path / "server.pem"
    server = RealServer(
        tmp_path / "tls",
        f'listen: "127.0.0.1:{{port}}"\njetstream {{ store_dir: "{{store}}" }}\n'
        f'tls {{ cert_file: "{pem}", key_file: "{pem}", handshake_first: {"auto" if first else "false"} }}\n',
    ).start()
    settings = Settings(url=server.url, tlsca=str(tmp_path / "ca.pem"), tlsfirst=first)
    try:
        with contextlib.closing(StreamConnection.open(settings)) as connection:
            config = {"name": "S", "subjects": ["S.>"], "allow_direct": True}
            created = connection.call("$JS.API.STREAM.CREATE.S", config)["created"]
            for _ in range(20):
                connection.call("S.x", {"pad": "x" * 50_000})
        range_reader = DirectReader(ReadJob("S", created, 1, 21), lambda: StreamConnection.open(settings))
        assert sequences(range_reader) == list(range(1, 21))
        with pytest.raises(Unreachable, match="TLS with"):
            StreamConnection.open(Settings(url=server.url.replace("nats", "tls")))
    finally:
        server.stop()


def test_no_nats_server(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def greet() -> None:
            with contextlib.suppress(OSError):
                other, _ = listening.accept()
                other.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                other.close()

        thread = threading.Thread(target=greet)
        thread.start()
        with pytest.raises(Unreachable, match="is not a NATS server"):
            StreamConnection.open(
                Settings(url=f"nats://127.0.0.1:{listening.getsockname()[1]}", timeout=2 * SECOND)
            )
        thread.join()
