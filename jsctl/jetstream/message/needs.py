"""Which messages of a stream its consumers need, and which are deleted once nobody needs them.

A model of the server's rules for interest retention, without a server (nats-server 2.15: consumer.go needAck,
cleanupNoInterestMessages, checkStateForInterestStream; stream.go checkForInterest). Of a consumer, the server
tells up to where it has delivered and acknowledged, and how many messages between these are not acknowledged,
but not which. Where that matters, the result is a range.
"""

import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from jsctl.jetstream.api import Json
from jsctl.jetstream.consumer.config import get_filters
from jsctl.nats.subjects import matches

_ALL = sys.maxsize
_SCANNED = 100_000
"""Number of sequences beyond which a server does not look at each message (consumer.go: bailThresh)."""


class Part(NamedTuple):
    """Messages of a stream between two sequences (inclusive), on one subject; None if it is unknown."""

    first: int
    last: int
    messages: int
    subject: str | None = None


class Range(NamedTuple):
    """The least and the largest number that something may be."""

    least: int
    most: int


class Need(NamedTuple):
    """What a consumer needs of a stream.

    Messages up to `floor` are acknowledged, except `given_up` ones, which have reached the maximum of
    deliveries. Of those up to `delivered`, `unacked` are needed; of those after it, `pending`.
    is_cumulative: whether all after `floor` are needed, as acknowledgements include earlier messages.
    filters: subjects; none for all. new_filters: those from now on; None when it goes. start: the sequence
    that it is reset to; 0 for none. takes_from: of a mirror or source, the sequence from which it takes all
    up to `start`; 0 for others.
    """

    floor: int
    delivered: int
    unacked: int
    pending: Range
    given_up: Range
    is_cumulative: bool
    filters: Sequence[str]
    new_filters: Sequence[str] | None
    start: int = 0
    takes_from: int = 0

    @property
    def is_changed(self) -> bool:
        """Whether the server looks for messages that nobody needs any more because of this consumer."""
        return self.new_filters is None or sorted(self.filters) != sorted(self.new_filters)

    @property
    def reach(self) -> int:
        """The last sequence at which the server looks for acknowledged messages."""
        return self.delivered if self.unacked else self.floor


class Rules(NamedTuple):
    """What decides which messages a server looks at: the stream's first and last sequence, whether it is a
    work queue, and whether its retention begins now: of a queue, in a copy of it."""

    first: int
    last: int
    is_queue: bool = False
    begins: bool = False


class _Demand(NamedTuple):
    """So many messages of these parts (their numbers) are needed, and it is unknown which ones."""

    parts: frozenset[int]
    messages: Range


def read_need(info: Json) -> Need:
    """Return what a consumer needs. info: its CONSUMER.INFO."""
    config = info["config"]
    unacked, redelivered = int(info.get("num_ack_pending") or 0), int(info.get("num_redelivered") or 0)
    pending, delivered = int(info.get("num_pending") or 0), info["delivered"]
    limit = int(config.get("max_deliver") or -1)
    given_up = Range(max(0, redelivered - unacked), redelivered) if limit > 0 else Range(0, 0)
    if limit == 1:  # the server does not tell their number
        given_up = Range(0, int(delivered["consumer_seq"]))
    # Of each subject's last messages, those before them are needed until the last one is delivered.
    skips = config.get("deliver_policy") == "last_per_subject"
    return Need(
        int(info["ack_floor"]["stream_seq"]),
        int(delivered["stream_seq"]),
        unacked,
        Range(pending, _ALL if skips else pending),
        given_up,
        config.get("ack_policy") != "explicit",
        get_filters(config),
        get_filters(config),
    )


def plan_need(config: Json, last: int) -> Need:
    """Return what a consumer that does not exist yet will need. last: the stream's last sequence."""
    policy, start = config.get("deliver_policy") or "all", 0
    pending = Range(_ALL, _ALL) if policy in ("all", "by_start_sequence") else Range(0, _ALL)
    if policy == "by_start_sequence":
        start = int(config.get("opt_start_seq") or 1) - 1
    elif policy == "new":
        start = last
    filters = get_filters(config)
    return Need(start, start, 0, pending, Range(0, 0), False, filters, filters)


