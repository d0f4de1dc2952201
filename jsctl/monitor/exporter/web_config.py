"""The web configuration file of Prometheus' exporters: TLS, and who may scrape
(prometheus/exporter-toolkit, docs/web-configuration.md)."""

import base64
import hashlib
import re
import ssl
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from jsctl.base.files import read_text
from jsctl.jetstream.config.documents import parse_document
from jsctl.jetstream.config.nodes import Node

T = TypeVar("T")

_KEYS = frozenset({"tls_server_config", "basic_auth_users"})
_FILES = ("cert_file", "key_file", "client_ca_file")
_TLS_KEYS = frozenset({*_FILES, "client_auth_type", "min_version"})
_VERSIONS = {"TLS12": ssl.TLSVersion.TLSv1_2, "TLS13": ssl.TLSVersion.TLSv1_3}
_CLIENTS = {
    "NoClientCert": ssl.CERT_NONE,
    "VerifyClientCertIfGiven": ssl.CERT_OPTIONAL,
    "RequireAndVerifyClientCert": ssl.CERT_REQUIRED,
}
_HASH = re.compile(rb"\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}")


class WebConfig:
    """Who may scrape, and with which certificate. tls: None for plain HTTP."""

    def __init__(self, users: Mapping[str, bytes], tls: "_Tls | None" = None) -> None:
        """users: bcrypt hashes by name; empty to let everybody scrape."""
        self._users = dict(users)
        self._accepted: set[bytes] = set()
        self.tls = tls

    def is_allowed(self, authorization: str) -> bool:
        """Return whether the value of a request's header Authorization is a valid login.

        The first comparison of a login takes as long as its bcrypt hash wants (50 ms at a cost of 10).
        """
        if not self._users:
            return True
        scheme, _, text = authorization.partition(" ")
        try:
            user, colon, password = base64.b64decode(text.strip(), validate=True).partition(b":")
        except ValueError:
            return False
        if scheme.lower() != "basic" or not colon or b"\0" in password:
            return False
        password = password[:72]  # bcrypt ignores what follows
        # Prometheus sends the same login with each scrape, which must not cost 50 ms each time.
        digest = hashlib.sha256(user + colon + password).digest()
        if digest in self._accepted:
            return True
        import bcrypt

        known = self._users.get(user.decode(errors="replace"))
        # A user who is not known takes as long as one who is.
        is_equal = bcrypt.checkpw(password, known or next(iter(self._users.values())))
        if known is None or not is_equal:
            return False
        self._accepted.add(digest)
        return True


def load_web_config(file: str) -> WebConfig:
    """Read a web configuration file; paths in it are below its folder. Raises BadInput."""
    keys = parse_document(read_text(Path(file)), file).read_keys("a web configuration", _KEYS)
    users = {}
    if logins := keys.get("basic_auth_users"):
        for name, node in logins.as_object("basic_auth_users").items():
            users[name] = node.as_text("the password of a user").encode()
            if not _HASH.fullmatch(users[name]):
                raise node.error(
                    f"the password of {name} is not a bcrypt hash", "jsctl server passwd prints one"
                )
    settings = keys.get("tls_server_config")
    return WebConfig(users, _Tls(settings, Path(file).parent) if settings else None)


class _Tls:
    """The server's side of TLS. context: of the connections that begin."""

    def __init__(self, node: Node, folder: Path) -> None:
        """folder: where relative paths begin. Raises BadInput."""
        keys = node.read_keys("tls_server_config", _TLS_KEYS)
        files = {key: str(folder / keys[key].as_text(key)) for key in _FILES if key in keys}
        if "cert_file" not in files or "key_file" not in files:
            raise node.error("tls_server_config needs cert_file and key_file")
        self._pair = files["cert_file"], files["key_file"]
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = _choose(keys, "min_version", _VERSIONS, ssl.TLSVersion.TLSv1_2)
        self.context.verify_mode = _choose(keys, "client_auth_type", _CLIENTS, ssl.CERT_NONE)
        if ("client_ca_file" in files) != (self.context.verify_mode is not ssl.CERT_NONE):
            raise node.error("client_ca_file and client_auth_type need each other")
        if missing := next((file for file in files.values() if not Path(file).is_file()), ""):
            raise node.error(f"{missing} is not a file", f"relative paths begin at {folder}")
        try:
            # An empty password, so that OpenSSL never asks on the terminal.
            self.context.load_cert_chain(*self._pair, password="")
        except (ssl.SSLError, OSError):
            raise keys["cert_file"].error(
                f"{' and '.join(self._pair)} are not a certificate and its key",
                "both must be PEM and belong together, and the key must not have a passphrase",
            ) from None
        try:
            if "client_ca_file" in files:
                self.context.load_verify_locations(files["client_ca_file"])
        except (ssl.SSLError, OSError):
            raise keys["client_ca_file"].error(f"{files['client_ca_file']} holds no CA certificate") from None

    def renew(self) -> None:
        """Use the certificate that the files hold now, from the next connection on; the last one if they are
        not a certificate and its key, as while they are replaced."""
        with suppress(ssl.SSLError, OSError):
            # A pair that does not belong together would be half loaded.
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(*self._pair, password="")
            self.context.load_cert_chain(*self._pair, password="")


def _choose(keys: Mapping[str, Node], key: str, choices: Mapping[str, T], default: T) -> T:
    """Return what a key's text stands for. Raises BadInput."""
    if key not in keys:
        return default
    text = keys[key].as_text(key)
    if text not in choices:
        raise keys[key].error(f"{text!r} is not a valid {key}", f"use {', '.join(choices)}")
    return choices[text]
