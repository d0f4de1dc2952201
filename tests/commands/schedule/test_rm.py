"""`schedule rm`."""

from tests.support import js
from tests.support.run import Cli

RM = "schedule rm JOBS jobs.plan.report"


def test_rm(jobs: Cli, url: str) -> None:
    assert "Would remove schedule jobs.plan.report" in jobs(f"{RM} --dry-run", status=0).out
    assert "use --force" in jobs(RM, status=64).err
    document = jobs(f"{RM} --force --json", status=0).json
    assert document == {"stream": "JOBS", "subject": "jobs.plan.report", "removed": 1, "stored": None}
    state = js.info(url, "JOBS")["state"]
    assert (state["messages"], state["last_seq"]) == (1, 2), "nothing else is removed or stored"
    assert "no schedule on" in jobs(f"{RM} --force", status=3).err
    jobs(f"{RM} --force --missing-ok", status=0)


def test_a_message_takes_its_place_in_one_step(jobs: Cli, url: str) -> None:
    document = jobs(f"{RM} --publish jobs.report --body now --force --json", status=0).json
    assert (document["removed"], document["stored"]) == (1, 3)
    assert jobs("schedule ls JOBS --json", status=0).json == []
    (message,) = jobs("stream view JOBS --subject jobs.report --json", status=0).json
    assert (message["data"], message["headers"]["Nats-Scheduler"]) == ("now", ["jobs.plan.report"])


def test_no_message_without_the_removal(jobs: Cli, url: str) -> None:
    assert jobs(f"{RM} --publish elsewhere --force --timeout 1s").status != 0
    jobs(f"{RM} --body x --force", status=64)
    assert js.info(url, "JOBS")["state"]["messages"] == 2
    assert len(jobs("schedule ls JOBS --json", status=0).json) == 1
