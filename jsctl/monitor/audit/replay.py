"""Answers of servers, read from an archive instead of the servers: what `--archive` shows."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from jsctl.errors import BadInput, NotFound
from jsctl.jetstream.shape_check import Malformed
from jsctl.monitor.audit.archive import PROFILE, Archive
from jsctl.monitor.server.requests import Filter, Json
from jsctl.monitor.server.shapes import check_reply
from jsctl.nats.subjects import matches, overlaps

KINDS: Mapping[str, str] = {
    "VARZ": "variables",
    "CONNZ": "connections",
    "ROUTEZ": "routes",
    "GATEWAYZ": "gateways",
    "LEAFZ": "leafs",
    "SUBSZ": "subs",
    "JSZ": "jetstream_info",
    "ACCOUNTZ": "accounts",
    "HEALTHZ": "health",
}
"""Requests, and the type of the files that hold their answers."""

LISTS: Mapping[str, str] = {
    "CONNZ": "connections",
    "SUBSZ": "subscriptions_list",
    "JSZ": "account_details",
}
"""Requests whose answers come in pages, and the key of the list in each page."""

_ACCOUNT_KINDS: Mapping[str, str] = {
    "CONNZ": "account_connections",
    "RAFTZ": "account_raftz",
    "IPQUEUESZ": "account_ipqueues",
}
"""Requests of which an archive also holds, or holds alone, the answers about each account."""


class _NoAnswers(BadInput):
    """The archive has nothing of what is asked for, as it was gathered without it."""


def read_archived(
    archive: Archive,
    endpoint: str,
    server_filter: Filter | None = None,
    body: Mapping[str, Any] | None = None,
) -> list[Json]:
    """Return the answers of all servers to a request (CONNZ, ...), one for each, pages joined.

    Connections have their account, which an archive holds in other files, and each is there once. body: of
    the request; what it leaves out of the answers, they do not have. Raises BadInput when the archive holds
    no such answers, or cannot be filtered as the body asks, NotFound for an account that it knows nothing of.
    """
    kinds = [kind for kind in (KINDS.get(endpoint), _ACCOUNT_KINDS.get(endpoint)) if kind]
    if not kinds:
        raise BadInput(f"an archive has no answers to {endpoint}", "leave out --archive")
    selectors = [*_find_selectors(endpoint, body or {})]
    account = (body or {}).get("account") or (body or {}).get("acc")
    about: list[Json] = []
    if account and (endpoint == "ACCOUNTZ" or archive.values("account", artifact_type="account_info")):
        about = _load_account(archive, account)
    replies = _join_pages(archive, endpoint, kinds, server_filter)
    if not replies:
        raise _NoAnswers(f"{archive.path} holds no answers to {endpoint}", "it was gathered without them")
    if endpoint == "CONNZ":
        _join_connections(archive, replies)
    if endpoint == "ACCOUNTZ":
        for document in about:
            replies[str(document["server"]["id"])]["data"]["account_detail"] = document.get("data")
    if (body or {}).get("leader_only"):
        replies = {key: reply for key, reply in replies.items() if _is_meta_leader(reply)}
    for reply in replies.values():
        for select, value in selectors:
            reply["data"] = select(reply.get("data") or {}, value)
    return sorted(replies.values(), key=lambda reply: str(reply["server"].get("name", "")))


def _join_pages(
    archive: Archive, endpoint: str, kinds: Sequence[str], server_filter: Filter | None
) -> dict[str, Json]:
    """Return the answers of these kinds by the ID of the server, its pages as one."""
    replies: dict[str, Json] = {}
    for kind in kinds:
        for tags, document in _load_answers(archive, endpoint, kind):
            if _matches_filter(document["server"], server_filter):
                if kind == _ACCOUNT_KINDS["CONNZ"]:
                    _add_account(document, tags.get("account", ""))
                merged = replies.setdefault(str(document["server"]["id"]), document)
                if merged is not document:
                    merged["data"] = _merge(endpoint, merged.get("data") or {}, document.get("data") or {})
    return replies


def _merge(endpoint: str, data: Json, page: Json) -> Json:
    """Return two pages of an answer as one."""
    if not (key := LISTS.get(endpoint)):
        return {**data, **page}
    return {**data, key: [*(data.get(key) or ()), *(page.get(key) or ())]}


Select = Callable[[Json, Any], Json]
"""Returns the part of an answer's data that a filter with a value lets through."""


def _find_selectors(endpoint: str, body: Mapping[str, Any]) -> Iterator[tuple[Select, Any]]:
    """Yield the filters in the body of a request, each with its value. Raises BadInput for one that an
    archive has nothing for."""
    for key, value in body.items():
        if not value or (key, value) == ("sort", "cid"):
            continue
        if select := _SELECTORS.get((endpoint, key)):
            yield select, value
        elif key not in _ADDING:
            word = _WORDS.get(key, key.replace("_", " "))
            raise BadInput(f"an archive cannot be filtered by {word}", "leave out that flag, or --archive")


