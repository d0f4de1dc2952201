"""Answers of servers, read from an archive instead of the servers: what `--archive` shows."""

from collections.abc import Iterator, Mapping, Sequence

from jsctl.errors import BadInput, NotFound
from jsctl.jetstream.shape_check import Malformed
from jsctl.monitor.audit.archive import PROFILE, Archive
from jsctl.monitor.server.requests import Filter, Json
from jsctl.monitor.server.shapes import check_reply

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


def read_archived(archive: Archive, endpoint: str, server_filter: Filter | None = None) -> list[Json]:
    """Return the answers of all servers to a request (CONNZ, ...), one for each, pages joined.

    Connections have their account, which an archive holds in other files. Raises BadInput when the archive
    holds no such answers.
    """
    if endpoint not in KINDS:
        raise BadInput(f"an archive has no answers to {endpoint}", "leave out --archive")
    replies: dict[str, Json] = {}
    for _, document in _load_answers(archive, endpoint, KINDS[endpoint]):
        server = document["server"]
        if not _matches_filter(server, server_filter):
            continue
        merged = replies.setdefault(str(server["id"]), document)
        key = LISTS.get(endpoint, "")
        if merged is not document and key:
            data = merged["data"] = merged.get("data") or {}
            data[key] = [*(data.get(key) or ()), *((document.get("data") or {}).get(key) or ())]
    if not replies:
        raise BadInput(f"{archive.path} holds no answers to {endpoint}", "it was gathered without them")
    if endpoint == "CONNZ":
        _add_accounts(archive, replies)
    return sorted(replies.values(), key=lambda reply: str(reply["server"].get("name", "")))


def read_archived_account(archive: Archive, account: str, server: str = "") -> Json:
    """Return what a server reported of an account, by its ID or name. server: its name; empty for the first.

    Raises NotFound.
    """
    for tags, document in _load_answers(archive, "INFO", "account_info"):
        detail: Json = document.get("data") or {}
        names = (tags.get("account"), detail.get("account_name"), detail.get("name_tag"))
        if account in names and server in ("", document["server"].get("name")):
            return detail
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
    routes = {reply["server"]["id"]: reply for reply in _read_if_present(archive, "ROUTEZ")}
    gateways = {reply["server"]["id"]: reply for reply in _read_if_present(archive, "GATEWAYZ")}
    pings = []
    for reply in read_archived(archive, "VARZ"):
        server, data = reply["server"], reply.get("data") or {}
        links = (routes.get(server["id"], {}).get("data") or {}).get("routes") or ()
        outbound = (gateways.get(server["id"], {}).get("data") or {}).get("outbound_gateways") or {}
        keys = ("start", "mem", "cpu", "cores", "connections", "subscriptions", "slow_consumers")
        statsz = {key: data[key] for key in keys if key in data}
        statsz["routes"] = [{"rid": link.get("rid"), "name": link.get("remote_name", "")} for link in links]
        statsz["gateways"] = [{"name": name} for name in outbound]
        pings.append({"server": server, "statsz": statsz})
    return pings


def select_account(replies: Sequence[Json], account: str) -> list[Json]:
    """Return answers to JSZ as if only that account had been requested."""
    selected = []
    for reply in replies:
        data = reply.get("data") or {}
        details = [
            account_detail
            for account_detail in data.get("account_details") or ()
            if account in (account_detail.get("name"), account_detail.get("id"))
        ]
        selected.append({**reply, "data": {**data, "account_details": details}})
    return selected


def _read_if_present(archive: Archive, endpoint: str) -> list[Json]:
    try:
        return read_archived(archive, endpoint)
    except BadInput:
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


def _add_accounts(archive: Archive, replies: Mapping[str, Json]) -> None:
    accounts = {
        (str(document["server"]["id"]), connection.get("cid")): tags.get("account", "")
        for tags, document in _load_answers(archive, "CONNZ", "account_connections")
        for connection in (document.get("data") or {}).get("connections") or ()
    }
    names = {
        tags.get("account", ""): str((document.get("data") or {}).get("name_tag") or "")
        for tags, document in archive.load(artifact_type="account_info")
    }
    for id, reply in replies.items():
        for connection in (reply.get("data") or {}).get("connections") or ():
            if not connection.get("account") and (id, connection.get("cid")) in accounts:
                connection["account"] = accounts[id, connection["cid"]]
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
