"""`jsctl exporter --web-config`: TLS and logins for scrapes, as with Prometheus' own exporters."""

import re
import ssl
import subprocess
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import bcrypt
import pytest
import trustme

from tests.support.run import Cli
from tests.support.waiting import wait_for

HASH = bcrypt.hashpw(b"a password", bcrypt.gensalt(4)).decode()


@contextmanager
def running(cli: Cli, config: Path) -> Iterator[int]:
    """An exporter's port, once it has metrics. cli: with a server."""
    process: subprocess.Popen[str] = cli.start(
        ["exporter", "--listen", "127.0.0.1:0", "--interval", "200ms", "--web-config", str(config)]
    )
    assert process.stderr
    try:
        announced = re.search(r"127\.0\.0\.1, port (\d+)", process.stderr.readline())
        assert announced
        yield int(announced[1])
    finally:
        process.kill()
        process.communicate()


def scrape(url: str, login: str = "", context: ssl.SSLContext | None = None) -> int:
    """The status of an answer; 0 without one."""
    headers = {"Authorization": login} if login else {}
    try:
        with urllib.request.urlopen(
            urllib.request.Request(url, headers=headers), timeout=5, context=context
        ) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code
    except OSError:
        return 0


def basic(user: str, password: str) -> str:
    return "Basic " + b64encode(f"{user}:{password}".encode()).decode()


@pytest.mark.slow
def test_only_logins_scrape(cli: Cli, tmp_path: Path) -> None:
    config = tmp_path / "web.yml"
    config.write_text(f"basic_auth_users:\n  prometheus: {HASH}\n")
    with running(cli, config) as port:
        url = f"http://127.0.0.1:{port}/metrics"
        right = basic("prometheus", "a password")
        wait_for(lambda: scrape(url, right) == 200, "the first round is complete")
        assert scrape(url, right) == 200  # which is known now
        for login in (
            "",
            basic("prometheus", "another"),
            basic("nobody", "a password"),
            basic("prometheus", "a password\0"),
            basic("prometheus", "x" * 100),
            right.replace("Basic", "Bearer"),
            "Basic !",
            "Basic \xe4",
            "Basic " + b64encode(b"prometheus").decode(),
        ):
            assert scrape(url, login) == 401, login


@pytest.mark.slow
def test_scrapes_with_tls_and_a_renewed_certificate(cli: Cli, tmp_path: Path) -> None:
    ca, other_ca = trustme.CA(), trustme.CA()

    def issue(authority: trustme.CA) -> None:
        certificate = authority.issue_cert("127.0.0.1")
        certificate.cert_chain_pems[0].write_to_path(tmp_path / "server.pem")
        certificate.private_key_pem.write_to_path(tmp_path / "server.key")

    def trusting(authority: trustme.CA) -> ssl.SSLContext:
        context = ssl.create_default_context()
        authority.configure_trust(context)
        return context

    issue(ca)
    ca.cert_pem.write_to_path(tmp_path / "ca.pem")
    (tmp_path / "web.yml").write_text(
        "tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n  min_version: TLS13\n"
        "  client_ca_file: ca.pem\n  client_auth_type: RequireAndVerifyClientCert\n"
    )
    client = ca.issue_cert("prometheus")
    context, renewed = trusting(ca), trusting(other_ca)
    for each in (context, renewed):
        client.configure_cert(each)
    with running(cli, tmp_path / "web.yml") as port:
        url = f"https://127.0.0.1:{port}/metrics"
        wait_for(lambda: scrape(url, context=context) == 200, "the first round is complete")
        assert scrape(url, context=trusting(ca)) == 0  # without a client's certificate
        assert scrape(url.replace("https", "http")) == 0
        issue(other_ca)
        wait_for(lambda: scrape(url, context=renewed) == 200, "the new certificate is used")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("basic_auth_users: {a: secret}", "web.yml:1: the password of a is not a bcrypt hash"),
        ("basic_auth_users: {a: $2b$10$short}", "the password of a is not a bcrypt hash"),
        ("basic_auth_user: {}", "did you mean basic_auth_users?"),
        ("tls_server_config: {cert_file: a.pem}", "needs cert_file and key_file"),
        ("tls_server_config: {cert_file: a.pem, key_file: a.key}", "are not a certificate and its key"),
        (
            "tls_server_config: {cert_file: a.pem, key_file: a.key, client_ca_file: c.pem}",
            "client_ca_file and client_auth_type need each other",
        ),
        (
            "tls_server_config: {cert_file: a.pem, key_file: a.key, min_version: TLS10}",
            "'TLS10' is not a valid min_version; use TLS12, TLS13",
        ),
        ("tls_server_config: {cert_file: a.pem, key_file: b.key}", "b.key is not a file"),
        ("", "holds no configuration"),
    ],
)
def test_wrong_files(text: str, expected: str, offline_cli: Cli, tmp_path: Path) -> None:
    for name, content in (("web.yml", text), ("a.pem", ""), ("a.key", ""), ("c.pem", "")):
        (tmp_path / name).write_text(content)
    err = offline_cli(f"exporter --count 1 --web-config {tmp_path}/web.yml", status=64).err
    assert expected in err and "secret" not in err.replace(expected, "")
    assert "web-config" in offline_cli(f"exporter --textfile - --web-config {tmp_path}/no.yml", status=64).err
