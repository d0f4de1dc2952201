"""The observed state of a network, as the rules read it: plain data, independent of its source."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, count
from types import MappingProxyType
from typing import Any, NamedTuple

from jsctl.base.command_lines import build_flag, build_line, build_words
from jsctl.errors import JsctlError
from jsctl.jetstream.api import build_api_prefix
from jsctl.jetstream.config.origins import api_to_domain, pair_origins
from jsctl.jetstream.message.progress import Progress
from jsctl.jetstream.state import is_full
from jsctl.monitor.consumer.evidence import Evidence
from jsctl.monitor.rights import Name
from jsctl.monitor.stream.rows import LinkKey, build_origin_key, get_external
from jsctl.monitor.trouble import Gap, is_away

Json = dict[str, Any]
SYSTEM, _ORIGIN = "system", "origin"
"""The contexts that command lines name where none is known: of the system account, and of an account of which
not even the name is known."""

_NOTHING: Mapping[Any, Any] = MappingProxyType({})


class ServerView(NamedTuple):
    """A server. Parts that could not be fetched are empty.

    ahead: ns that its clock is ahead of ours, negative behind; None if unknown. reliable: ns
    within which `ahead` is true. varz, jsz, leafz: `data` of its answers to the system account. accounts:
    ACCOUNTZ details by name. held: the streams of accounts, JSZ details by account. slow: connections that it
    closed within an hour because they read too slowly, as CONNZ describes them. leafs: the leaf node
    connections of the account that asked. network: a value that connected servers share.
    """

    id: str
    name: str
    cluster: str = ""
    domain: str = ""
    jetstream: bool = False
    ahead: int | None = None
    reliable: int = 0
    varz: Mapping[str, Any] = _NOTHING
    jsz: Mapping[str, Any] = _NOTHING
    leafz: Mapping[str, Any] = _NOTHING
    accounts: Mapping[str, Json] = _NOTHING
    held: Mapping[str, Json] = _NOTHING
    slow: Sequence[Json] = ()
    leafs: int = 0
    network: str = ""


class Origin(NamedTuple):
    """The answers of the API from which a stream copies.

    answers: whether anybody answers; None when that is not known. info: STREAM.INFO of the origin, empty when
    it may not be requested. missing: whether no stream has that name.
    """

    answers: bool | None = None
    info: Mapping[str, Any] = _NOTHING
    missing: bool = False


class DomainView(NamedTuple):
    """JetStream of one account in one domain.

    context: the one through which it was seen. account: its ID, which may be its name. domain: empty for
    none. prefix: of the API requests. network: that of its servers. error: why it could not
    be asked. limits: `$JS.API.INFO`, empty if that is not allowed. streams: infos by name. silent: why a
    stream did not answer, by name. consumers: infos; None when they were not asked for. origins: by API
    prefix ("" for this API) and stream. progress: how far mirrors and sources are, by `Link.key`. stuck: the
    keys of those that copied nothing between two looks although the origin has more. evidence: on consumers.
    denied: those whose messages the login may not acknowledge. is_page: whether servers described it to the
    system account because the account has no context. login: the flags of a command line for its account,
    without the domain.
    """

    context: str
    account: str
    account_name: str
    domain: str
    prefix: str
    network: str = ""
    error: JsctlError | None = None
    limits: Mapping[str, Any] = _NOTHING
    streams: Mapping[str, Json] = _NOTHING
    silent: Mapping[str, str] = _NOTHING
    consumers: Sequence[Json] | None = None
    origins: Mapping[tuple[str, str], Origin] = _NOTHING
    progress: Mapping[LinkKey, Progress] = _NOTHING
    evidence: Evidence = Evidence()
    denied: Sequence[Name] = ()
    stuck: frozenset[LinkKey] = frozenset()
    is_page: bool = False
    login: Sequence[str] = ()

    def build_line(self, verb: str, *names: str, flags: Sequence[str] = (), prefix: str = "") -> str:
        """Return a command line that works in this domain, or on another API prefix of this account."""
        return build_line(verb, *names, flags=flags, place=_build_place(self.login, prefix or self.prefix))

    def build_words(self, verb: str, *names: str, flags: Sequence[str] = ()) -> list[str]:
        """Return the words of a command line that works in this domain, without `jsctl`."""
        return build_words(verb, *names, flags=flags, place=_build_place(self.login, self.prefix))

    @property
    def where(self) -> str:
        """The domain and account, for people."""
        domain = f"domain {self.domain}" if self.domain else "JetStream without a domain"
        return f"{domain}, account {self.account_name}" if self.account_name else domain

    def format_stream(self, stream: str) -> str:
        """Return the name of one of its streams for people: `hub > ORDERS`."""
        return f"{self.domain} > {stream}" if self.domain else stream


class Import(NamedTuple):
    """A service that an account imports.

    local, remote: its subjects in the importing and the exporting account. account: the exporting one.
    answers: whether anybody answers; None when that cannot be tried.
    """

    account: str
    local: str
    remote: str
    answers: bool | None = None


class ContextView(NamedTuple):
    """A context, or the server that was named instead.

    error: why nothing could be seen through it. account: of its login. is_system: whether that is the system
    account. server: ID of the connected server. tried: the service imports of its account. reaches: the
    domains that answer to it. login: the flags of a command line for it. expires: when its token does, in ns
    since 1970; 0 for never."""

    name: str
    error: JsctlError | None = None
    account: str = ""
    account_name: str = ""
    is_system: bool = False
    server: str = ""
    domain: str = ""
    tried: Sequence[Import] = ()
    reaches: frozenset[str] = frozenset()
    expires: int = 0
    login: Sequence[str] = ()


class Snapshot(NamedTuple):
    """A network at one point in time.

    gaps: what was left out. answers: how many JetStreams answer in a domain of several
    clusters, by domain; empty if that was not tried. stored: the names of all contexts of this machine.
    """

    at: datetime
    contexts: Sequence[ContextView] = ()
    domains: Sequence[DomainView] = ()
    servers: Sequence[ServerView] = ()
    gaps: Sequence[Gap] = ()
    answers: Mapping[str, int] = _NOTHING
    stored: Collection[str] = ()

    @property
    def has_system(self) -> bool:
        """Whether servers answered to a login of the system account."""
        return any(server.varz or server.jsz for server in self.servers)

    def build_system_line(self, verb: str, *names: str, flags: Sequence[str] = ()) -> str:
        """Return a command line that works with the system account; see `jsctl.base.command_lines`."""
        login = next((context.login for context in self.contexts if context.is_system), None)
        return build_line(verb, *names, flags=flags, place=login or choose_login(SYSTEM))

    def build_account_line(
        self, account: str, domain: str, verb: str, *names: str, flags: Sequence[str] = ()
    ) -> str:
        """Return a command line that works in a domain of an account. account: its ID. domain: empty for
        none."""
        views = sorted(
            (view for view in self.domains if view.account == account), key=lambda view: view.is_page
        )
        login = views[0].login if views else choose_login(account)
        return build_line(verb, *names, flags=flags, place=_build_place(login, build_api_prefix(domain)))

    def list_unknown_logins(self) -> Iterator[tuple[str, str]]:
        """Yield the contexts that command lines name although no such context was seen, each with the words
        for its account."""
        if not any(context.is_system for context in self.contexts):
            yield SYSTEM, "the system account"
        yield _ORIGIN, "the account of the origin"
        for view in self.domains:
            if view.is_page and view.login:
                yield view.login[-1].removeprefix("--context="), f"account {view.account_name}"

    def are_connected(self, first: DomainView, second: DomainView) -> bool:
        """Return whether messages of an account pass between two of its domains."""
        if first.is_page or second.is_page:
            groups = group_connected_domains(self.servers, first.account)
            return any({first.domain, second.domain} <= group for group in groups)
        reaches = {context.name: context.reaches for context in self.contexts}
        return (
            first.context == second.context
            or first.domain in reaches.get(second.context, ())
            or second.domain in reaches.get(first.context, ())
        )

    def copies_through(self, prefix: str) -> list[str]:
        """Return the mirrors and sources that copy through an API prefix, as findings name them."""
        return [link.object for link in self.links() if link.api == prefix]

    def links(self) -> "Iterator[Link]":
        """Yield every mirror and source of all domains."""
        for view in self.domains:
            yield from list_links(view)


class Link(NamedTuple):
    """A mirror or source. config: its part of the stream's configuration. state: its part of the stream's
    info.

    api, deliver: prefixes of another domain or account, empty for none.
    """

    view: DomainView
    stream: str
    kind: str
    config: Mapping[str, Any]
    state: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The origin's name."""
        return str(self.config.get("name", ""))

    @property
    def api(self) -> str:
        """The API prefix on which the messages are requested."""
        return get_external(self.config)

    @property
    def deliver(self) -> str:
        """The prefix of the subject on which they arrive."""
        return str((self.config.get("external") or {}).get("deliver") or "").rstrip(".")

    @property
    def origin(self) -> Origin:
        """What the origin's API answered."""
        return self.view.origins.get((self.api, self.name)) or Origin()

    def build_origin_line(self, verb: str, *names: str) -> str:
        """Return a command line that changes something where the origin is.

        Another account, which an API prefix without a domain stands for, has a context of its own.
        """
        if self.api and not api_to_domain(self.api):
            return build_line(verb, *names, place=choose_login(_ORIGIN))
        return self.view.build_line(verb, *names, prefix=self.api)

    @property
    def info(self) -> Json:
        """The info of the copying stream."""
        return self.view.streams[self.stream]

    @property
    def is_stuck(self) -> bool:
        """Whether no message arrived between two observations although the origin has more."""
        return self.key in self.view.stuck

    @property
    def key(self) -> LinkKey:
        """What distinguishes it from others of its domain."""
        return build_origin_key(self.stream, self.kind, self.config)

    @property
    def progress(self) -> Progress:
        """How far it is; where the origin could not be asked, as its server says."""
        return self.view.progress.get(self.key, Progress(int(self.state.get("lag") or 0)))

    @property
    def is_full(self) -> bool:
        """Whether its stream refuses messages."""
        return is_full(self.info["config"], self.info["state"])

    @property
    def has_cause(self) -> bool:
        """Whether it is known why it lags."""
        return self.is_full or self.progress.differs

    @property
    def label(self) -> str:
        """The copying stream, for people: `stream leaf > ORDERS`."""
        return f"stream {self.view.format_stream(self.stream)}"

    @property
    def object(self) -> str:
        """The text that identifies it: `stream leaf > ORDERS from $JS.hub.API.ORDERS`."""
        return f"{self.label} from {f'{self.api}.' if self.api else ''}{self.name}"


