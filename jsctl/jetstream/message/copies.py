"""Mirrors and sources compared with their origins by sequences.

A copy whose connection is gone goes on reporting lag 0, so that only the origin can tell what the copy lacks.
A server asks for a lost origin again after 10, 20, ... 120 s, and may wait 30 s for each answer
(nats-server: stream.go, calculateRetryBackoff and srcConsumerWaitTime). Nothing but a restart shortens that.
"""

import time
from collections.abc import Mapping
from typing import NamedTuple

from jsctl.base.units import NEVER, SECOND, parse_time_ns, pluralize
from jsctl.errors import JsctlError, NotFound
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.config.origins import api_to_domain, find_reached, list_origin_filters, pair_origins
from jsctl.jetstream.message import browse
from jsctl.jetstream.state import read_last_active
from jsctl.nats.message import Message

_Stream = tuple[str, str]  #: domain and name

CONTACT = 5 * SECOND // 2
"""ns. An origin is heard from every second (nats-server: sourceHealthHB); after two such beats it is lost."""

_CONTACT_LIMIT = 2 * CONTACT  #: on a busy machine beats are late


class _Copy(NamedTuple):
    """A mirror or source. number: in its stream. config, state: its parts of the stream's info."""

    domain: str
    info: Json
    number: int
    config: Json
    state: Json

    @property
    def name(self) -> str:
        return str(self.info["config"]["name"])

    @property
    def key(self) -> tuple[str, str, int]:
        return self.domain, self.name, self.number

    @property
    def origin(self) -> str:
        return str(self.config.get("name", ""))

    @property
    def api(self) -> str:
        return str((self.config.get("external") or {}).get("api") or "").rstrip(".")

    @property
    def origin_stream(self) -> _Stream:
        """Its origin; another account's has a domain that is none."""
        return (api_to_domain(self.api) or self.api) if self.api else self.domain, self.origin

    @property
    def filters(self) -> list[str]:
        return list_origin_filters(self.config) or [">"]

    @property
    def reached(self) -> int | None:
        """See `find_reached`."""
        return find_reached(self.info, self.state)


