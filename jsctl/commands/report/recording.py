"""`jsctl report --record FILE`: every round into a file."""

from collections.abc import AsyncGenerator, Callable
from pathlib import Path

from jsctl.errors import BadInput
from jsctl.monitor.report.recording import Recorder
from jsctl.monitor.report.round_json import of_states, round_document
from jsctl.monitor.report.rounds import Round
from jsctl.units import SECOND


def open_recorder(file: str, keep: int | None) -> Recorder | None:
    """Open the file of recorded rounds, None for no file. keep: ns. Raises BadInput."""
    if not file:
        return None
    try:
        return Recorder(Path(file).expanduser(), None if keep is None else keep / SECOND)
    except OSError as error:
        raise BadInput(f"cannot write {file}: {error.strerror}", "choose another file for --record") from None


async def recorded_rounds(
    rounds: AsyncGenerator[Round, None], recorder: Recorder, clock: Callable[[], float]
) -> AsyncGenerator[Round, None]:
    """Yield rounds, each after it was recorded."""
    known: dict[int, float] = {}
    try:
        async for one in rounds:
            at = clock()
            recorder.write(round_document(of_states(one.states, known), at), at)
            yield one
    finally:
        await rounds.aclose()
        recorder.close()
