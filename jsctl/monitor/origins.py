"""Mirrors and sources beside their origins: how far they are, and what is wrong with them. Origins in other
places are asked."""

import time
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple
from weakref import WeakKeyDictionary

from jsctl.base.loops import enter_event_loop
from jsctl.base.units import SECOND, pluralize
from jsctl.errors import ApiError, JsctlError, NoResponders, RequestTimeout
from jsctl.jetstream.api import Api, Json, build_api_prefix
from jsctl.jetstream.config.origins import api_to_domain, list_origins
from jsctl.jetstream.message.progress import Copying, Progress, measure_progress
from jsctl.jetstream.state import is_full
from jsctl.jetstream.stream import requests as streams
from jsctl.monitor.rules.links import (
    Edge,
    Node,
    build_create_subject,
    check_links,
    check_progress,
    read_ends,
)
from jsctl.monitor.stream.rows import (
    LinkKey,
    ReplicationRow,
    Snapshot,
    StreamRow,
    build_link_key,
    build_origin_key,
    build_stream_links,
    build_stream_row,
    get_external,
)
from jsctl.monitor.trouble import Gap, Trouble
from jsctl.nats.connection import Connection
from jsctl.nats.error_codes import ErrorCode

_TIMEOUT = 2 * SECOND  #: ns that an origin may take to answer
_FRESH = 15.0  #: seconds after which an origin that did not answer is asked again in later rounds
_MAX_ASKED = 200  #: origins elsewhere, and copies whose origin is asked how far it is
_MAX_AT_ONCE = 16
_KEYS = ("subjects", "mirror", "sources", "subject_transform")

_SILENT: Json = {"silent": True}
_MISSING: Json = {"missing": True}
"""The facts of an origin in a domain where nobody answers, and of one that does not exist."""


class _Known:
    """What is known of origins through one connection.

    elsewhere: their facts, and when they were asked; None for one that is not known. measured: how far a copy
    was when it and its origin had these last sequences.
    """

    def __init__(self) -> None:
        self.elsewhere: dict[Node, tuple[float, Json | None]] = {}
        self.measured: dict[LinkKey, tuple[tuple[object, ...], Progress]] = {}


_known: WeakKeyDictionary[Connection, _Known] = WeakKeyDictionary()


class Links(NamedTuple):
    """Mirrors and sources: the rows, with the lag that their origins show, what is wrong, and what was not
    looked at."""

    rows: Sequence[ReplicationRow] = ()
    troubles: Mapping[LinkKey, Sequence[Trouble]] = {}
    gaps: Sequence[Gap] = ()


class Report(NamedTuple):
    """All streams of one account in one domain as rows. streams: those that answered, in the server's
    order. links: what they replicate. troubles: what is wrong with that."""

    streams: Sequence[StreamRow]
    links: Sequence[ReplicationRow]
    troubles: Mapping[LinkKey, Sequence[Trouble]] = {}
    missing: Sequence[str] = ()
    offline: Mapping[str, str] = {}


def select_link_facts(info: Json) -> Json:
    """Return what the rules of mirrors and sources need of a stream: parts of its configuration, and its
    state."""
    config, state = info["config"], info["state"]
    facts = {key: config[key] for key in _KEYS if config.get(key)}
    facts["state"] = {key: state.get(key, 0) for key in ("messages", "last_seq", "num_deleted")}
    if config.get("mirror"):
        facts["state"]["last_ts"] = state.get("last_ts", "")
        facts["is_full"] = is_full(config, state)
    return facts


async def fetch_report(api: Api, *, subject: str = "", cluster: str = "") -> Report:
    """Fetch the rows of all streams (those that listen on `subject`, those in `cluster`). Raises what
    `Api.call` raises."""
    links: list[ReplicationRow] = []
    facts: dict[str, Json] = {}

    def extract(info: Json) -> StreamRow | None:
        facts[info["config"]["name"]] = select_link_facts(info)
        if cluster and (info.get("cluster") or {}).get("name") != cluster:
            return None
        links.extend(build_stream_links(info, "", api.domain))
        return build_stream_row(info, "", api.domain)

    collected = await streams.collect(api, extract, subject=subject)
    rows = [row for row in collected.items.values() if row.stream not in collected.offline]
    checked = await check_origins(api, facts, [*collected.missing, *collected.offline], links)
    return Report(rows, checked.rows, checked.troubles, collected.missing, collected.offline)


