"""The settings of a connection, each declared once.

What names a setting follows from its declaration: the attribute of `Settings`, the global flag with its help
and its variable, the key of a context's file with its type and its label, the option of Spark's source, and
what is a secret, a path or a login.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from jsctl.base.command_lines import build_flag
from jsctl.base.units import SECOND

DEFAULT_URL = "nats://127.0.0.1:4222"


class Flag(NamedTuple):
    """A global flag. names: of the command line; without a metavar it is a switch. variable: of the
    environment."""

    names: tuple[str, ...]
    metavar: str
    help: str
    variable: str = ""


class FileKey(NamedTuple):
    """A key of a context's file. label: on the page of a context; empty for what people do not see. empty:
    its value when it is not set, which also is its type; None for any."""

    name: str
    label: str
    empty: Any = ""


class Setting(NamedTuple):
    """How a setting is written.

    flag: that sets it, and key: of a context's file; None for neither. kind: "text", "path" (of a file),
    "address", "subject" (a prefix of subjects) or "duration" (ns). login: the setting that stands for the
    login to which it belongs. is_secret: whether no output shows it. option: of Spark's source.
    """

    flag: Flag | None
    key: FileKey | None
    kind: str = "text"
    login: str = ""
    is_secret: bool = False
    option: str = ""

    @property
    def may_refer(self) -> bool:
        """Whether its value may say where it is, such as file://PATH."""
        return bool(self.login) and (self.is_secret or self.kind == "path")


def _flag(name: str, metavar: str, help: str, variable: str = "", short: str = "") -> Flag:
    return Flag((name, short) if short else (name,), metavar, help, variable)


_declared: list[Setting] = []


def _declare(default: Any, flag: Flag | None, key: FileKey | None, **attrs: Any) -> Any:
    """Declare the next field of `Settings`, and return its default. attrs: of Setting."""
    _declared.append(Setting(flag, key, **attrs))
    return default


class Settings(NamedTuple):  # a dataclass would cost every command 2 ms
    """Everything that a connection and its JetStream requests need. Its repr shows no secrets.

    url: one or more, separated by commas; may contain a login. creds, nkey: path of a file, or a reference to
    its text. nsc: nsc://operator/account/user, resolved when connecting. timeout: ns.
    """

    url: str = _declare(
        DEFAULT_URL,
        _flag("--server", "URL", "NATS server URLs", "NATS_URL", short="-s"),
        FileKey("url", "Server URLs"),
        kind="address",
    )
    socks_proxy: str = _declare(
        "",
        _flag("--socks-proxy", "PROXY", "SOCKS5 proxy to connect through", "NATS_SOCKS_PROXY"),
        FileKey("socks_proxy", "SOCKS5 Proxy"),
        kind="address",
    )
    user: str = _declare(
        "",
        _flag("--user", "USER", "Username or token", "NATS_USER"),
        FileKey("user", "Username"),
        login="user",
        option="user",
    )
    password: str = _declare(
        "",
        _flag("--password", "PASSWORD", "Password", "NATS_PASSWORD"),
        FileKey("password", "Password"),
        login="user",
        is_secret=True,
        option="password",
    )
    token: str = _declare(
        "",
        _flag("--token", "TOKEN", "Token for authentication", "NATS_TOKEN"),
        FileKey("token", "Token"),
        login="token",
        is_secret=True,
        option="token",
    )
    creds: str = _declare(
        "",
        _flag("--creds", "FILE", "User credentials file", "NATS_CREDS"),
        FileKey("creds", "Credentials"),
        kind="path",
        login="creds",
        option="creds",
    )
    nkey: str = _declare(
        "",
        _flag("--nkey", "FILE", "User NKEY seed file", "NATS_NKEY"),
        FileKey("nkey", "NKey"),
        kind="path",
        login="nkey",
        option="nkey",
    )
    jwt: str = _declare(
        "",
        _flag("--jwt", "JWT", "User JWT", "NATS_JWT"),
        FileKey("user_jwt", "User JWT"),
        login="jwt",
        is_secret=True,
        option="jwt",
    )
    seed: str = _declare(
        "",
        _flag("--seed", "SEED", "Seed that goes with --jwt", "NATS_SEED"),
        FileKey("user_seed", "User Seed"),
        login="jwt",
        is_secret=True,
        option="seed",
    )
    nsc: str = _declare("", None, FileKey("nsc", "NSC Lookup"), login="nsc")
    tlscert: str = _declare(
        "",
        _flag("--tlscert", "FILE", "TLS client certificate", "NATS_CERT"),
        FileKey("cert", "Certificate"),
        kind="path",
        option="tlsCert",
    )
    tlskey: str = _declare(
        "",
        _flag("--tlskey", "FILE", "TLS client certificate's key", "NATS_KEY"),
        FileKey("key", "Key"),
        kind="path",
        option="tlsKey",
    )
    tlsca: str = _declare(
        "",
        _flag("--tlsca", "FILE", "TLS CA certificate chain", "NATS_CA"),
        FileKey("ca", "CA"),
        kind="path",
        option="tlsCa",
    )
    tlsfirst: bool = _declare(
        False,
        _flag("--tlsfirst/--no-tlsfirst", "", "Do the TLS handshake before the server sends anything"),
        FileKey("tls_first", "TLS First", False),
        option="tlsFirst",
    )
    js_api_prefix: str = _declare(
        "",
        _flag("--js-api-prefix", "PREFIX", "Subject prefix of the JetStream API; empty clears the context's"),
        FileKey("jetstream_api_prefix", "JS API Prefix"),
        kind="subject",
        option="apiPrefix",
    )
    js_event_prefix: str = _declare(
        "",
        _flag("--js-event-prefix", "PREFIX", "Subject prefix of JetStream advisories"),
        FileKey("jetstream_event_prefix", "JS Event Prefix"),
        kind="subject",
    )
    js_domain: str = _declare(
        "",
        _flag("--js-domain", "DOMAIN", "JetStream domain; empty clears the context's"),
        FileKey("jetstream_domain", "JS Domain"),
        kind="subject",
        option="domain",
    )
    inbox_prefix: str = _declare(
        "_INBOX",
        _flag("--inbox-prefix", "PREFIX", "Subject prefix of inboxes"),
        FileKey("inbox_prefix", "Inbox Prefix"),
        kind="subject",
        option="inboxPrefix",
    )
    colors: str = _declare(
        "",
        _flag(
            *("--colors", "SCHEME", "Color of table borders: yellow, blue, cyan, green, magenta, red"),
            variable="NATS_COLOR",
        ),
        FileKey("color_scheme", "Color Scheme"),
    )
    production: bool = _declare(False, None, FileKey("jsctl_production", "Production", False))
    connection_name: str = _declare(
        "", _flag("--connection-name", "NAME", "Name of this connection, as the server lists it"), None
    )
    timeout: int = _declare(
        5 * SECOND,
        _flag("--timeout", "DURATION", "How long to wait for a reply (5s)", "NATS_TIMEOUT"),
        None,
        kind="duration",
    )
    context: str = ""  #: name of the context
    files: tuple[tuple[str, str], ...] = ()
    """(path, text) of the files above, for machines that do not have them, such as executors of Spark."""
    typed: tuple[str, ...] = ()
    """Flags of the command line for server and login, without secrets. Not compared."""

    def __repr__(self) -> str:
        shown = (
            f"{name}={getattr(self, name)!r}"
            for name, setting in SETTINGS.items()
            if not setting.is_secret and setting.kind not in ("path", "address")
        )
        return f"Settings({', '.join(shown)}, context={self.context!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Settings) and self[:-1] == other[:-1]

    def __ne__(self, other: object) -> bool:  # not that of tuples
        return not self == other

    def __hash__(self) -> int:
        return hash(self[:-1])

    @property
    def place(self) -> list[str]:
        """The flags of a command line that works with these settings in the same environment, without
        secrets."""
        where = build_flag("--context", self.context) if self.context else []
        domain = build_flag("--js-domain", self.js_domain) if self.js_domain else []
        prefix = build_flag("--js-api-prefix", self.js_api_prefix) if self.js_api_prefix else []
        return [*where, *self.typed, *domain, *prefix]

    def at(self, domain: str | None) -> "Settings":
        """Return the settings for another domain, which replaces an API prefix, too; None changes nothing."""
        return self if domain is None else self._replace(js_domain=domain, js_api_prefix="")


