"""How far the consumers of a redrive's targets are behind, for --pause-on."""

from collections.abc import Sequence
from functools import partial

from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.consumer.config import get_filters
from jsctl.jetstream.find.expression import Condition
from jsctl.jetstream.paging import require_answers
from jsctl.jetstream.waiting import PatientApi
from jsctl.nats.subjects import matches

_COUNTS = {"lag": "num_pending", "unacknowledged": "num_ack_pending", "redelivered": "num_redelivered"}
PAUSE_NAMES = frozenset(_COUNTS)
"""What a condition can ask for: the largest number of the consumers that get what is published."""


async def is_behind(api: PatientApi, condition: Condition, head: Json) -> bool:
    """Return whether a condition holds. head: of the journal. Raises ValueError for one that is none, and
    RequestTimeout for a consumer without a leader."""

    async def list_all(stream: str, own: Api) -> Sequence[Json]:
        listed = await consumers.list_consumers(own, stream)
        require_answers("consumer", listed.missing)
        return listed.infos

    numbers = dict.fromkeys(_COUNTS, 0)
    for stream in sorted(set(head["targets"].values())):
        subjects = [subject for subject, name in head["targets"].items() if name == stream]
        for info in await api.repeat(partial(list_all, stream)):
            filters = get_filters(info["config"])
            if not filters or any(matches(each, subject) for each in filters for subject in subjects):
                for name, key in _COUNTS.items():
                    numbers[name] = max(numbers[name], int(info.get(key, 0)))
    return condition(numbers)
