"""A stream of schedules."""

import pytest

from tests.support import js
from tests.support.run import Cli


@pytest.fixture
def jobs(cli: Cli, url: str) -> Cli:
    """JOBS, which allows schedules, with one on jobs.plan.report (sequence 1) and another message."""
    js.stream(url, "JOBS", "jobs.>", allow_msg_schedules=True, allow_msg_ttl=True)
    line = "schedule add JOBS jobs.plan.report body --cron '0 30 8 * * mon-fri' --dest jobs.report"
    cli(f"{line} --zone Europe/Amsterdam", status=0)
    js.publish(url, "jobs.other")
    return cli
