"""`schedule info`."""

from tests.support.run import Cli


def test_info(jobs: Cli) -> None:
    page = jobs("schedule info JOBS jobs.plan.report --zone Europe/Amsterdam", status=0).out
    for words in (
        "Schedule: 0 30 8 * * mon-fri",
        "Target: jobs.report",
        "Last Written: nothing",
        " 08:30:00+0",
    ):
        assert words in page
    assert "no schedule on jobs.none" in jobs("schedule info JOBS jobs.none", status=3).err
    assert "is not a schedule" in jobs("schedule info JOBS jobs.other", status=3).err
    assert "stream NONE not found" in jobs("schedule info NONE jobs.other", status=3).err