async def fetch_replication_rows(api: Api, snap: Snapshot) -> Sequence[ReplicationRow]:
    """Return a row for each mirror and source of a snapshot, sources by name and prefix (the server's order
    changes)."""
    facts = {info["config"]["name"]: select_link_facts(info) for info in snap.infos}
    links = [row for info in snap.infos for row in build_stream_links(info, snap.context, snap.domain)]
    return (await check_origins(api, facts, [*snap.missing, *snap.offline], links)).rows


async def measure_lag(api: Api, info: Json) -> Json:
    """Return a stream's info with what the origins of its mirror and sources show of them: `lag`, and `ahead`
    where they are ahead, see `Progress`. Without any, the info is as it was."""
    name, place = str(info["config"]["name"]), _Place(api)
    facts = {name: select_link_facts(info)}
    for origin in list_origins(facts[name]):
        where, origin_name = place.find_origin("", origin)
        with suppress(JsctlError):  # of a login that may not ask
            if not where and (near := await streams.fetch_info_or_none(api, origin_name)) is not None:
                facts[origin_name] = select_link_facts(near)
    rows = (await check_origins(api, facts, (), build_stream_links(info))).rows
    by_key = {build_link_key(row): row for row in rows}

    def add(kind: str, origin: Json) -> Json:
        row = by_key.get(build_origin_key(name, kind, origin))
        return {**origin, **({"lag": row.lag, "ahead": row.ahead} if row else {})}

    parts: Json = {"mirror": add("mirror", info["mirror"])} if info.get("mirror") else {}
    if sources := info.get("sources"):
        parts["sources"] = [add("source", source) for source in sources]
    return {**info, **parts}


class _Place:
    """Where streams are, as the configurations of this domain name it. A stream of it has the place ""."""

    def __init__(self, api: Api) -> None:
        own = [build_api_prefix(api.own_domain)] if api.own_domain else []
        self._here = {"", api.prefix, *own}

    def find_origin(self, place: str, origin: Json) -> Node:
        """Return the stream that a mirror or source of a stream in a place copies. A custom prefix means
        something only in its account."""
        external = get_external(origin)
        if external in self._here:
            return ("" if external else place), str(origin.get("name", ""))
        is_known = not place or external.startswith("$JS.")
        return (external if is_known else f"{place} {external}"), str(origin.get("name", ""))


async def check_origins(
    api: Api, facts: Mapping[str, Json], silent: Collection[str], links: Sequence[ReplicationRow]
) -> Links:
    """Return how far mirrors and sources of streams of this domain are, what is wrong with them, and what was
    not looked at.

    facts: of all its streams, see `select_link_facts`. silent: streams that do not answer. links: those to
    check.
    """
    if not links:
        return Links()
    place = _Place(api)
    known = _known.setdefault(api.connection, _Known())
    far, unknown = await _fetch_far(api, place, facts, known)
    nodes: dict[Node, Json] = {**{("", name): own for name, own in facts.items()}, **far}
    edges = [edge for node, own in nodes.items() for edge in _list_edges(place, node, own)]
    streams_here = {*facts, *silent}
    missing = {edge.origin for edge in edges if not edge.origin[0] and edge.origin[1] not in streams_here}
    missing |= {node for node, own in far.items() if own is _MISSING}
    names = {node: f"{_name_place(str(node[0]))} > {node[1]}" for node in far}
    silent_origins = frozenset(node for node, own in far.items() if own is _SILENT)
    ends = read_ends(nodes.items())._replace(missing=frozenset(missing), silent=silent_origins, names=names)
    troubles = check_links(edges, ends)
    by_key = {edge.key: edge for edge in edges}
    progress = await _measure(api, links, by_key, nodes, known)
    rows = []
    for row in links:
        key = build_link_key(row)
        done = progress.get(key, Progress(row.lag))
        rows.append(row._replace(lag=done.lag, ahead=done.ahead))
        if edge := by_key.get(key):
            refuses = bool(facts[row.stream].get("is_full"))
            troubles[key] = [*troubles.get(key, ()), *check_progress(edge, ends, done, refuses=refuses)]
    shown = {key: troubles[key] for key in map(build_link_key, links) if troubles.get(key)}
    return Links(rows, shown, _describe_gap(unknown))


def _describe_gap(unknown: Sequence[Node]) -> Sequence[Gap]:
    if not unknown:
        return ()
    name = (
        f"stream {unknown[0][1]} on {unknown[0][0]}"
        if len(unknown) == 1
        else pluralize(len(unknown), "origin")
    )
    why = f"lag, filters and loops through {name} in other places: this login may not see them"
    return [Gap("origins", why, is_chosen=True)]


