"""What else a redrive does to its targets: what they remove because of their limits, and who else gets it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from jsctl.base.units import format_bytes, pluralize
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.consumer.config import get_filters
from jsctl.jetstream.redrive.plan import RedrivePlan
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.subjects import matches


async def describe_removals(api: Api, plan: RedrivePlan, sizes: Mapping[int, int]) -> list[str]:
    """Return a sentence for each target that removes messages when it stores these: what it holds, or the
    first of these. sizes: of each message, in bytes."""
    sentences = []
    infos = {str(info["config"]["name"]): info for info in plan.targets.values()}
    for name, info in infos.items():
        own = [item for item in plan.items if plan.targets[item.subject]["config"]["name"] == name]
        counts, held = Counter(item.subject for item in own), Counter[str]()
        if int(info["config"].get("max_msgs_per_subject") or 0) > 0:
            for subject in counts:
                held[subject] = (await streams.count_subjects(api, name, subject)).get(subject, 0)
        size = sum(sizes[item.sequence] for item in own)
        sentences += [f"stream {name} {each}" for each in _list_removals(info, counts, held, size)]
    return sentences


async def list_other_receivers(api: Api, stream: str, consumer: str, subjects: Iterable[str]) -> list[str]:
    """Return the other consumers of a stream that get messages on these subjects, too."""
    names, others = list(subjects), list[str]()
    for info in (await consumers.list_consumers(api, stream)).infos:
        filters = get_filters(info["config"])
        is_reached = not filters or any(matches(each, name) for each in filters for name in names)
        if is_reached and info["name"] != consumer:
            others.append(str(info["name"]))
    return sorted(others)


def _list_removals(info: Json, counts: Counter[str], held: Counter[str], size: int) -> Iterator[str]:
    """Yield at most one sentence. counts: of messages to store, held: of those that are, by subject."""
    config, state = info["config"], info["state"]
    replaces = config.get("discard") != "new"
    if config.get("retention") == "interest" and not state.get("consumer_count"):
        yield "has interest retention and no consumers: it keeps none of these messages"
        return
    most_each, most, most_bytes = (
        int(config.get(key) or 0) for key in ("max_msgs_per_subject", "max_msgs", "max_bytes")
    )
    over = sum(max(0, held[subject] + count - most_each) for subject, count in counts.items())
    if most_each > 0 and over and not config.get("discard_new_per_subject"):
        yield _describe(f"{pluralize(most_each, 'message')} per subject", over)
    elif most > 0 and (over := int(state["messages"]) + counts.total() - most) > 0 and replaces:
        yield _describe(pluralize(most, "message"), over)
    elif most_bytes > 0 and (over := int(state["bytes"]) + size - most_bytes) > 0 and replaces:
        kept = f"keeps {format_bytes(most_bytes)}"
        yield f"{kept}: {format_bytes(over)} or more will be removed, the oldest first"


def _describe(kept: str, removed: int) -> str:
    return f"keeps {kept}: {pluralize(removed, 'message')} will be removed, the oldest first"
