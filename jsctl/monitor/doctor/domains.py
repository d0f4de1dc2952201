"""One domain of a snapshot: its streams, their consumers, and the answers of the origins of its mirrors."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from jsctl.base.units import SECOND, format_duration
from jsctl.errors import ApiError, Denied, JsctlError, NoResponders, RequestTimeout
from jsctl.jetstream.api import Api, Json, build_api_prefix
from jsctl.jetstream.config.origins import list_origin_filters
from jsctl.jetstream.paging import Collected
from jsctl.jetstream.stream import requests as streams
from jsctl.monitor.doctor.snapshot import DomainView, Link, Origin, list_links
from jsctl.monitor.report.overview import fetch_account, fetch_consumers
from jsctl.monitor.rules.links import build_create_subject
from jsctl.monitor.trouble import Gap
from jsctl.nats.connection import Connection
from jsctl.nats.error_codes import ErrorCode
from jsctl.nats.replies import request_many

_ANSWER_TIMEOUT = 2 * SECOND  #: ns that an origin's API may take to answer
_LIST_FACTOR = 2  #: a list waits 4 s in a server for each stream that is silent (jetstream_cluster.go)
_LOOK_INTERVAL = 2.0  #: seconds between two looks at a mirror that seems to be stuck
_MAX_AT_ONCE = 16


async def inspect_domain(api: Api, empty_view: DomainView) -> tuple[DomainView, Sequence[Gap]]:
    """Fetch what a view of a domain shows. Returns it with what was left out.

    Raises what `Api.call` raises.
    """
    patient_api = api.with_timeout(_LIST_FACTOR * api.timeout)
    limits, collected = await asyncio.gather(fetch_account(api), _list_streams(patient_api))
    if isinstance(collected, RequestTimeout):
        if isinstance(limits, Gap):
            raise collected
        span = format_duration(patient_api.timeout)
        raise RequestTimeout(f"JetStream answers on {api.prefix}, but did not list its streams within {span}")
    denied = [limits] if isinstance(limits, Gap) else []
    infos = collected.items
    silent = {**dict.fromkeys(collected.missing, "no answer"), **collected.offline}
    view = empty_view._replace(
        domain=empty_view.domain or ("" if isinstance(limits, Gap) else str(limits.get("domain") or "")),
        limits={} if isinstance(limits, Gap) else limits,
        streams=infos,
        silent=silent,
    )
    consumed = [name for name, info in infos.items() if info["state"].get("consumer_count")]
    try:
        consumers, unlisted = await fetch_consumers(patient_api, consumed)
    except RequestTimeout as error:
        consumers, unlisted = None, [Gap("consumers", f"the consumers cannot be listed: {error.message}")]
    gaps = [gap._replace(why=f"{view.where}: {gap.why}") for gap in [*denied, *unlisted]]
    view = view._replace(consumers=consumers)
    links = list(list_links(view))
    view = view._replace(origins=await _ask_origins(api, view, links))
    return view._replace(stuck=await _find_stuck_links(api, view)), gaps


async def _list_streams(api: Api) -> Collected[Json] | RequestTimeout:
    try:
        return await streams.collect(api, lambda info: info)
    except RequestTimeout as error:
        return error


async def is_answered(connection: Connection, domain: str) -> bool:
    """Return whether JetStream answers in a domain."""
    try:
        await connection.request(
            f"{build_api_prefix(domain)}.INFO", timeout=min(_ANSWER_TIMEOUT, connection.settings.timeout)
        )
    except JsctlError:
        return False
    return True


async def count_answers(connection: Connection, domain: str) -> int:
    """Return how many JetStreams answer in a domain; 0 when none does in time."""
    try:
        return len(
            await request_many(connection, f"{build_api_prefix(domain)}.INFO", stall=_ANSWER_TIMEOUT // 2)
        )
    except JsctlError:
        return 0


async def _ask_origins(api: Api, view: DomainView, links: Iterable[Link]) -> Mapping[tuple[str, str], Origin]:
    """Ask for each origin once, from the account from which the server asks for it."""
    gate = asyncio.Semaphore(_MAX_AT_ONCE)
    by_origin = {(link.api, link.name): link for link in links}

    async def ask(link: Link) -> Origin:
        if not link.api:
            info = view.streams.get(link.name)
            return Origin(True, info or {}, info is None and link.name not in view.silent)
        async with gate:
            return await ask_origin(api, link)

    answers = await asyncio.gather(*map(ask, by_origin.values()))
    return dict(zip(by_origin, answers, strict=True))


async def ask_origin(api: Api, link: Link) -> Origin:
    """Ask the API from which a stream copies for its origin; if that is not allowed, ask whether anybody
    answers there. Raises Unreachable."""
    origin_api = Api(api.connection, prefix=link.api, timeout=min(_ANSWER_TIMEOUT, api.timeout))
    try:
        return Origin(True, await origin_api.call(f"STREAM.INFO.{link.name}"))
    except ApiError as error:
        return Origin(True, missing=error.err_code == ErrorCode.STREAM_NOT_FOUND)
    except (NoResponders, RequestTimeout, Denied):
        pass
    try:
        await origin_api.call_raw(build_create_subject(link.config))
    except (NoResponders, RequestTimeout):
        return Origin(False)
    except Denied:
        return Origin(None)
    return Origin(True)


async def _find_stuck_links(api: Api, view: DomainView) -> frozenset[tuple[str, str, str]]:
    """Return the links whose origin has more messages and that copied none between two looks."""
    links = [link for link in list_links(view) if _is_behind(link)]
    if not links:
        return frozenset()
    await asyncio.sleep(_LOOK_INTERVAL)
    gate = asyncio.Semaphore(_MAX_AT_ONCE)

    async def is_stuck(link: Link) -> bool:
        async with gate:
            try:
                info = await streams.fetch_info(api, link.stream)
                has_more = await _has_more(api, link)
            except JsctlError:
                return False
        links_now = list_links(view._replace(streams={link.stream: info}))
        current = next((other for other in links_now if other.config == link.config), None)
        return (
            current is not None
            and has_more
            and info["state"]["last_seq"] == link.info["state"]["last_seq"]
            and _is_behind(current)
        )

    are_stuck = await asyncio.gather(*map(is_stuck, links))
    return frozenset(
        (link.stream, link.api, link.name) for link, stuck in zip(links, are_stuck, strict=True) if stuck
    )


def _is_behind(link: Link) -> bool:
    """Return whether the origin, as far as is known, has messages that were not copied."""
    if int(link.state.get("lag") or 0) > 0:
        return True
    state, origin = link.info["state"], (link.origin.info.get("state") or {})
    if not origin.get("messages"):
        return False
    if link.kind == "mirror" and not list_origin_filters(link.config):
        return bool(state["last_seq"] < origin["last_seq"])
    return not state["last_seq"]


async def _has_more(api: Api, link: Link) -> bool:
    """Return whether the origin of an empty mirror or source holds messages that match its filters."""
    filters = list_origin_filters(link.config)
    if not filters or link.info["state"]["last_seq"] or int(link.state.get("lag") or 0) > 0:
        return True
    origin_api = Api(api.connection, prefix=link.api or api.prefix, timeout=min(_ANSWER_TIMEOUT, api.timeout))
    for subject in filters:
        info = await origin_api.call(f"STREAM.INFO.{link.name}", {"subjects_filter": subject})
        if info["state"].get("subjects"):
            return True
    return False