def _choose_rows(key: str, is_chosen: Callable[[Json, Any], bool]) -> Select:
    """Return the filter of a list in the data, and of the numbers of its rows."""

    def select(data: Json, value: Any) -> Json:
        rows = [row for row in data.get(key) or () if is_chosen(row, value)]
        return {**data, **{count: len(rows) for count in _COUNTS if count in data}, key: rows}

    return select


_COUNTS = ("total", "num_connections", "num_subscriptions", "leafnodes")
"""Keys of the number of rows, beside a list."""


def _is_of_account(row: Json, account: str) -> bool:
    return account in [row.get(key) for key in ("account", "account_tag", "name_tag", "name", "id")]


def _subscribes(connection: Json, subject: str) -> bool:
    detailed = [str(each.get("subject", "")) for each in connection.get("subscriptions_list_detail") or ()]
    return any(overlaps(subject, each) for each in detailed or connection.get("subscriptions_list") or ())


_SELECTORS: Mapping[tuple[str, str], Select] = {
    ("CONNZ", "acc"): _choose_rows("connections", _is_of_account),
    ("CONNZ", "filter_subject"): _choose_rows("connections", _subscribes),
    ("CONNZ", "cid"): _choose_rows("connections", lambda row, cid: row.get("cid") == cid),
    ("SUBSZ", "account"): _choose_rows("subscriptions_list", _is_of_account),
    ("SUBSZ", "test"): _choose_rows("subscriptions_list", lambda row, name: matches(row["subject"], name)),
    ("LEAFZ", "account"): _choose_rows("leafs", _is_of_account),
    ("ACCOUNTZ", "account"): lambda data, _: {key: data[key] for key in data if key != "accounts"},
    ("JSZ", "account"): _choose_rows("account_details", _is_of_account),
    ("RAFTZ", "account"): lambda data, name: {key: data[key] for key in data if key == name},
    ("RAFTZ", "group"): lambda data, name: {
        key: {name: groups[name]} for key, groups in data.items() if name in groups
    },
    ("IPQUEUESZ", "filter"): lambda data, text: {key: data[key] for key in data if text in key},
}
"""The filters, by request and key in its body."""

_ADDING = frozenset(
    [
        "subscriptions",
        "subscriptions_detail",
        "auth",
        "accounts",
        "streams",
        "consumer",
        "config",
        "raft",
        "details",
        "all",
        "leader_only",  # leaves whole answers out
    ]
)
"""Keys of a request that leave nothing out of an answer."""

_WORDS = {
    "user": "user, as it holds no logins",
    "state": "state, as it holds open connections alone",
    "account": "account; server account info shows one",
}
"""How a key is said in an error, if not by its name."""


def _is_meta_leader(reply: Json) -> bool:
    """Return whether a server with JetStream answers a request that only leaders of the meta group answer."""
    data = reply.get("data") or {}
    meta = data.get("meta_cluster") or {}
    return not data.get("disabled") and meta.get("leader", reply["server"].get("name")) == reply[
        "server"
    ].get("name")


def read_archived_account(archive: Archive, account: str, server: str) -> Json:
    """Return what a server reported of an account, by its ID or name. server: its name; empty for the first.

    Raises NotFound.
    """
    detail: Json = _load_account(archive, account, server)[0].get("data") or {}
    return detail


def _load_account(archive: Archive, account: str, server: str = "") -> list[Json]:
    """Return the answers about an account, by its ID or name. server: its name; empty for all of them.

    Raises NotFound for none.
    """
    documents = []
    for tags, document in _load_answers(archive, "INFO", "account_info"):
        detail: Json = document.get("data") or {}
        names = (tags.get("account"), detail.get("account_name"), detail.get("name_tag"))
        if account in names and server in ("", document["server"].get("name")):
            documents.append(document)
    if documents:
        return documents
    where = f" on server {server}" if server else ""
    names_text = ", ".join(archive.values("account", artifact_type="account_info")) or "none"
    raise NotFound(
        f"{archive.path} has nothing about account {account}{where}", f"its accounts: {names_text}"
    )


def read_archived_profiles(
    archive: Archive, profile: str, level: int, server_filter: Filter
) -> list[tuple[str, bytes]]:
    """Return the profiles of servers, each with the server's name. level: of debugging. Raises NotFound."""
    hosts = {
        (tags["cluster"], tags["server"]): document["server"]
        for tags, document in archive.load(artifact_type=KINDS["VARZ"])
        if document.get("server")
    }
    name_in_archive = f"{profile}_{level}" if level else profile
    profiles = []
    for tags, data in archive.load_bytes(artifact_type=PROFILE, profile_name=name_in_archive):
        place = tags["cluster"], tags["server"]
        if _matches_filter(hosts.get(place, {"cluster": place[0], "name": place[1]}), server_filter):
            profiles.append((tags["server"], data))
    if not profiles:
        names_text = ", ".join(archive.values("profile_name", artifact_type=PROFILE)) or "none"
        raise NotFound(f"{archive.path} has no such profile {name_in_archive}", f"its profiles: {names_text}")
    return profiles


