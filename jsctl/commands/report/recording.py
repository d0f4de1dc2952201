"""`jsctl report --record FILE`: every round into a file."""

from collections.abc import AsyncGenerator, Callable

from jsctl.base.units import SECOND
from jsctl.base.user_folders import expand_home
from jsctl.errors import BadInput
from jsctl.monitor.report.places import Places, Round
from jsctl.monitor.report.recording import Recorder
from jsctl.monitor.report.round_json import build_round, build_round_document


def open_recorder(file: str, keep: int | None) -> Recorder | None:
    """Open the file of recorded rounds; return None without a file name. keep: ns. Raises BadInput."""
    if not file:
        return None
    try:
        return Recorder(expand_home(file), None if keep is None else keep / SECOND)
    except OSError as error:
        raise BadInput(f"cannot write {file}: {error.strerror}", "choose another file for --record") from None


async def fetch_rounds(
    places: Places, recorder: Recorder | None, *, interval: int, count: int | None, clock: Callable[[], float]
) -> AsyncGenerator[Round, None]:
    """Yield rounds, each after it was recorded with all that the screen would show. interval: ns."""
    rounds = places.rounds(interval / SECOND, count)
    try:
        async for current_places in rounds:
            if recorder is not None:
                now, round_data = clock(), build_round(current_places, places.answers)
                recorder.write(build_round_document(round_data, now), now)
            yield Round(current_places)
    finally:
        await rounds.aclose()
        await places.close()
        if recorder is not None:
            recorder.close()
