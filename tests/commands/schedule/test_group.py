"""`jsctl schedule` and its commands."""

from datetime import datetime

import pytest

from jsctl.base.units import parse_time_ns
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
        ("--after 1h --dest elsewhere", 64, "--dest elsewhere is not another subject of stream JOBS"),
        ("--after 1h --dest jobs.plan.x", 64, "--dest jobs.plan.x is not another subject of stream JOBS"),
        ("--after 1h --dest jobs.out --source no", 64, "--source no is not another subject of stream JOBS"),
    ],
)
def test_what_is_refused(flags: str, status: int, words: str, jobs: Cli, url: str) -> None:
    assert words in jobs(f"{ADD} {flags}", status=status).err
    assert words in jobs(f"{ADD} {flags} --dry-run", status=status).err
    assert js.info(url, "JOBS")["state"]["last_seq"] == 2


def test_a_stream_without_schedules(cli: Cli, url: str) -> None:
    js.stream(url, "PLAIN", "plain.>")
    refused = cli("schedule add PLAIN plain.x body --after 1h --dest plain.y", status=64).err
    assert "jsctl stream edit PLAIN --allow-schedules does" in refused


def test_schedules_are_listed_with_their_next_run(jobs: Cli, url: str) -> None:
    (row,) = jobs("schedule ls JOBS --json", status=0).json
    expected = ("jobs.plan.report", "Europe/Amsterdam", "jobs.report")
    assert (row["subject"], row["zone"], row["target"]) == expected
    assert row["next"][10:] in ("T06:30:00Z", "T07:30:00Z") and row["written"] is None
    assert " 08:30:00+0" in jobs("schedule ls JOBS --zone Europe/Amsterdam", status=0).out
    assert jobs("schedule ls JOBS 'jobs.report.>' --json", status=0).json == []
    assert js.info(url, "JOBS")["state"]["consumer_count"] == 0
    jobs("schedule ls JOBS --zone X/Y", status=64)


def test_a_narrow_terminal_shows_where_they_go(jobs: Cli) -> None:
    terminal = jobs.terminal("schedule ls JOBS", columns=80)
    shown = terminal.read()
    assert "jobs.report" in shown and "left out: Zone, Sequence;" in shown


@pytest.mark.slow
def test_what_was_written_last_and_when_it_runs_again(jobs: Cli, url: str) -> None:
    jobs("schedule add JOBS jobs.plan.often x --every 1s --dest jobs.often", status=0)
    jobs("stream wait JOBS --sequence 5 --timeout 20s", status=0)
    rows = {row["subject"]: row for row in jobs("schedule ls JOBS --json", status=0).json}
    last = js.ask(url, "STREAM.MSG.GET.JOBS", {"last_by_subj": "jobs.often"})["message"]
    often = rows["jobs.plan.often"]
    assert parse_time_ns(often["written"]) <= parse_time_ns(last["time"])
    shown = jobs("schedule ls JOBS jobs.plan.often --zone Asia/Tokyo", status=0).out
    page = jobs("schedule info JOBS jobs.plan.often --zone Asia/Tokyo", status=0).out
    assert shown.count("+09:00") == 2 and page.count("+09:00") == 5, "each time is in the zone"
    assert 0 < parse_time_ns(often["next"]) - parse_time_ns(often["written"]) < 3 * 10**9
    js.publish(url, "jobs.often")
    assert jobs("schedule info JOBS jobs.plan.report --json", status=0).json["written"] is None


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


def test_next(jobs: Cli) -> None:
    rows = jobs("schedule next JOBS jobs.plan.report --count 12 --json", status=0).json
    times = [datetime.fromisoformat(row["run"]) for row in rows]
    assert len(times) == 12 and times == sorted(times)
    assert {time.weekday() for time in times} == {0, 1, 2, 3, 4}
    assert all(row["left_ns"] > 0 for row in rows)
    shown = jobs("schedule next JOBS jobs.plan.report --count 2 --zone Asia/Tokyo", status=0).out
    assert "+09:00" in shown
    jobs("schedule next JOBS jobs.plan.report --count 0", status=64)


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


def test_a_sealed_stream_is_said_before_the_question(jobs: Cli) -> None:
    jobs("stream edit JOBS --deny-delete --force", status=0)
    assert "message delete not permitted" in jobs("schedule rm JOBS jobs.plan.report", tty=True, status=1).err
    jobs("stream seal JOBS --force", status=0)
    for line in (
        "rm JOBS jobs.plan.report",
        "rm JOBS jobs.plan.report --dry-run",
        f"{ADD[9:]} --after 1h --dest jobs.a --dry-run",
    ):
        assert "invalid operation on sealed stream" in jobs(f"schedule {line}", tty=True, status=1).err
