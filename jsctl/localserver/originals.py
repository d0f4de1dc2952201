"""What a rehearsal copies: a network's description, and the declarations of its streams by context."""

import math
import re
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from jsctl.base.units import parse_bytes
from jsctl.errors import BadInput
from jsctl.jetstream.api import Json
from jsctl.jetstream.declared.collect import declare
from jsctl.monitor.audit.archive import Archive
from jsctl.monitor.audit.replay import read_archived, read_if_present
from jsctl.monitor.doctor.imports import list_service_imports

MOST_SERVERS = 5
"""Of the copy of one account; of each cluster of an archive."""

_ENDLESS = 1 << 50  #: bytes that a server may reserve; it stores a sample
_UNLIMITED = (1 << 64) - 1  #: how servers write -1 as a limit of an account
_SIZES = ("max_msgs", "max_bytes", "max_bucket_size")


class Original(NamedTuple):
    """What is copied. network: its description, as in `spec`. context: of the account that is changed, and
    `system` that of the system account. documents: declarations or a file's text, by context. left_out: what
    the copy lacks. version: of its servers. named: contexts that the change names. login: keys of the context
    while the change is applied, of a user with the permissions of the original's; empty if that may do all.
    """

    network: Json
    context: str
    system: str
    documents: Mapping[str, Json | str]
    left_out: list[str]
    version: str = ""
    named: Collection[str] = ()
    login: Mapping[str, str] = MappingProxyType({})


def scale_limit(limit: int, scale: float) -> int:
    """Return a limit for a sample of messages; one that is not set stays so."""
    return max(1, math.floor(limit * scale)) if limit > 0 and scale != 1 else limit


def scale_document(document: Json, scale: float) -> Json:
    """Return declarations with the limits of streams and buckets for a sample."""
    return {
        key: [
            {name: scale_limit(value, scale) if name in _SIZES else value for name, value in each.items()}
            for each in items
        ]
        for key, items in document.items()
    }


def scale_text(text: str, scale: float) -> str:
    """Return a file for apply with its limits of streams and buckets for a sample. Raises BadInput for a
    limit that has variables."""
    import yaml

    ends = []
    nodes = [yaml.compose(text, Loader=yaml.SafeLoader)]
    while nodes:
        node = nodes.pop()
        if isinstance(node, yaml.MappingNode):
            nodes += [value for _, value in node.value]
            ends += [(value, key.value) for key, value in node.value if key.value in _SIZES]
        elif isinstance(node, yaml.SequenceNode):
            nodes += node.value
    for value, key in sorted(ends, key=lambda each: -each[0].start_mark.index):
        try:
            limit = parse_bytes(value.value) if key != "max_msgs" else int(value.value)
        except ValueError:
            raise BadInput(
                f"cannot scale {key}: {value.value}", "write a number in the file, without variables"
            ) from None
        text = text[: value.start_mark.index] + str(scale_limit(limit, scale)) + text[value.end_mark.index :]
    return text


def describe_account(
    account: Json, context: str, servers: int, document: Json, scale: float, permissions: Json | None
) -> Original:
    """Return one account, on the servers n1, n2, ... of one cluster. account: its info. servers: their
    number. permissions: of the login, as its server reports them; None if it may do everything."""
    left_out = [
        "exports and imports of the account, permissions of other users, and limits of servers, which its "
        "login does not see"
    ]
    login = {"user": "login", "password": secrets.token_hex(16)} if permissions else {}
    limits = account.get("limits") or {}
    sizes = {"max_mem": limits.get("max_memory", -1), "max_store": limits.get("max_storage", -1)}
    counts = {key: limits[key] for key in ("max_streams", "max_consumers") if limits.get(key, -1) > 0}
    if account.get("tiers"):
        sizes, counts = {}, {}
        left_out.append("limits of the account by number of replicas")
    adapted = {key: [adapt(each, servers, left_out) for each in items] for key, items in document.items()}
    domain = str(account.get("domain") or "")
    system = f"{context}-system"
    network = {
        "name": "rehearsal",
        "accounts": {
            "SYS": {"system": True, "users": {"admin": secrets.token_hex(16)}},
            "APP": {
                "jetstream": _build_limits(sizes, scale) | counts,
                "users": {"app": secrets.token_hex(16)} | ({"login": login["password"]} if login else {}),
                **({"permissions": {"login": _describe_permissions(permissions)}} if permissions else {}),
            },
        },
        "clusters": {
            "rehearsal": {
                "servers": [f"n{number + 1}" for number in range(servers)],
                "jetstream": {"max_file": _ENDLESS, "max_mem": _ENDLESS},
                **({"domain": domain} if domain else {}),
            }
        },
        "contexts": {
            context: {"cluster": "rehearsal", "user": "app"},
            system: {"cluster": "rehearsal", "user": "admin"},
        },
    }
    document = scale_document(adapted, scale)
    return Original(network, context, system, {context: document}, left_out, login=login)


