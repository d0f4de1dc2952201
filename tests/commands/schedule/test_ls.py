"""`schedule ls`, also of a schedule that has written messages."""

import pytest

from jsctl.base.units import parse_time_ns
from tests.support import js
from tests.support.run import Cli


def test_schedules_are_listed_with_their_next_run(jobs: Cli, url: str) -> None:
    (row,) = jobs("schedule ls JOBS --json", status=0).json
    expected = ("jobs.plan.report", "Europe/Amsterdam", "jobs.report")
    assert (row["subject"], row["zone"], row["target"]) == expected
    assert row["next"][10:] in ("T06:30:00Z", "T07:30:00Z") and row["written"] is None
    assert " 08:30:00+0" in jobs("schedule ls JOBS --zone Europe/Amsterdam", status=0).out
    assert jobs("schedule ls JOBS 'jobs.report.>' --json", status=0).json == []
    assert js.info(url, "JOBS")["state"]["consumer_count"] == 0
    jobs("schedule ls JOBS --zone X/Y", status=64)


@pytest.mark.slow
def test_what_was_written_last_and_when_it_runs_again(jobs: Cli, url: str) -> None:
    jobs("schedule add JOBS jobs.plan.often x --every 1s --dest jobs.often", status=0)
    jobs("stream wait JOBS --sequence 5 --timeout 20s", status=0)
    rows = {row["subject"]: row for row in jobs("schedule ls JOBS --json", status=0).json}
    last = js.ask(url, "STREAM.MSG.GET.JOBS", {"last_by_subj": "jobs.often"})["message"]
    often = rows["jobs.plan.often"]
    assert parse_time_ns(often["written"]) <= parse_time_ns(last["time"])
    assert 0 < parse_time_ns(often["next"]) - parse_time_ns(often["written"]) < 3 * 10**9
    js.publish(url, "jobs.often")
    assert jobs("schedule info JOBS jobs.plan.report --json", status=0).json["written"] is None