def choose_login(account: str, taken: Collection[str] = ()) -> list[str]:
    """Return the flags of a command line for an account of which no context is known: a context of its name.

    taken: names of contexts of other accounts.
    """
    return build_flag("--context", choose_name(account, taken))


def choose_name(account: str, taken: Collection[str]) -> str:
    """Return a name of a context for an account that no other context has."""
    names = chain((account, f"{account}-account"), (f"{account}-{number}" for number in count(2)))
    return next(name for name in names if name not in taken)


def list_links(view: DomainView) -> Iterator[Link]:
    """Yield the mirrors and sources of a domain."""
    for name, info in view.streams.items():
        kind = "mirror" if info["config"].get("mirror") else "source"
        for config, state in pair_origins(info):
            yield Link(view, name, kind, config, state)


def take_from_leaders(consumers: Iterable[Json], streams: Iterable[tuple[str, Json]]) -> list[Json]:
    """Return each consumer as its leader describes it, where that is known: its leader may be another server
    than that of its stream, and the others do not know what its replicas lack.

    streams: names of servers, with what they say of a stream and its consumers (JSZ).
    """
    led = {
        (consumer.get("stream_name"), consumer.get("name")): consumer
        for server, info in streams
        for consumer in info.get("consumer_detail") or ()
        if (consumer.get("cluster") or {}).get("leader") == server
    }
    return [led.get((consumer.get("stream_name"), consumer.get("name")), consumer) for consumer in consumers]