def _describe_permissions(permissions: Json) -> Json:
    """Return permissions as configurations have them. permissions: as servers report them
    (server/auth.go: Permissions)."""
    described = {key: permissions[key] for key in ("publish", "subscribe") if permissions.get(key)}
    if reply := permissions.get("responses"):
        described["allow_responses"] = {"max": reply.get("max", -1), "expires": f"{reply.get('ttl', 0)}ns"}
    return described


def _build_limits(sizes: Mapping[str, int], scale: float) -> Json:
    """Return limits of an account or a server; rounded up, as those of its streams are rounded down."""
    return {
        key: size if scale == 1 else math.ceil(size * scale)
        for key, size in sizes.items()
        if 0 < size < _UNLIMITED
    }


def describe_archive(archive: Archive, context: str, scale: float) -> Original:
    """Return the network of an archive of `jsctl audit gather`: clusters with their domains, leaf nodes and
    gateways; accounts with new keys; streams, consumers and buckets.

    context: the one that is changed, `CLUSTER-ACCOUNT`; empty for the one with the most streams. Raises
    BadInput.
    """
    left_out: list[str] = []
    variables = read_archived(archive, "VARZ")
    cluster_of = {str(each["server"]["name"]): _name_cluster(each["server"]) for each in variables}
    clusters = _describe_clusters(variables, scale, left_out)
    system = next((str(name) for each in variables if (name := each["data"].get("system_account"))), "")
    limits = {
        str(detail["id"]): detail
        for each in read_if_present(archive, "JSZ")
        for detail in (each.get("data") or {}).get("account_details") or ()
    }
    shared = _read_sharing(archive, system, limits)
    names = {key: _make_name(detail.get("name_tag") or key) for key, detail in shared.items()}
    names |= {key: _make_name(detail.get("name") or key) for key, detail in limits.items()} | {system: "SYS"}
    users = {key: f"user-{number + 1}" for number, key in enumerate(sorted(names.keys() - {system}))}
    users[system] = "admin"
    accounts: Json = {"SYS": {"system": True, "users": {"admin": secrets.token_hex(16)}}}
    for key in sorted(names.keys() - {system}):
        options: Json = {"users": {users[key]: secrets.token_hex(16)}}
        if (detail := limits.get(key)) is not None:
            sizes = {name: int(detail.get(f"reserved_{kind}") or 0) for name, kind in _ACCOUNT_SIZES}
            options["jetstream"] = _build_limits(sizes, scale)
        accounts[names[key]] = options | _describe_sharing(shared.get(key, {}), names[key], names, left_out)
    left_out += [
        f"{noun}, which the archive lacks"
        for noun, endpoint in (("leaf nodes", "LEAFZ"), ("gateways", "GATEWAYZ"))
        if not read_if_present(archive, endpoint)
    ]
    left_out.append("permissions of users, which archives lack")
    _add_remotes(archive, clusters, cluster_of, users)
    contexts = {
        f"{cluster}-{names[key]}": {"cluster": cluster, "user": users[key]}
        for cluster in clusters
        for key in limits
    }
    documents = _declare_streams(archive, cluster_of, names, scale, left_out)
    is_operated = len(system) == _KEY_LENGTH and system.startswith("A")
    network = {
        "name": "rehearsal",
        **({"operator": "OP"} if is_operated else {}),
        "accounts": accounts,
        "clusters": clusters,
        "gateways": _list_gateways(archive, clusters, cluster_of),
        "links": [],
        "contexts": {**contexts, "system": {"user": "admin"}},
    }
    chosen = _choose_context(archive, context, contexts, documents)
    version = str(variables[0]["server"].get("ver") or "")
    return Original(network, chosen, "system", documents, left_out, version)