def build_pings(archive: Archive) -> list[Json]:
    """Return what servers would have answered to a ping ({"server", "statsz"}), from their other answers."""
    others = {
        endpoint: {
            reply["server"]["id"]: reply.get("data") or {} for reply in read_if_present(archive, endpoint)
        }
        for endpoint in ("ROUTEZ", "GATEWAYZ", "CONNZ", "LEAFZ")
    }
    pings = []
    for reply in read_archived(archive, "VARZ"):
        server, data = reply["server"], reply.get("data") or {}
        routes, gateways, connections, leafs = (answers.get(server["id"], {}) for answers in others.values())
        users = [*(connections.get("connections") or ()), *(leafs.get("leafs") or ())]
        pings.append(
            {
                "server": server,
                "statsz": {
                    **{key: data[key] for key in _PING_KEYS if key in data},
                    "active_accounts": len({user.get("account") for user in users}),
                    "sent": _count_traffic([data], "out_"),
                    "sent_to_clients": _count_traffic([data], "out_client_"),
                    "received": _count_traffic([data], "in_"),
                    "received_from_clients": _count_traffic([data], "in_client_"),
                    "routes": [_build_route(link) for link in routes.get("routes") or ()],
                    "gateways": _build_gateways(gateways),
                },
            }
        )
        if (data.get("jetstream") or {}).get("config"):
            pings[-1]["statsz"]["jetstream"] = data["jetstream"]
    return pings


_PING_KEYS = (
    *("start", "mem", "cores", "cpu", "connections", "total_connections", "subscriptions"),
    *("slow_consumers", "slow_consumer_stats", "gomaxprocs", "gomemlimit"),
)
"""Keys of a ping's statistics that are those of VARZ."""


def _count_traffic(connections: Iterable[Json], prefix: str) -> Json:
    """Return the messages and bytes of connections together. prefix: of the keys, such as `in_`."""
    return {
        key: sum(int(each.get(f"{prefix}{key}") or 0) for each in connections) for key in ("msgs", "bytes")
    }


def _build_route(link: Json) -> Json:
    return {
        "rid": link.get("rid"),
        "name": link.get("remote_name", ""),
        "sent": _count_traffic([link], "out_"),
        "received": _count_traffic([link], "in_"),
        "pending": link.get("pending_size", 0),
    }


def _build_gateways(data: Json) -> list[Json]:
    """Return the statistics of gateways from an answer to GATEWAYZ: sent on the connection to a cluster,
    received on those from it."""
    outbound, inbound = data.get("outbound_gateways") or {}, data.get("inbound_gateways") or {}
    gateways = []
    for name in sorted({*outbound, *inbound}):
        sending = (outbound.get(name) or {}).get("connection") or {}
        receiving = [each.get("connection") or {} for each in inbound.get(name) or ()]
        gateways.append(
            {
                "gwid": sending.get("cid", 0),
                "name": name,
                "sent": _count_traffic([sending], "out_"),
                "received": _count_traffic(receiving, "in_"),
                "inbound_connections": len(receiving),
            }
        )
    return gateways


def read_if_present(archive: Archive, endpoint: str) -> list[Json]:
    """Return the answers of all servers to a request, none if the archive holds none. Raises BadInput."""
    try:
        return read_archived(archive, endpoint)
    except _NoAnswers:
        return []


def _load_answers(archive: Archive, endpoint: str, kind: str) -> Iterator[tuple[dict[str, str], Json]]:
    """Yield the answers to a request with their tags. kind: the type of their files. Raises BadInput."""
    for tags, document in archive.load(artifact_type=kind):
        if not document.get("server"):
            continue
        try:
            check_reply(document, endpoint)
        except Malformed as fault:
            raise BadInput(f"an answer to {endpoint} in {archive.path} is damaged: {fault}") from None
        yield tags, document


def _add_account(document: Json, account: str) -> None:
    """Store the account of connections that a server reported for one account."""
    for connection in (document.get("data") or {}).get("connections") or ():
        if not connection.get("account"):
            connection["account"] = account


def _join_connections(archive: Archive, replies: Mapping[str, Json]) -> None:
    """Leave each connection once, with its account: while a server is asked for page after page, connections
    come and go, and its answers about each account have them again."""
    names = {
        tags.get("account", ""): str((document.get("data") or {}).get("name_tag") or "")
        for tags, document in archive.load(artifact_type="account_info")
    }
    for reply in replies.values():
        data, by_number = reply.get("data") or {}, dict[Any, Json]()
        for row in data.get("connections") or ():
            connection = by_number.setdefault(row.get("cid"), row)
            if not connection.get("account") and row.get("account"):
                connection["account"] = row["account"]
        if by_number:
            data["connections"] = list(by_number.values())
        for connection in by_number.values():
            if (name := names.get(str(connection.get("account") or ""))) and not connection.get("name_tag"):
                connection["name_tag"] = name


def _matches_filter(server: Json, server_filter: Filter | None) -> bool:
    if server_filter is None:
        return True
    return (
        (not server_filter.host or server.get("name") == server_filter.host)
        and (not server_filter.address or server.get("host") == server_filter.address)
        and (not server_filter.cluster or server.get("cluster") == server_filter.cluster)
        and set(server_filter.tags) <= set(server.get("tags") or ())
    )