def is_complete(servers: Sequence[ServerView], domain: str) -> bool:
    """Return whether all servers of a domain reported what they hold.

    What only an absent server holds is unknown.
    """
    members = [server for server in servers if server.domain == domain]
    metas = [server.jsz.get("meta_cluster") or {} for server in members]
    names = {server.name for server in members if server.jsz}
    peers = [peer for meta in metas for peer in meta.get("replicas") or ()]
    return not any(is_away(peer) or peer.get("name") not in names for peer in peers)


def group_connected_domains(servers: Sequence[ServerView], account: str) -> list[set[str]]:
    """Return the groups of domains that leaf nodes connect for an account."""
    domains = {server.name: server.domain for server in servers}
    groups: list[set[str]] = []
    for server in servers:
        for leaf in server.leafz.get("leafs") or ():
            if leaf.get("account") == account and leaf.get("name") in domains:
                pair = {server.domain, domains[str(leaf["name"])]}
                joined = [group for group in groups if group & pair]
                groups = [group for group in groups if group not in joined]
                groups.append(pair.union(*joined))
    return groups


def _build_place(login: Sequence[str], prefix: str) -> list[str]:
    """Return the flags of a command line for an account on one of its API prefixes."""
    if domain := api_to_domain(prefix):
        return [*login, *build_flag("--js-domain", domain)]
    return [*login, *(build_flag("--js-api-prefix", prefix) if prefix != build_api_prefix("") else [])]
