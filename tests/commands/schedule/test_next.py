"""`schedule next`."""

from datetime import datetime

from tests.support.run import Cli


def test_next(jobs: Cli) -> None:
    rows = jobs("schedule next JOBS jobs.plan.report --count 12 --json", status=0).json
    times = [datetime.fromisoformat(row["run"]) for row in rows]
    assert len(times) == 12 and times == sorted(times)
    assert {time.weekday() for time in times} == {0, 1, 2, 3, 4}
    assert all(row["left_ns"] > 0 for row in rows)
    shown = jobs("schedule next JOBS jobs.plan.report --count 2 --zone Asia/Tokyo", status=0).out
    assert "+09:00" in shown
    jobs("schedule next JOBS jobs.plan.report --count 0", status=64)