class Copies:
    """The copies of one account, and how far each must be: as far as its origin was when it was asked.

    Each must also have heard from its origin since: a copy may have all that there was, and get nothing of
    what comes.
    """

    def __init__(self) -> None:
        self.undecided: set[str] = set()  #: sentences of the last answer that a few seconds may disprove
        self._targets: dict[tuple[str, str, int], Message | None] = {}
        self._done: set[tuple[str, str, int]] = set()
        self._asked_at: dict[tuple[str, str, int], int] = {}

    async def find_behind(
        self,
        infos: Mapping[tuple[str, str], Json],
        apis: Mapping[str, Api],
        away: frozenset[str] = frozenset(),
    ) -> list[str]:
        """Return sentences about streams without a leader, and about copies that are not as far as they must
        be.

        infos: of streams, just fetched, by domain and name. apis: by domain. away: domains whose servers were
        stopped on purpose.
        """
        self.undecided.clear()
        sentences = [
            f"stream {name} has no leader"
            for (_, name), info in infos.items()
            if "cluster" in info and not info["cluster"].get("leader")
        ]
        levels = _sort_by_level(infos)
        for level in sorted(levels) if not sentences else ():
            # A copy of a copy is asked for once its origin has everything.
            for copy in levels[level]:
                if copy.origin_stream[0] not in away:
                    sentences += await self._check(apis, copy)
            if sentences:
                break
        return sentences

    async def _check(self, apis: Mapping[str, Api], copy: _Copy) -> list[str]:
        prefix = f"stream {copy.name}"
        if error := copy.state.get("error"):
            return [f"{prefix} does not copy {copy.origin}: {error.get('description', 'an error')}"]
        heard = read_last_active(copy.state)
        if heard == NEVER:
            return [f"{prefix} does not copy {copy.origin} yet"]
        waited = time.monotonic_ns() - self._asked_at.setdefault(copy.key, time.monotonic_ns())
        heard_at = waited - heard  # from when it was asked; below 0 is before
        doubt = ""
        if copy.key not in self._done:
            behind = await self._find_behind(apis, copy)
            if behind:
                return [f"{prefix} {behind}{_describe_contact(heard)}"]
            if behind is None and heard_at < CONTACT:
                # A lag of 0 is believed after two beats: each compares how many messages were sent and got.
                doubt = f"has not been seen to have all of {copy.origin} yet"
        if heard > CONTACT:
            doubt = f"is cut off from {copy.origin}{_describe_contact(heard)}"
        elif heard_at < 0:
            doubt = f"has not heard from {copy.origin} yet"
        if not doubt:
            self._done.add(copy.key)
            return []
        if waited < _CONTACT_LIMIT:
            self.undecided.add(f"{prefix} {doubt}")
        return [f"{prefix} {doubt}"]

    async def _find_behind(self, apis: Mapping[str, Api], copy: _Copy) -> str | None:
        """Return what a copy lacks, as the end of a sentence; empty for nothing, None if only its server says
        that it lacks nothing.
        """
        if copy.key not in self._targets:
            api = apis[copy.domain]
            origin_api = Api(api.connection, prefix=copy.api) if copy.api else api
            try:
                self._targets[copy.key] = await _fetch_newest(origin_api, copy)
            except JsctlError:  # another account's origin often cannot be asked
                return _describe_lag(copy)
        target = self._targets[copy.key]
        if target is None:
            return ""
        if copy.reached is None:
            return _describe_lag(copy)
        if copy.reached >= target.sequence:
            return ""
        if copy.filters != [">"]:
            return f"has not copied message {target.sequence:,} of {copy.origin}"
        missing = target.sequence - max(copy.reached, int(copy.config.get("opt_start_seq") or 1) - 1)
        return f"is {pluralize(missing, 'message')} behind {copy.origin}"


def _describe_lag(copy: _Copy) -> str | None:
    lag = int(copy.state.get("lag") or 0)
    return f"is {pluralize(lag, 'message')} behind {copy.origin}" if lag else None


def _describe_contact(heard: int) -> str:
    if heard <= CONTACT:
        return ""
    return (
        f", which it last heard from {heard // SECOND}s ago; its server asks again after 10, 20, ... 120s,"
        " and waits up to 30s for each answer"
    )


def _sort_by_level(infos: Mapping[_Stream, Json]) -> dict[int, list[_Copy]]:
    """Return the copies by how many copies are between them and an original stream."""
    copies = {
        stream: [
            _Copy(stream[0], info, index, config, state)
            for index, (config, state) in enumerate(pair_origins(info))
        ]
        for stream, info in infos.items()
    }
    depths: dict[_Stream, int] = {}

    def measure(stream: _Stream) -> int:
        if stream not in depths:
            depths[stream] = 0  # also where sources form a loop
            origins = [copy.origin_stream for copy in copies.get(stream, ())]
            depths[stream] = max((1 + measure(origin) for origin in origins), default=0)
        return depths[stream]

    levels: dict[int, list[_Copy]] = {}
    for stream, members in copies.items():
        if members:
            levels.setdefault(measure(stream), []).extend(members)
    return levels


async def _fetch_newest(api: Api, copy: _Copy) -> Message | None:
    """Return the newest message of an origin that a copy is to have; None for none."""
    newest: Message | None = None
    for subject in copy.filters:
        try:
            message = await browse.fetch_last(api, copy.origin, subject)
        except NotFound:
            continue
        if newest is None or message.sequence > newest.sequence:
            newest = message
    start = copy.config.get("opt_start_time")
    if newest is not None and (
        newest.sequence < int(copy.config.get("opt_start_seq") or 0)
        or (start and parse_time_ns(newest.timestamp) < parse_time_ns(str(start)))
    ):
        return None
    return newest
