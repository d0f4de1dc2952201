"""One domain of a snapshot: its streams, their consumers, and the answers of the origins of its mirrors."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from jsctl.base.units import SECOND, format_duration
from jsctl.errors import ApiError, Denied, JsctlError, NoResponders, RequestTimeout
from jsctl.jetstream.api import Api, Json, build_api_prefix
from jsctl.jetstream.config.origins import find_reached
from jsctl.jetstream.message.progress import Copying, Progress, measure_progress
from jsctl.jetstream.paging import Collected
from jsctl.jetstream.stream import requests as streams
from jsctl.monitor.consumer.evidence import gather_evidence
from jsctl.monitor.consumer.facts import select_stream_facts
from jsctl.monitor.doctor.snapshot import DomainView, Link, Origin, list_links
from jsctl.monitor.report.overview import fetch_account, fetch_consumers
from jsctl.monitor.rights import find_ack_denials
from jsctl.monitor.rules.links import build_create_subject
from jsctl.monitor.stream.rows import LinkKey
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
    facts = {name: select_stream_facts(infos[name]) for name in consumed}
    evidence, refused = await asyncio.gather(
        gather_evidence(api, facts if consumers is not None else {}, consumers or (), has_states=True),
        find_ack_denials(api, consumers or ()),
    )
    view = view._replace(consumers=consumers, evidence=evidence, denied=refused)
    links = list(list_links(view))
    view = view._replace(origins=await _ask_origins(api, view, links))
    view = view._replace(progress=await _measure(api, list_links(view)))
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


async def _measure(api: Api, links: Iterable[Link]) -> Mapping[LinkKey, Progress]:
    """Return how far the mirrors and sources are whose origin is known."""
    gate = asyncio.Semaphore(_MAX_AT_ONCE)

    async def measure(link: Link) -> Progress:
        last_ts = str(link.info["state"].get("last_ts", "")) if link.kind == "mirror" else ""
        reached = find_reached(link.info, link.state)
        copying = Copying(link.config, int(link.state.get("lag") or 0), reached, last_ts)
        near = Api(api.connection, prefix=link.api or api.prefix, timeout=min(_ANSWER_TIMEOUT, api.timeout))
        async with gate:
            return await measure_progress(copying, link.origin.info["state"], near)

    known = [link for link in links if link.origin.info.get("state")]
    return dict(zip([link.key for link in known], await asyncio.gather(*map(measure, known)), strict=True))


async def _find_stuck_links(api: Api, view: DomainView) -> frozenset[LinkKey]:
    """Return the links whose origin has more messages and that copied none between two looks."""
    links = [link for link in list_links(view) if link.progress.lag and not link.has_cause]
    if not links:
        return frozenset()
    await asyncio.sleep(_LOOK_INTERVAL)
    names = list(dict.fromkeys(link.stream for link in links))
    try:
        infos = {info["config"]["name"]: info for info in await streams.fetch_infos(api, names)}
    except JsctlError:
        return frozenset()
    current = view._replace(streams={**view.streams, **infos})
    keys = {link.key for link in links}
    idle = [
        link
        for link in list_links(current)
        if link.key in keys
        and link.info["state"]["last_seq"] == view.streams[link.stream]["state"]["last_seq"]
    ]
    progress = await _measure(api, idle)
    return frozenset(link.key for link in idle if progress.get(link.key, link.progress).lag)
