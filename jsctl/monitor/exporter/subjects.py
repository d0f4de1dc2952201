"""The messages of streams by subject, for a limited number of subjects."""

import asyncio
from collections.abc import Iterable, Mapping

from jsctl.errors import JsctlError
from jsctl.jetstream.api import Api
from jsctl.jetstream.stream.requests import count_subjects

OTHER = "(other)"
"""The label of all subjects of a stream that have no series of their own."""

_AT_ONCE = 4
"""Streams that are asked at the same time: an answer has up to 100,000 subjects."""


class SubjectCounts:
    """The messages by subject of the streams of a place.

    A subject that has a series keeps it, as each new one costs Prometheus memory for hours: the places that
    are free go to the subjects with the most messages. limit: of a stream.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._chosen: dict[str, list[str]] = {}

    async def fetch(self, api: Api, streams: Iterable[str]) -> dict[str, dict[str, int]]:
        """Return the messages by subject of these streams; one that does not answer has none."""
        gate = asyncio.Semaphore(_AT_ONCE)
        counted: dict[str, dict[str, int]] = {}

        async def count(stream: str) -> None:
            try:
                async with gate:
                    counts = await count_subjects(api, stream)
            except JsctlError:
                return
            counted[stream] = self.choose(stream, counts)

        await asyncio.gather(*map(count, streams))
        return counted

    def choose(self, stream: str, counts: Mapping[str, int]) -> dict[str, int]:
        """Return the messages of the subjects that have a series, and of all others together."""
        chosen = self._chosen.setdefault(stream, [])
        if len(chosen) < self._limit:
            others = (subject for subject in counts if subject not in {*chosen, OTHER})
            chosen += sorted(others, key=lambda subject: (-counts[subject], subject))[
                : self._limit - len(chosen)
            ]
        own = {subject: counts.get(subject, 0) for subject in chosen}
        return {**own, OTHER: sum(counts.values()) - sum(own.values())}
