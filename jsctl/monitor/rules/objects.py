"""The rules of one mirror or source, one account, one server; `streams` has those of streams. No I/O.

They apply wherever such an object is seen: in `report` and its screen, `doctor`, the exporter, `--fail-on`.

A mirror or source hears from its origin every few seconds, also when there is nothing to copy (nats-server
sends idle heartbeats), so half a minute of silence means that the link is cut. When the API prefix of an
origin is wrong, servers report no error; the only sign is that the origin was never seen.
"""

import itertools
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from jsctl.base.command_lines import Suggestion
from jsctl.base.units import (
    NEVER,
    SECOND,
    format_bytes,
    format_exact_duration,
    pluralize,
    truncate_to_seconds,
)
from jsctl.jetstream.api import Json
from jsctl.monitor.rules import streams
from jsctl.monitor.rules.catalog import Rule
from jsctl.monitor.rules.streams import NEARLY, format_share
from jsctl.monitor.stream.rows import ReplicationRow
from jsctl.monitor.trouble import Trouble, is_settled

_SERVER_FIX = (
    "raise max_file_store or max_memory_store in its jetstream block, add servers, or move streams to others"
)
SILENT = 30 * SECOND  #: ns since an origin was last heard from

META_RESCUE = Rule(
    "META_RESCUE",
    "servers act without a majority",
    "servers",
    why="if the others run after all, both sides change streams, and what one side changed is lost",
    fix="it ends after five minutes, or when the servers that will not come back are removed",
)


def check_link(
    row: ReplicationRow,
    lags: Sequence[int],
    created: str | None,
    now: datetime,
    known: Sequence[Trouble] = (),
    of_stream: Sequence[Trouble] = (),
    rate: float | None = None,
) -> list[Trouble]:
    """Return what is wrong with a mirror or source. lags: the last ones, oldest first. created: when its
    stream was. known: what `rules.links` found. of_stream: what is wrong with its stream. rate: messages
    that its stream stores per second, None if that is not known."""
    troubles = list(known)
    if any(trouble.code in ("ORIGIN_MISSING", "ORIGIN_SILENT") for trouble in known):
        return troubles  # the rest is what comes of it
    if row.error:
        troubles.append(Trouble("error", True, "LINK_FAILED", row.error))
    if row.active == NEVER:
        if not row.error and is_settled(created, now):
            troubles.append(Trouble("never seen", True, "LINK_FAILED", "its origin was never heard from"))
    elif row.active >= SILENT:
        troubles.append(
            Trouble(
                f"not seen for {format_exact_duration(truncate_to_seconds(row.active))}", True, "LINK_FAILED"
            )
        )
    explained = {trouble.code for trouble in known} & {"LINK_AHEAD", "LINK_DIFFERS", "MIRROR_FULL"}
    if explained or any(trouble.code == "LIMIT_NEAR" and trouble.bad for trouble in of_stream):
        return troubles  # the lag comes of it
    if is_growing(lags):
        troubles.append(Trouble("lag growing", False, "LAG_GROWING"))
    elif len(lags) >= 3 and row.lag > 0 and min(lags) == max(lags) and not (rate and row.kind == "mirror"):
        troubles.append(Trouble("lag stuck", False, "LINK_IDLE"))
    return troubles


def check_account(info: Json) -> list[Trouble]:
    """Return the limits of the account (of each tier) that are nearly reached. info: `$JS.API.INFO`."""
    troubles: list[Trouble] = []
    tiers: dict[str, Json] = info.get("tiers") or ({"": info} if info else {})
    for name, tier in tiers.items():
        limits = tier.get("limits") or {}
        where = f" ({name})" if name else ""
        for used, limit, words in (
            (tier.get("storage", 0), limits.get("max_storage", -1), "file storage"),
            (tier.get("memory", 0), limits.get("max_memory", -1), "memory storage"),
            (tier.get("streams", 0), limits.get("max_streams", -1), "streams"),
            (tier.get("consumers", 0), limits.get("max_consumers", -1), "consumers"),
        ):
            if limit and limit > 0 and used >= NEARLY * limit:
                usage = f"{format_share(used, limit)} of the account's {words}{where}"
                troubles.append(
                    Trouble(
                        usage,
                        used >= limit,
                        "LIMIT_NEAR",
                        f"it uses {usage}",
                        [Suggestion("stream report")],
                        "raise the limit in the account's jetstream settings, or see what uses it",
                    )
                )
    return troubles


