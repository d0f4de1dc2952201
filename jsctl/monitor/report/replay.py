"""Recorded rounds, shown as if they were answered now."""

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

from jsctl.errors import BadInput, JsctlError, Unreachable
from jsctl.jetstream.shape_check import Malformed
from jsctl.monitor.report.listings import LISTED, RECORDED_EVERY, Listing
from jsctl.monitor.report.places import SILENT, WITHOUT_JETSTREAM, Place, Round, take_answers
from jsctl.monitor.report.recording import Recording
from jsctl.monitor.report.round_json import PlaceRound, parse_place
from jsctl.monitor.report.tracking import Tracker

_HISTORY = RECORDED_EVERY
"""How many earlier rounds are read for the rates, trends and lists of the one that is shown."""

_UNRECORDED = {part: Listing(part, None, "it is not in the recording") for part in LISTED}


class Replay:
    """A recording, from which any round can be shown. Raises BadInput for a file without rounds."""

    def __init__(self, path: Path) -> None:
        self._recording = Recording(path)
        self.times: Sequence[float] = self._recording.times
        self._at = -1
        self._places: list[Place] = []
        self._trackers: dict[tuple[str, str], Tracker] = {}
        self._answered: dict[tuple[str, str], float] = {}

    async def show(self, number: int) -> list[Place]:
        """Return what was known in a round, from 0; rates come from the rounds before. Raises BadInput for a
        damaged round."""
        if number == self._at:
            return self._places
        if not self._at < number <= self._at + _HISTORY:
            self._at = max(-1, number - _HISTORY - 1)
            self._trackers, self._answered = {}, {}
        for earlier in range(self._at + 1, number + 1):
            self._places = await self._load_places(earlier)
        self._at = number
        return self._places

    async def rounds(self) -> AsyncGenerator[Round, None]:
        """Yield all rounds as a report without a screen shows them. Raises BadInput for a damaged one."""
        for number, at in enumerate(self.times):
            yield Round(await self.show(number), at)

    def places(self, number: int) -> list[PlaceRound]:
        """Return what every place answered in a round, from 0. Raises BadInput for a damaged round."""
        document = self._recording.load(number)
        try:
            return [parse_place(place) for place in document["places"]]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            reason = str(error) if isinstance(error, Malformed) else repr(error)
            raise BadInput(
                f"round {number + 1} of {self._recording.path} cannot be read: {reason}",
                "use the jsctl that recorded it",
            ) from None

    async def _load_places(self, number: int) -> list[Place]:
        at = self.times[number]
        return [await self._build_place(place, at) for place in self.places(number)]

    async def _build_place(self, place: PlaceRound, at: float) -> Place:
        key = (place.context, place.domain)
        if key not in self._trackers:
            self._trackers[key] = Tracker()
            self._trackers[key].listings.update(_UNRECORDED)
        tracker = self._trackers[key]
        if place.answers is not None:
            await take_answers(tracker, at, place.answers)
            self._answered[key] = at
        answered = self._answered.get(key)
        error = Unreachable if place.state in (SILENT, WITHOUT_JETSTREAM) else JsctlError
        return Place(
            place.context,
            place.domain,
            place.flags,
            answered,
            place.error,
            place.state,
            tracker,
            failure=error(place.error) if place.error else None,
            tried_at=at,
        )