def _describe_clusters(variables: Iterable[Json], scale: float, left_out: list[str]) -> dict[str, Json]:
    """Return the clusters of an archive by name, without remotes. variables: answers to VARZ."""
    clusters: dict[str, Json] = {}
    for each in variables:
        about, data = each["server"], each.get("data") or {}
        cluster = clusters.setdefault(_name_cluster(about), {"servers": [], "remotes": []})
        if len(cluster["servers"]) == MOST_SERVERS:
            left_out.append(f"server {about['name']}")
            continue
        cluster["servers"].append(_make_name(about["name"]))
        config = (data.get("jetstream") or {}).get("config") or {}
        sizes = {"max_mem": config.get("max_memory", 0), "max_file": config.get("max_storage", 0)}
        cluster["jetstream"] = _build_limits(sizes, scale) if about.get("jetstream") else False
        if about.get("domain"):
            cluster["domain"] = str(about["domain"])
    return clusters


def _read_sharing(archive: Archive, system: str, limits: Collection[str]) -> dict[str, Json]:
    """Return what ACCOUNTZ says of the accounts that have JetStream, exports or imports. limits: those with
    JetStream."""
    details = {
        str(tags["account"]): document.get("data") or {}
        for tags, document in archive.load(artifact_type="account_info")
    }
    return {
        key: detail
        for key, detail in details.items()
        if key != system and not detail.get("is_system")
        if key in limits or detail.get("exports") or any(_list_imports(detail))
    }


def _list_gateways(
    archive: Archive, clusters: Collection[str], cluster_of: Mapping[str, str]
) -> Sequence[str]:
    """Return the clusters that gateways connect, sorted."""
    found: set[str] = set()
    for each in read_if_present(archive, "GATEWAYZ"):
        if others := (each.get("data") or {}).get("outbound_gateways") or {}:
            found |= {cluster_of[str(each["server"]["name"])], *map(_make_name, others)}
    return sorted(found & set(clusters))


def _choose_context(
    archive: Archive, context: str, contexts: Collection[str], documents: Mapping[str, Json]
) -> str:
    """Return the context that is changed, by default the one with the most streams. Raises BadInput."""
    known = [name for name in contexts if name in documents] or [*contexts]
    chosen = context or max(
        known, key=lambda name: len(documents.get(name, {}).get("streams", ())), default=""
    )
    if chosen not in contexts:
        raise BadInput(
            f"{archive.path} has no context {chosen}" if chosen else f"{archive.path} has no JetStream",
            f"its contexts are {', '.join(contexts) or 'none'}",
        )
    return chosen


_ACCOUNT_SIZES = (("max_mem", "memory"), ("max_store", "storage"))
_KEY_LENGTH = 56  #: characters of a public key


def _name_cluster(server: Json) -> str:
    return _make_name(server.get("cluster") or server["name"])


def _make_name(name: object) -> str:
    """Return a name that a network's description can have, such as G for `$G`."""
    return re.sub(r"[^\w-]+", "-", str(name)).strip("-")


def _list_imports(detail: Json) -> Iterator[tuple[str, str, str, str]]:
    """Yield (kind, exporting account, local subject, remote subject) of what an account imports."""
    for kind in ("service", "stream"):
        for origin, local, remote in list_service_imports(detail, kind):
            yield kind, origin, local, remote


