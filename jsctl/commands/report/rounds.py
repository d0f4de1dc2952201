"""The rounds of `jsctl report`, and the file that --record writes them to."""

from collections.abc import AsyncGenerator, Callable, Sequence

from jsctl.base.units import SECOND
from jsctl.base.user_folders import expand_home
from jsctl.commands.alerting.watching import Alerting
from jsctl.errors import BadInput
from jsctl.monitor.report.places import Place, Places, Round
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
    places: Places,
    recorder: Recorder | None,
    *,
    interval: int,
    count: int | None,
    clock: Callable[[], float],
    alerting: Alerting | None,
) -> AsyncGenerator[Round, None]:
    """Yield rounds, each after it was recorded with all that the screen would show. interval: ns."""
    rounds = places.rounds(interval / SECOND, count)
    try:
        async for current_places in rounds:
            record_round(recorder, places, current_places, clock(), alerting)
            yield Round(current_places)
    finally:
        await rounds.aclose()
        await places.close()
        if alerting is not None:
            await alerting.close()
        if recorder is not None:
            recorder.close()


def record_round(
    recorder: Recorder | None,
    places: Places,
    current: Sequence[Place],
    now: float,
    alerting: Alerting | None,
) -> None:
    """Append a round to the file, if there is one, and tell who waits for alerts."""
    if recorder is not None:
        recorder.write(
            build_round_document(build_round(current, places.answers, places.advisories), now), now
        )
    if alerting is not None:
        alerting.add(current, now)
