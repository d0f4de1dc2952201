"""`schedule add`."""

import pytest

from tests.support import js
from tests.support.run import Cli

ADD = "schedule add JOBS jobs.plan.x body"


def test_what_is_stored(jobs: Cli) -> None:
    line = f"{ADD} --every 90s --dest jobs.out --source jobs.other --ttl 1m -H 'A: b' --json"
    document = jobs(line, status=0).json
    says = (document["schedule"], document["target"], document["source"])
    assert says == ("@every 90s", "jobs.out", "jobs.other")
    assert (document["ttl"], document["zone"], document["written"]) == ("60s", None, None)
    assert len(document["next"]) == 3
    (message,) = jobs("stream view JOBS --subject jobs.plan.x --json", status=0).json
    assert message["headers"]["A"] == ["b"] and message["data"] == "body"


def test_a_subject_holds_one_schedule(jobs: Cli) -> None:
    again = "schedule add JOBS jobs.plan.report new --after 1h --dest jobs.out"
    assert "--replace replaces it" in jobs(again, status=1).err
    assert jobs(f"{again} --replace --json", status=0).json["schedule"].startswith("@at 20")
    assert [row["subject"] for row in jobs("schedule ls JOBS --json", status=0).json] == ["jobs.plan.report"]


def test_dry_run(jobs: Cli, url: str) -> None:
    before = js.info(url, "JOBS")["state"]["last_seq"]
    shown = jobs(f"{ADD} --cron=@daily --dest jobs.out --dry-run", status=0).out
    assert "Would store schedule jobs.plan.x in stream JOBS, which first runs at 20" in shown
    assert js.info(url, "JOBS")["state"]["last_seq"] == before


@pytest.mark.parametrize(
    ("flags", "status", "words"),
    [
        ("--dest jobs.out", 64, "set one of --at, --after, --every and --cron"),
        ("--after 1h", 64, "set --dest SUBJECT"),
        ("--cron '99 * * * * *' --dest jobs.out", 64, "'99' is not valid for the seconds; use 0 to 59"),
        ("--cron '0 0 8 * *' --dest jobs.out", 64, "has 5 fields, not 6"),
        ("--cron=@daily --zone Nowhere/No --dest jobs.out", 64, "'Nowhere/No' is not a time zone"),
        ("--at 2020-01-01T00:00:00Z --dest jobs.out", 64, "never runs"),
        ("--every 500ms --dest jobs.out", 64, "whole seconds"),
        ("--after 1h --dest elsewhere", 1, "target is invalid"),
    ],
)
def test_what_is_refused(flags: str, status: int, words: str, jobs: Cli, url: str) -> None:
    assert words in jobs(f"{ADD} {flags}", status=status).err
    assert js.info(url, "JOBS")["state"]["last_seq"] == 2


def test_a_stream_without_schedules(cli: Cli, url: str) -> None:
    js.stream(url, "PLAIN", "plain.>")
    refused = cli("schedule add PLAIN plain.x body --after 1h --dest plain.y", status=64).err
    assert "jsctl stream edit PLAIN --allow-schedules does" in refused