def _describe_sharing(detail: Json, account: str, names: Mapping[str, str], left_out: list[str]) -> Json:
    """Return exports, imports and mappings of an account in nats-server's words; what the copy lacks of them
    goes to `left_out`.

    detail: of ACCOUNTZ. names: of the accounts of the copy, by what servers call them.
    """
    exports, imports = [], []
    for export in detail.get("exports") or ():
        described = {export["type"]: export["subject"]}
        if response := _RESPONSES.get(export.get("response_type")):
            described["response_type"] = response
        if position := export.get("account_token_position"):
            described["account_token_position"] = position
        if approved := export.get("approved_accounts"):
            described["accounts"] = [names[each] for each in approved if each in names]
        if export.get("token_req"):
            left_out.append(f"that {account} exports {export['subject']} only with a token")
        exports.append(described)
    for kind, origin, local, remote in _list_imports(detail):
        if origin in names:
            imports.append({kind: {"account": names[origin], "subject": remote}, "to": local})
        else:
            left_out.append(f"{account} imports {remote} from account {origin}, which the archive lacks")
    left_out += [
        f"{account} imports {each.get('subject')} from account {names.get(origin, origin)}, which is invalid"
        for each in detail.get("imports") or ()
        if each.get("invalid") and (origin := str(each.get("account") or ""))
    ]
    if any(
        each.get("type") == "stream" and str(each.get("subject")).startswith("$SYS.")
        for each in detail.get("imports") or ()
    ):
        left_out.append(f"what account {account} imports from the system account")
    mappings = {
        source: [
            {key: each[own] for key, own in _TARGET if own in each}
            for each in targets
            if each.get("weight")  # servers leave 0 out
        ]
        for source, targets in (detail.get("mappings") or {}).items()
        if not _OF_DOMAIN.match(source)
    }
    sharing = {"exports": exports, "imports": imports, "mappings": mappings}
    return {key: value for key, value in sharing.items() if value}


_RESPONSES = {"Streamed": "stream", "Stream": "stream", "Chunked": "chunked"}
_OF_DOMAIN = re.compile(r"\$JS\..+\.API\.")  #: mappings that servers make of their domain
_TARGET = (("destination", "subject"), ("weight", "weight"), ("cluster", "cluster"))
"""Keys of a mapping's target in a configuration, and in what servers report."""


def _add_remotes(
    archive: Archive, clusters: Mapping[str, Json], cluster_of: Mapping[str, str], users: Mapping[str, str]
) -> None:
    """Add the leaf node connections that servers opened to others of the archive."""
    for each in read_if_present(archive, "LEAFZ"):
        own = cluster_of[str(each["server"]["name"])]
        for leaf in (each.get("data") or {}).get("leafs") or ():
            to, user = cluster_of.get(str(leaf.get("name"))), users.get(str(leaf.get("account")))
            remote = {"to": to, "user": user}
            if leaf.get("is_spoke") and to and user and remote not in clusters[own]["remotes"]:
                clusters[own]["remotes"].append(remote)


def _declare_streams(
    archive: Archive,
    cluster_of: Mapping[str, str],
    names: Mapping[str, str],
    scale: float,
    left_out: list[str],
) -> dict[str, Json]:
    """Return the declarations of an archive, by context: those that the leaders of streams reported."""
    found: dict[tuple[str, str], Json] = {}
    for tags, info in archive.load(artifact_type="stream_info"):
        leader = (info.get("cluster") or {}).get("leader")
        if (
            tags.get("account") in names
            and tags.get("server") in cluster_of
            and leader in ("", None, tags["server"])
        ):
            found[f"{cluster_of[tags['server']]}-{names[tags['account']]}", str(info["name"])] = info
    documents: dict[str, Json] = {}
    for (context, _), info in sorted(found.items()):
        configs = [each["config"] for each in info.get("consumer_detail") or () if each.get("config")]
        key, declared = declare(info["config"], configs, {})
        if declared.pop("placement", None):
            left_out.append(f"placement of {declared['name']}")
        documents.setdefault(context, {"streams": []}).setdefault(key, []).append(declared)
    return {context: scale_document(document, scale) for context, document in documents.items()}


def adapt(declaration: Json, servers: int, left_out: list[str]) -> Json:
    """Return a declaration without what servers of one machine cannot have, which goes to `left_out`.

    servers: their number.
    """
    name, adapted = declaration["name"], {**declaration}
    if adapted.pop("placement", None):
        left_out.append(f"placement of {name}")
    for key in ("num_replicas", "replicas"):
        if int(adapted.get(key) or 1) > servers:
            left_out.append(f"{adapted[key]} replicas of {name}")
            adapted[key] = servers
    origins = [*adapted.get("sources", ()), *([adapted["mirror"]] if adapted.get("mirror") else [])]
    if foreign := [
        each for each in origins if isinstance(each, dict) and each.keys() & {"external", "domain"}
    ]:
        left_out += [f"{name} copies {each.get('name')} from elsewhere" for each in foreign]
        adapted["sources"] = [each for each in adapted.get("sources", ()) if each not in foreign]
        if adapted.get("mirror") in foreign:
            del adapted["mirror"]
    return {key: value for key, value in adapted.items() if value != [] or key != "sources"}