def reset_need(need: Need, sequence: int) -> Need:
    """Return what a consumer needs that is reset to a sequence."""
    floor = sequence - 1
    return need._replace(
        floor=floor,
        delivered=floor,
        unacked=0,
        pending=Range(_ALL, _ALL),
        given_up=Range(0, 0),
        start=sequence,
    )


def take_all(filters: Sequence[str], first: int, last: int) -> Need:
    """Return what is left to need for the consumer of a mirror or source, once it has what there is.
    filters: of the origin; none for all. first, last: the sequences from and up to which it takes all."""
    return Need(
        last,
        last,
        0,
        Range(0, 0),
        Range(0, 0),
        True,
        filters,
        filters,
        start=last + 1,
        takes_from=max(first, 1),
    )


def is_scanned(need: Need, rules: Rules) -> bool:
    """Return whether the server looks at each message from the consumer's floor on. Otherwise, it looks at
    those that other consumers have acknowledged."""
    return 0 <= rules.last - max(need.floor, rules.first) <= _SCANNED


def may_lose_all(needs: Iterable[Need], by: Iterable[Need], rules: Rules) -> bool:
    """Return whether a server may delete all messages, even if consumers need them.

    Where it looks at those that all consumers have acknowledged, it takes one that is ahead of the stream for
    one that needs none (stream.go: checkInterestState, where a check floor of 0 compacts to the end); so it
    does one that goes in that moment.
    """
    needs = list(needs)

    def is_misread(other: Need, need: Need) -> bool:
        if other is need:  # if it goes, it has gone before
            return need.floor > rules.last and need.new_filters is not None
        return other.floor > rules.last or other.new_filters is None

    return not rules.is_queue and any(
        need.is_changed and not is_scanned(need, rules) and any(is_misread(other, need) for other in needs)
        for need in by
    )


def list_bounds(needs: Iterable[Need]) -> list[int]:
    """Return the sequences after which the need for messages may be another."""
    bounds = {
        bound for need in needs for bound in (need.floor - 1, need.floor, need.delivered, need.takes_from - 1)
    }
    return sorted(bound for bound in bounds if bound > 0)


def count_deleted(parts: Sequence[Part], needs: Sequence[Need], rules: Rules, by: Iterable[Need]) -> Range:
    """Return how many of these messages the server deletes.

    needs: those of all consumers after the change, also of those that go. by: the consumers because of which
    it looks for messages that nobody needs; all of them where interest retention begins.
    """
    by = list(by)
    if may_lose_all(needs, by, rules):
        return Range(0, _add(parts, range(len(parts))))
    kept: set[int] = set()
    demands: list[_Demand] = []
    for need in needs:
        certain, possible = _find_needed(need, parts, keeps_given_up=not (rules.is_queue and rules.begins))
        kept |= certain
        demands += possible
    is_last = all(need.new_filters is None for need in needs)
    examined = [_is_examined(part, needs, rules, by, is_last=is_last) for part in parts]
    most = {n for n, state in enumerate(examined) if state is not False and n not in kept}
    least = {n for n in most if examined[n]}
    return Range(
        max(0, _add(parts, least) - _count_needed(parts, least, demands).most),
        _add(parts, most) - _count_needed(parts, most, demands).least,
    )