def check_server(jsz: Mapping[str, Any]) -> list[Trouble]:
    """Return the limits of a server's storage that are nearly reached, and whether its meta group works with
    fewer servers than a majority. jsz: its answer to JSZ."""
    config, meta, troubles = jsz.get("config") or {}, jsz.get("meta_cluster") or {}, []
    quorum = f"{meta.get('quorum_needed') or 0} of {pluralize(int(meta.get('cluster_size') or 0), 'server')}"
    if meta.get("rescue"):
        acts = f"meta group {'acts' if meta.get('leader') else 'may act'} with {quorum}"
        troubles.append(Trouble(f"rescue: {acts}", True, "META_RESCUE", f"in a rescue its {acts}"))
    if meta and not meta.get("leader"):
        says = f"its meta group has no leader, which {quorum} elect"
        troubles.append(Trouble("meta group has no leader", True, "META_NO_LEADER", says))
    for used, limit, kind in (
        (int(jsz.get("storage") or 0), int(config.get("max_storage") or 0), "file storage"),
        (int(jsz.get("memory") or 0), int(config.get("max_memory") or 0), "memory storage"),
    ):
        if limit > 0 and used >= NEARLY * limit:
            says = f"its JetStream uses {format_bytes(used)} of {format_bytes(limit)} of {kind}"
            words = f"{format_share(used, limit)} of its {kind}"
            troubles.append(Trouble(words, used >= limit, "LIMIT_NEAR", says, advice=_SERVER_FIX))
    return troubles


def is_growing(numbers: Sequence[int]) -> bool:
    """Return whether numbers, oldest first, grow steadily.

    They do when there are at least three, none is lower than the previous one, and the last is at least 2
    above the first.
    """
    return (
        len(numbers) >= 3
        and all(a <= b for a, b in itertools.pairwise(numbers))
        and numbers[-1] - numbers[0] >= 2
    )


RULES = (
    META_RESCUE,
    Rule(
        "LINK_IDLE",
        "a mirror or source looks active and copies nothing",
        "links",
        (
            *("LINK_AHEAD", "LINK_DIFFERS", "MIRROR_FULL"),
            "DELIVERY_NOT_IMPORTED",
            "FLOW_CONTROL_MISSING",
            "CONSUMER_ORPHANED",
            "ORIGIN_SILENT",
            "IMPORT_DEAD",
        ),
        fix="see who has the messages: {stream report}",
    ),
    Rule(
        "LINK_FAILED",
        "a mirror or source does not reach its origin",
        "links",
        (
            *("DELIVERY_NOT_IMPORTED", "FLOW_CONTROL_MISSING", "CONSUMER_ORPHANED", "ORIGIN_SILENT"),
            *(
                "SERVER_SILENT",
                "IMPORT_DEAD",
                "ORIGIN_MISSING",
                "LINK_IDLE",
                "META_NO_LEADER",
                "JETSTREAM_SILENT",
            ),
        ),
        fix="see the origin",
    ),
    Rule(
        "LAG_GROWING",
        "a mirror or source falls behind",
        "links",
        rounds=True,
        fix="see what limits it: {stream report}",
    ),
    *streams.RULES,
    Rule(
        "API_ERRORS",
        "requests to JetStream fail",
        "servers",
        rounds=True,
        fix="see which requests fail: {events --js-advisory}",
    ),
)
