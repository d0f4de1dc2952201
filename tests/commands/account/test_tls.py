"""`account tls` on a real server with TLS."""

import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme

from tests.support import verb_shapes
from tests.support.run import Cli
from tests.support.servers import RealServer


@pytest.fixture
def tls(tmp_path: Path) -> Iterator[Cli]:
    """jsctl on a server whose certificate has ten days to go."""
    ca = trustme.CA()
    ca.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    certificate = ca.issue_cert("127.0.0.1", "nats.example", not_after=datetime.now(UTC) + timedelta(days=10))
    certificate.private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "server.pem"))
    pem = tmp_path / "server.pem"
    text = f'listen: "127.0.0.1:{{port}}"\ntls {{ cert_file: "{pem}", key_file: "{pem}" }}'
    server = RealServer(tmp_path, text).start()
    cli = Cli(tmp_path / "config", f"tls://127.0.0.1:{server.port}")
    cli.environ["NATS_CA"] = str(tmp_path / "ca.pem")
    yield cli
    server.stop()


def test_the_chain(tls: Cli) -> None:
    outcome = tls("account tls --json", status=0)
    assert verb_shapes.find_difference("account tls", 0, outcome.out) == ""
    leaf, ca = outcome.json
    assert (leaf["is_ca"], ca["is_ca"]) == (False, True)
    assert leaf["issuer"] == ca["subject"] and leaf["addresses"] == ["127.0.0.1"]
    assert leaf["dns"] == ["nats.example"] and leaf["signature"] == ca["signature"] == "ECDSA-SHA256"
    assert not leaf["expired"] and not leaf["expires_soon"]
    assert ssl.PEM_cert_to_DER_cert(leaf["pem"])
    shown = tls("account tls", tty=True, status=0)
    assert "Certificate 1 of 2" in shown.out and shown.out.count("BEGIN CERTIFICATE") == 2
    assert "BEGIN" not in tls("account tls --no-pem", status=0).out


def test_what_expires_soon_is_a_failure(tls: Cli) -> None:
    outcome = tls("account tls --expire-warn 20d --no-pem --json", status=1)
    assert [one["expires_soon"] for one in outcome.json] == [True, False]
    assert "expires in" in tls("account tls --expire-warn 20d --no-pem", status=1).out
    assert tls("account tls --expire-warn 0", status=0).out
    assert "responders" in tls("account tls --ocsp --no-pem", status=0).err


def test_without_tls(cli: Cli) -> None:
    outcome = cli("account tls", status=1)
    assert "has no TLS" in outcome.err and len(outcome.err.splitlines()) == 1
