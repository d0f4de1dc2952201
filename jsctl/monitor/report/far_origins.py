"""What is wrong with mirrors and sources, as far as both ends show it; those in other domains are asked."""

import asyncio
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from weakref import WeakKeyDictionary

from jsctl.base.units import SECOND, pluralize
from jsctl.errors import ApiError, JsctlError, NoResponders, RequestTimeout
from jsctl.jetstream.api import Api, Json, build_api_prefix
from jsctl.jetstream.config.origins import api_to_domain, list_origins
from jsctl.jetstream.state import format_origin_filters
from jsctl.monitor.rules.links import Edge, Node, build_create_subject, check_links, read_ends
from jsctl.monitor.stream.rows import LinkKey
from jsctl.monitor.trouble import Gap, Trouble
from jsctl.nats.connection import Connection
from jsctl.nats.error_codes import ErrorCode

_TIMEOUT = 2 * SECOND  #: ns that an origin may take to answer
_FRESH = 15.0  #: seconds after which an origin is asked again in the rounds of a live report
_MAX_ASKED = 200  #: origins elsewhere
_MAX_AT_ONCE = 16
LINK_CONFIG = ("subjects", "mirror", "sources", "subject_transform")
"""What the rules need of a stream's configuration."""

_SILENT: Json = {"silent": True}
_MISSING: Json = {"missing": True}
"""The configurations of an origin in a domain where nobody answers, and of one that does not exist."""

_known: WeakKeyDictionary[Connection, dict[Node, tuple[float, Json | None]]] = WeakKeyDictionary()
"""The configurations of origins elsewhere, and when they were asked; None for one that is not known."""


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


def get_external(origin: Json) -> str:
    """Return the API prefix of a mirror or source; empty for the own."""
    return str((origin.get("external") or {}).get("api") or "").rstrip(".")


async def check_origins(
    api: Api, configs: Mapping[str, Json], silent: Collection[str], shown: Collection[LinkKey]
) -> tuple[dict[LinkKey, list[Trouble]], Sequence[Gap]]:
    """Return what is wrong with mirrors and sources of streams of this domain, and what was not looked at.

    configs: of all its streams. silent: streams that do not answer. shown: the links to return.
    """
    if not shown:
        return {}, ()
    place = _Place(api)
    far, unknown = await _fetch_far(api, place, configs)
    nodes: dict[Node, Json] = {**{("", name): config for name, config in configs.items()}, **far}
    edges = [edge for node, config in nodes.items() for edge in _list_edges(place, node, config)]
    known = {*configs, *silent}
    missing = {edge.origin for edge in edges if not edge.origin[0] and edge.origin[1] not in known}
    missing |= {node for node, config in far.items() if config is _MISSING}
    names = {node: f"{_name_place(str(node[0]))} > {node[1]}" for node in far}
    silent_origins = frozenset(node for node, config in far.items() if config is _SILENT)
    ends = read_ends(nodes.items())._replace(missing=frozenset(missing), silent=silent_origins, names=names)
    troubles = check_links(edges, ends)
    by_link = {key: troubles[key] for key in shown if key in troubles}
    if not unknown:
        return by_link, ()
    name = (
        f"stream {unknown[0][1]} on {unknown[0][0]}"
        if len(unknown) == 1
        else pluralize(len(unknown), "origin")
    )
    why = f"filters and loops through {name} in other places: this login may not see them"
    return by_link, [Gap("origins", why, is_chosen=True)]


def _name_place(prefix: str) -> str:
    return prefix[4:-4] if prefix.startswith("$JS.") and prefix.endswith(".API") else prefix


def _list_edges(place: _Place, node: Node, config: Json) -> Iterator[Edge]:
    sources = config.get("sources") or ()
    for origin in list_origins(config):
        kind = "mirror" if origin is config.get("mirror") else "source"
        own = node[1], kind, str(origin.get("name", "")), get_external(origin), format_origin_filters(origin)
        key = (node[0], *own) if node[0] else own
        yield Edge(node, place.find_origin(str(node[0]), origin), kind, origin, sources, key)


async def _fetch_far(
    api: Api, place: _Place, configs: Mapping[str, Json]
) -> tuple[dict[Node, Json], Sequence[Node]]:
    """Return the configurations of the streams elsewhere from which streams of this domain copy, also through
    others, and those that are not known."""
    cache = _known.setdefault(api.connection, {})
    gate = asyncio.Semaphore(_MAX_AT_ONCE)
    now = time.monotonic()

    async def ask(node: Node) -> None:
        prefix, name = str(node[0]), node[1]
        if (cached := cache.get(node)) and now - cached[0] < _FRESH:
            return
        config: Json | None = None
        async with gate:
            try:
                far_api = Api(api.connection, prefix=prefix, timeout=min(_TIMEOUT, api.timeout))
                whole = (await far_api.call(f"STREAM.INFO.{name}"))["config"]
                config = {key: whole[key] for key in LINK_CONFIG if whole.get(key)}
            except ApiError as error:
                config = _MISSING if error.err_code == ErrorCode.STREAM_NOT_FOUND else {}
            except (NoResponders, RequestTimeout):
                if api_to_domain(prefix) and not await _is_answered(far_api, name):
                    config = _SILENT
            except JsctlError:
                pass
        cache[node] = now, config

    far: dict[Node, Json] = {}
    unknown: list[Node] = []
    wanted = {node for name, config in configs.items() for node in _list_far(place, ("", name), config)}
    while wanted and len(far) + len(unknown) < _MAX_ASKED:
        batch = sorted(wanted, key=str)[:_MAX_ASKED]
        await asyncio.gather(*map(ask, batch))
        wanted = set()
        for node in batch:
            config = cache[node][1]
            if config is None:
                unknown.append(node)
            else:
                far[node] = config
                wanted |= _list_far(place, node, config)
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


def _list_far(place: _Place, node: Node, config: Json) -> set[Node]:
    """Return the origins of a stream that are elsewhere and can be asked."""
    origins = {place.find_origin(str(node[0]), origin) for origin in list_origins(config)}
    return {origin for origin in origins if origin[0] and " " not in str(origin[0])}