def _find_needed(
    need: Need, parts: Sequence[Part], *, keeps_given_up: bool
) -> tuple[set[int], list[_Demand]]:
    """Return the parts that a consumer certainly needs, and what it needs of others."""
    certain: set[int] = set()
    demands: list[_Demand] = []
    if need.new_filters is None:
        return certain, demands
    before = [_matches(need.filters, part) for part in parts]
    after = [_matches(need.new_filters, part) for part in parts]
    passed, between, beyond = (
        [n for n, part in enumerate(parts) if low < part.last <= high and before[n] is not False]
        for low, high in ((0, need.floor), (need.floor, need.delivered), (need.delivered, _ALL))
    )

    def demand(numbers: Sequence[int], count: Range) -> None:
        """Add a need for some of these parts, of which the new filters may leave out some."""
        inside = [n for n in numbers if after[n] is not False]
        total, count = _add(parts, numbers), _limit(count, _add(parts, numbers))
        if count.least == total and all(before[n] for n in numbers):
            certain.update(n for n in inside if after[n])
            inside = [n for n in inside if not after[n]]
        elif need.is_changed:
            outside = total - _add(parts, [n for n in inside if after[n]])
            count = Range(max(0, count.least - outside), count.most)
        if inside and count.most:
            demands.append(_Demand(frozenset(inside), _limit(count, _add(parts, inside))))

    unacked = Range(need.unacked, _ALL if need.is_cumulative else need.unacked)
    if need.is_cumulative and all(before[n] for n in between):
        unacked = Range(_ALL, _ALL)
    demand(between, unacked)
    demand(beyond, need.pending)
    if keeps_given_up:
        demand([n for n in (*passed, *between) if n not in certain], need.given_up)
    if need.is_changed:  # the server may have passed what only the new filters match
        others = [n for n, part in enumerate(parts) if after[n] is not False and not before[n]]
        demands.append(_Demand(frozenset(others), Range(0, _add(parts, others))))
    return certain, demands


def _is_examined(
    part: Part, needs: Sequence[Need], rules: Rules, by: Sequence[Need], *, is_last: bool
) -> bool | None:
    """Return whether the server looks at these messages; None if it may, at once or later."""
    if is_last and not rules.is_queue:
        return True
    states: list[bool | None] = []
    if rules.begins:
        # Consumers that are ahead of the stream are left out (checkStateForInterestStream), unless a restore
        # has put them back to its end.
        known = [need for need in needs if rules.is_queue or need.floor <= rules.last]
        reached = [_matches(need.filters, part) for need in known if part.last <= need.reach]
        may_go = None in reached or not rules.is_queue
        states.append(True if True in reached else None if may_go else False)
    for need in by:
        if need.start:
            # Beyond the last message, and in a work queue, the server looks later.
            is_at_once = need.start - 1 <= rules.last and (not rules.is_queue or need.takes_from)
            found = _matches(need.filters, part) if need.takes_from <= part.first < need.start else False
            states.append(None if found and not is_at_once else found)
        elif rules.is_queue:
            is_passed = part.last <= need.floor and need.new_filters is not None
            states.append(
                None if is_passed and _matches(need.new_filters or (), part) is not False else False
            )
        elif not is_scanned(need, rules):
            states.append(None)
        elif part.last >= need.floor:
            states.append(True)
        else:
            states.append(None if need.given_up.most else False)
    return True if True in states else None if None in states else False


def _count_needed(parts: Sequence[Part], among: set[int], demands: Iterable[_Demand]) -> Range:
    """Return how many of the messages of some parts are needed by demands that also concern others."""
    limited: list[_Demand] = []
    for demand in demands:
        inside = demand.parts & among
        elsewhere = _add(parts, demand.parts - among)
        count = Range(max(0, demand.messages.least - elsewhere), demand.messages.most)
        limited.append(_Demand(inside, _limit(count, _add(parts, inside))))
    least, counted = 0, set[int]()
    for demand in sorted(limited, key=lambda demand: -demand.messages.least):
        if not demand.parts & counted:  # others may be about the same messages
            counted |= demand.parts
            least += demand.messages.least
    concerned = frozenset[int]().union(*(demand.parts for demand in limited))
    return Range(least, min(_add(parts, concerned), sum(demand.messages.most for demand in limited)))


def _matches(filters: Sequence[str], part: Part) -> bool | None:
    """Return whether filters match messages; None if their subject is unknown."""
    if not filters:
        return True
    subject = part.subject
    return None if subject is None else any(matches(each, subject) for each in filters)


def _add(parts: Sequence[Part], numbers: Iterable[int]) -> int:
    return sum(parts[n].messages for n in numbers)


def _limit(count: Range, most: int) -> Range:
    return Range(min(count.least, most), min(count.most, most))