SETTINGS: Mapping[str, Setting] = dict(zip(Settings._fields, _declared, strict=False))
"""The declaration of each setting, by its attribute of `Settings`."""

FLAGS = {name: setting.flag for name, setting in SETTINGS.items() if setting.flag}
"""The global flag of each setting that has one."""

CONTEXT_KEYS = {name: setting.key.name for name, setting in SETTINGS.items() if setting.key}
"""Settings field -> key of a context file."""

METHODS: Mapping[str, tuple[str, ...]] = {
    method: tuple(name for name, setting in SETTINGS.items() if setting.login == method)
    for method in dict.fromkeys(setting.login for setting in SETTINGS.values() if setting.login)
}
"""Login method -> the settings that belong to it."""

PATHS = tuple(name for name, setting in SETTINGS.items() if setting.kind == "path")
"""Settings that hold the path of a file."""

SUBJECTS = tuple(name for name, setting in SETTINGS.items() if setting.kind == "subject")
"""Settings that are a prefix of subjects."""

SECRETS = frozenset(name for name, setting in SETTINGS.items() if setting.is_secret)
"""Settings that no output shows."""

OWN_PREFIX = "jsctl_"
"""How keys of a context begin that are not the `nats` tool's. They are written only if they are set."""

SERVER_MARK = OWN_PREFIX + "server"
"""Key that marks contexts which jsctl wrote for its own servers (localserver/contexts.py)."""

FILE_KEYS: Mapping[str, FileKey] = {
    key.name: key
    for key in (
        FileKey("description", "Description"),
        *(setting.key for setting in SETTINGS.values() if setting.key),
        FileKey("windows_cert_store", "Certificate Store"),
        FileKey("windows_cert_match", "Certificate Store Match"),
        FileKey("windows_cert_match_by", "Certificate Store Match By"),
        FileKey("windows_ca_certs_match", "Certificate Store CA Match", None),
        FileKey(SERVER_MARK, "", {}),
    )
}
"""The keys of a context's file, in the order in which its page shows them."""
