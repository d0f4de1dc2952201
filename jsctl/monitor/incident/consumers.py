"""What changed of a consumer that is not its configuration. No I/O."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from jsctl.base.units import parse_time_ns

Level = Literal["bad", "warning", "note", "good"]
Words = tuple[str, str, Level, str]
"""Kind, name, level and words of a change."""


def compare_consumers(
    name: str, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None
) -> Iterator[Words]:
    """Yield what changed of a consumer between two rounds; None for one that is not known, or of which only
    something else is compared."""
    if old is None or new is None or old.get("created") != new.get("created"):
        return
    yield from _compare_floors(name, old, new)
    most = new.get("max_waiting") or 0
    if most and (new.get("waiting") or 0) >= most > (old.get("waiting") or 0):
        yield (
            "pulls full",
            name,
            "warning",
            f"{most:,} pull requests wait, as many as may: others are refused",
        )


def _compare_floors(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Words]:
    """Yield that a consumer was reset, of which servers publish nothing. One that has caught up since has
    delivered messages, and by its count no more than before; of one with replicas that is not known, as its
    count is what they agree on, which may come after the time (server/consumer.go)."""
    before, now = old.get("floor"), new.get("floor")
    if before is not None and now is not None and now < before:
        yield "went back", name, "bad", f"went back: acknowledged up to {before:,} before, {now:,} now"
        return
    first, last = (one.get("delivered") or {} for one in (old, new))
    before, now = (int(one.get("consumer_seq") or 0) for one in (first, last))
    times = [one.get("last_active") for one in (first, last)]
    has_delivered = all(times) and parse_time_ns(str(times[0])) < parse_time_ns(str(times[1]))
    if now < before or (now == before and has_delivered):
        yield "went back", name, "bad", f"went back: {before:,} deliveries before, {now:,} since then"