async def _measure(
    api: Api,
    links: Sequence[ReplicationRow],
    by_key: Mapping[Hashable, Edge],
    nodes: Mapping[Node, Json],
    known: _Known,
) -> dict[LinkKey, Progress]:
    """Return how far the copies are whose origin is known. Those whose origin has to be asked for that are
    asked once for each state of both."""
    await enter_event_loop()
    import asyncio

    gate = asyncio.Semaphore(_MAX_AT_ONCE)
    asked = 0
    before, known.measured = known.measured, {}

    async def measure(row: ReplicationRow) -> tuple[LinkKey, Progress] | None:
        nonlocal asked
        key = build_link_key(row)
        edge = by_key.get(key)
        origin = (nodes.get(edge.origin) or {}).get("state") if edge else None
        if edge is None or origin is None:
            return None
        last_ts = str(nodes["", row.stream]["state"].get("last_ts", ""))
        copying = Copying(edge.config, row.lag, row.reached, last_ts)
        seen = (row.lag, row.reached, last_ts, origin["last_seq"], origin["messages"])
        if key in before and before[key][0] == seen and not before[key][1].ahead:
            known.measured[key] = before[key]
            return key, before[key][1]
        async with gate:
            asked += 1
            prefix = str(edge.origin[0]) or api.prefix
            near = Api(api.connection, prefix=prefix, timeout=min(_TIMEOUT, api.timeout))
            done = await measure_progress(copying, origin, near if asked <= _MAX_ASKED else None)
        known.measured[key] = seen, done
        return key, done

    return dict(filter(None, await asyncio.gather(*map(measure, links))))


def _name_place(prefix: str) -> str:
    return prefix[4:-4] if prefix.startswith("$JS.") and prefix.endswith(".API") else prefix


def _list_edges(place: _Place, node: Node, facts: Json) -> Iterator[Edge]:
    sources = facts.get("sources") or ()
    for origin in list_origins(facts):
        kind = "mirror" if origin is facts.get("mirror") else "source"
        own = build_origin_key(node[1], kind, origin)
        key = (node[0], *own) if node[0] else own
        yield Edge(node, place.find_origin(str(node[0]), origin), kind, origin, sources, key)


async def _fetch_far(
    api: Api, place: _Place, facts: Mapping[str, Json], known: _Known
) -> tuple[dict[Node, Json], Sequence[Node]]:
    """Return the facts of the streams elsewhere from which streams of this domain copy, also through others,
    and those that are not known."""
    wanted = {node for name, own in facts.items() for node in _list_far(place, ("", name), own)}
    if not wanted:
        return {}, []
    await enter_event_loop()
    import asyncio

    cache = known.elsewhere
    gate = asyncio.Semaphore(_MAX_AT_ONCE)
    now = time.monotonic()

    async def ask(node: Node) -> None:
        prefix, name = str(node[0]), node[1]
        cached = cache.get(node)
        if cached and now - cached[0] < _FRESH and "state" not in (cached[1] or {}):
            return
        own: Json | None = None
        async with gate:
            try:
                far_api = Api(api.connection, prefix=prefix, timeout=min(_TIMEOUT, api.timeout))
                own = select_link_facts(await far_api.call(f"STREAM.INFO.{name}"))
            except ApiError as error:
                own = _MISSING if error.err_code == ErrorCode.STREAM_NOT_FOUND else {}
            except (NoResponders, RequestTimeout):
                if api_to_domain(prefix) and not await _is_answered(far_api, name):
                    own = _SILENT
            except JsctlError:
                pass
        cache[node] = now, own

    far: dict[Node, Json] = {}
    unknown: list[Node] = []
    while wanted and len(far) + len(unknown) < _MAX_ASKED:
        batch = sorted(wanted, key=str)[:_MAX_ASKED]
        await asyncio.gather(*map(ask, batch))
        wanted = set()
        for node in batch:
            own = cache[node][1]
            if own is None:
                unknown.append(node)
            else:
                far[node] = own
                wanted |= _list_far(place, node, own)
        wanted -= {*far, *unknown}
    return far, [*unknown, *sorted(wanted, key=str)]


async def _is_answered(api: Api, name: str) -> bool:
    """Return whether anybody answers to the request by which a copy of a stream begins."""
    try:
        await api.call_raw(build_create_subject({"name": name}))
    except (NoResponders, RequestTimeout):
        return False
    except JsctlError:
        pass
    return True


def _list_far(place: _Place, node: Node, facts: Json) -> set[Node]:
    """Return the origins of a stream that are elsewhere and can be asked."""
    origins = {place.find_origin(str(node[0]), origin) for origin in list_origins(facts)}
    return {origin for origin in origins if origin[0] and " " not in str(origin[0])}
