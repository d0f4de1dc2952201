"""`incident`: what rounds of a recording say of what changed."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsctl.base.units import format_rfc3339
from jsctl.errors import ApiError
from jsctl.monitor.incident.advised import estimate_skews, merge_advised, parse_advised
from tests.support import js
from tests.support.rounds import START, Change, with_lag, write_rounds
from tests.support.run import Cli
from tests.support.servers import HUB_LEAF_ACCOUNTS, RealServer
from tests.support.services import answering


@pytest.fixture
def real(cli: Cli, url: str, tmp_path: Path) -> Path:
    """A recorded round with a stream and a consumer."""
    js.stream(url, "ORDERS", "orders.>")
    js.publish(url, "orders.new", count=50)
    js.ask(url, "CONSUMER.CREATE.ORDERS.C", {"stream_name": "ORDERS", "config": {"durable_name": "C"}})
    cli(f"report --record {tmp_path / 'real'} --count 1", status=0)
    return tmp_path / "real"


def unchanged(place: dict[str, Any]) -> None: ...


def edit(place: dict[str, Any]) -> None:
    place["overview"]["consumers"][0]["config"]["ack_wait"] = 5_000_000_000


def limit(place: dict[str, Any]) -> None:
    place["overview"]["limits"]["ORDERS"] = {"messages": 10, "bytes": -1, "retention": "limits"}


def keep(place: dict[str, Any]) -> None:
    place["overview"]["settings"]["ORDERS"] |= {"allow_rollup_hdrs": True, "duplicate_window": 30_500_000_000}


def tag(place: dict[str, Any]) -> None:
    place["overview"]["consumers"][0]["config"]["metadata"] = {"_nats.ver": "9", "team": "a"}


def purge(place: dict[str, Any]) -> None:
    place["overview"]["streams"][0] |= {"messages": 0, "bytes": 0}


def remove(place: dict[str, Any]) -> None:
    place["overview"]["streams"], place["overview"]["consumers"] = [], []


def recreate(place: dict[str, Any]) -> None:
    place["overview"]["streams"][0]["created"] = "2027-01-15T08:00:03Z"


def lead(place: dict[str, Any]) -> None:
    place["overview"]["streams"][0]["leader"] = "n2"


@pytest.mark.parametrize(
    ("change", "kind", "says"),
    [
        (edit, "configuration", "ack_wait none, now 5s"),
        (limit, "configuration", "max_msgs unlimited, now 10"),
        (keep, "configuration", "duplicate_window 2m0s, now 30.5s; allow_rollup_hdrs false, now true"),
        (tag, "configuration", "metadata none, now {'team': 'a'}"),
        (purge, "purged", "shrank: 50 messages before, 0 now"),
        (remove, "gone", "is gone"),
        (recreate, "recreated", "was removed and created again"),
        (lead, "leader changed", "now n2"),
        (None, "problem", "unreachable"),
    ],
)
def test_the_first_change(
    cli: Cli,
    real: Path,
    tmp_path: Path,
    change: Change | None,
    kind: str,
    says: str,
) -> None:
    file = write_rounds(real, tmp_path / "rounds", [unchanged] * 3 + [change] * 3)
    document = cli(f"incident --from {file} --json", status=0).json
    changes = [one for one in document["changes"] if one["after"] != one["at"]]
    assert (changes[0]["kind"], changes[0]["at"][17:19], changes[0]["after"][17:19]) == (kind, "03", "02")
    assert says in changes[0]["says"]
    assert all(one["at"][17:19] == "03" for one in changes if one["kind"] != "problem"), changes


def test_what_is_not_known_has_not_changed(cli: Cli, real: Path, tmp_path: Path) -> None:
    """The settings of a stream that does not answer, and the servers that are known from it alone."""

    def silence(place: dict[str, Any]) -> None:
        unknown = {"offline": "no answer", "storage": "", "cluster": ""}
        place["overview"]["streams"][0] |= unknown
        place["overview"]["hosting"] = {}

    file = write_rounds(real, tmp_path / "rounds", [unchanged, unchanged, silence, unchanged])
    changes = cli(f"incident --from {file} --json", status=0).json["changes"]
    said = [(one["kind"], one["name"]) for one in changes]
    assert "problem" in {kind for kind, _ in said}
    assert not [one for one in said if one[0] == "configuration" or ": server" in one[1]]


def test_storage_limits_follow_the_free_disk(cli: Cli, system_url: str, tmp_path: Path) -> None:
    cli(["report", "--record", str(tmp_path / "real"), "--count", "1", "--server", system_url], status=0)

    def shrink(place: dict[str, Any]) -> None:
        for reply in place["servers"]["statistics"]:
            reply["statsz"]["jetstream"]["config"]["max_storage"] -= 1_000_000

    file = write_rounds(tmp_path / "real", tmp_path / "rounds", [unchanged, shrink])
    assert cli(f"incident --from {file} --json", status=0).json["changes"] == []


def test_what_changed_before_and_what_followed(cli: Cli, real: Path, tmp_path: Path) -> None:
    def edited(lag: int) -> Change:
        def change(place: dict[str, Any]) -> None:
            edit(place)
            with_lag(lag)(place)

        return change

    rounds = [with_lag(0), with_lag(0), edited(0), *map(edited, (10, 20, 40, 60)), None, None, edited(0)]
    file = write_rounds(real, tmp_path / "rounds", rounds)
    document = cli(f"incident --from {file} --json", status=0).json
    [growing] = [one for one in document["began"] if one["kind"] == "lag grows"]
    assert growing["at"][17:19] == "03" and growing["until"][17:19] == "09"
    assert [one["says"] for one in growing["before"]] == ["ack_wait none, now 5s"]
    assert "unreachable" in {one["says"] for one in growing["followed"]}
    out = cli(f"incident --from {file}", status=0).out
    assert "ack_wait none, now 5s" in out and "because" not in out
    # Only a part of it, in which the lag grows already.
    times = [f"2027-01-15T08:00:{second}Z" for second in ("05", "06")]
    part = cli(["incident", "--from", str(file), "--between", *times, "--json"], status=0).json
    assert part["rounds"] == 2 and part["changes"] == []


def test_a_page(cli: Cli, real: Path, tmp_path: Path) -> None:
    file = write_rounds(real, tmp_path / "rounds", [with_lag(lag) for lag in (0, 0, 10, 20, 30, 40)])
    page = tmp_path / "page.html"
    assert "wrote" in cli(f"incident --from {file} --html {page}", status=0).out
    text = page.read_text()
    assert "<svg" in text and "lag began to grow" in text and "need not be the cause" in text
    assert not re.search(r"(src|href)=|url\(|@import|<script", text)
    assert cli(f"incident --from {file} --html -", status=0).out == text


def test_what_nothing_is_told_of_has_no_heading(cli: Cli, real: Path, tmp_path: Path) -> None:
    file = write_rounds(real, tmp_path / "rounds", [unchanged, purge])
    times = ["2027-01-15T08:00:01Z", "2027-01-15T08:00:02Z"]
    out = cli(["incident", "--from", str(file), "--between", *times], status=0).out
    assert "All changes" in out and "What began" not in out


def test_what_is_wrong_is_one_line(cli: Cli, real: Path, tmp_path: Path) -> None:
    for line, words in (
        (f"incident --from {tmp_path}/none", "none"),
        (f"incident --from {real} --between 1h 2h", "ends before it begins"),
        (f"incident --from {real} --between 2001-01-01 2001-01-02", "has no rounds at that time"),
        (f"incident --from {real} --between x 1h", "is not a time"),
        (f"incident --from {real} --before -3s", "--before must be 0 or more"),
        (f"incident --from {real} --html {tmp_path}", str(tmp_path)),
    ):
        err = cli(line, status=64).err
        assert words in err and len(err.splitlines()) == 1, err


@pytest.mark.slow
def test_advisories_say_when_and_who(cli: Cli, url: str, tmp_path: Path) -> None:
    """A change has the time of the server's clock; what no round shows is there, too."""
    js.stream(url, "ORDERS", "orders.>")
    js.publish(url, "orders.new", count=5)
    rec = tmp_path / "rec"
    process = cli.start(f"report --record {rec} --watch 300ms --json --count 12", stderr=subprocess.DEVNULL)
    assert process.stdout
    process.stdout.readline()
    process.stdout.readline()
    with pytest.raises(ApiError):
        js.ask(url, "STREAM.INFO.NONE")
    config = js.info(url, "ORDERS")["config"]
    js.ask(url, "STREAM.UPDATE.ORDERS", {**config, "max_msgs": 3})
    js.stream(url, "SHORT", "short")
    js.ask(url, "STREAM.DELETE.SHORT")
    js.ask(url, "STREAM.PURGE.ORDERS")
    process.communicate()
    document = cli(f"incident --from {rec} --json", status=0).json
    assert document["advisories"] and abs(document["clocks"][0]["ahead_seconds"]) < 5
    own = [one for one in document["changes"] if one["server"]]
    assert own == sorted(own, key=lambda one: one["server_at"])
    [failed, edited, *short, purged] = own
    assert (failed["kind"], failed["level"]) == ("API errors", "warning") and "not found" in failed["says"]
    assert (
        edited["kind"] == "configuration"
        and "max_msgs unlimited, now 3" in edited["says"]
        and ", by " in edited["says"]
    )
    assert {one["name"].rpartition(": ")[2] for one in short} == {"stream SHORT"} and len(short) >= 2
    assert purged["says"].startswith("was purged: ") and purged["after"] <= purged["at"]
    assert document["first"] == failed
    out = cli(f"incident --from {rec}", status=0).out
    assert "Clocks of servers" in out and "Clock of" in out and "because" not in out
    assert "not found" not in cli(f"incident --from {rec} --between 2001-01-01 2001-01-02", status=64).out


@pytest.mark.slow
def test_a_configuration_that_is_loaded(cli: Cli, tmp_path: Path) -> None:
    config = f"""listen: "127.0.0.1:{{port}}"
server_name: alone
jetstream {{ store_dir: "{{store}}" }}
{HUB_LEAF_ACCOUNTS}"""
    server, rec = RealServer(tmp_path, config).start(), tmp_path / "rec"
    try:
        url = server.url_for("admin")
        words = [
            "report",
            "--record",
            str(rec),
            "--watch",
            "300ms",
            "--json",
            "--count",
            "10",
            "--server",
            url,
        ]
        process = cli.start(words, stderr=subprocess.DEVNULL)
        assert process.stdout
        process.stdout.readline()
        process.stdout.readline()
        server.config.write_text(server.config.read_text() + "max_payload: 900000\n")
        server.reload()
        process.communicate()
    finally:
        server.stop()
    first = cli(f"incident --from {rec} --json", status=0).json["first"]
    assert first["kind"] == "configuration" and first["name"].endswith("server alone")
    assert "config_digest sha256:" in first["says"]


def test_a_restart_and_an_account_that_gets_limits(cli: Cli, tmp_path: Path) -> None:
    config = f"""listen: "127.0.0.1:{{port}}"
server_name: alone
jetstream {{ store_dir: "{{store}}" }}
{HUB_LEAF_ACCOUNTS}"""
    server = RealServer(tmp_path, config).start()

    def record(user: str) -> Path:
        cli(f"report --record {tmp_path / user} --count 1 --server {server.url_for(user)}", status=0)
        return tmp_path / user

    def say(file: Path) -> list[str]:
        document = cli(f"incident --from {file} --json", status=0).json
        return [str(change["says"]) for change in document["changes"]]

    try:
        record("acc"), record("admin")
        text = server.config.read_text()
        server.config.write_text(text.replace("jetstream: enabled", "jetstream: {max_streams: 5}"))
        server.stop()
        server.start()
        limited, restarted = say(record("acc")), say(record("admin"))
    finally:
        server.stop()
    assert "max_streams unlimited, now 5" in limited
    assert any("was started at" in says for says in restarted)
    assert any("config_digest" in says for says in restarted)
    assert not any("config_load_time" in says for says in restarted)


CLOCKS = {"n1": 0, "n2": -90_000_000_000, "n3": 4_000_000_000}


@given(st.lists(st.tuples(st.sampled_from([*CLOCKS]), st.integers(0, 10**10)), max_size=8, unique=True))
def test_skewed_clocks_keep_the_order(events: list[tuple[str, int]]) -> None:
    """Whatever the clocks of servers show, what they published is in the order in which it happened."""
    start = 1_800_000_000 * 10**9
    advised = []
    for server, at in events:
        entry = {
            "kind": "server_lame_duck",
            "at": format_rfc3339(start + at + CLOCKS[server]),
            "received": format_rfc3339(start + at),
            "count": 1,
            "facts": {"server": server},
        }
        advised.append(parse_advised(entry, "c", "", start, start + 10**10))
    skews = estimate_skews(advised)
    assert all(skews[server] == CLOCKS[server] / 10**9 for server, _ in events)
    merged = merge_advised([], advised, skews)
    assert [one.at - start for one in merged] == sorted(at for _, at in events)
    assert {(one.server, one.server_at - start - CLOCKS[one.server]) for one in merged} == set(events)


def test_a_slow_round_is_no_skew(cli: Cli, system_url: str, tmp_path: Path) -> None:
    """What an answer waited for the end of its round is not taken for a clock that is behind."""
    cli(["report", "--record", str(tmp_path / "real"), "--count", "1", "--server", system_url], status=0)

    def answered(at: float) -> Change:
        def change(place: dict[str, Any]) -> None:
            for reply in place["servers"]["statistics"]:
                reply["server"]["time"] = format_rfc3339(round((START + at) * 1e9))

        return change

    rounds = [answered(at) for at in (-0.02, -0.5, 1.9)]
    file = write_rounds(tmp_path / "real", tmp_path / "rounds", rounds)
    [clock] = cli(f"incident --from {file} --json", status=0).json["clocks"]
    assert clock["ahead_seconds"] == pytest.approx(-0.02, abs=0.005)


def test_consumers_whose_leader_does_not_answer_are_not_gone(cli: Cli, url: str, tmp_path: Path) -> None:
    """A page of CONSUMER.LIST that names them as missing, as servers do when a leader was just killed."""
    js.stream(url, "ORDERS", "orders.>")
    for name in ("HERE", "AWAY"):
        body = {"stream_name": "ORDERS", "config": {"durable_name": name}}
        js.ask(url, f"CONSUMER.CREATE.ORDERS.{name}", body)
    lists = {subject: js.ask(url, subject) for subject in ("INFO", "STREAM.LIST", "CONSUMER.LIST.ORDERS")}
    whole = dict(lists["CONSUMER.LIST.ORDERS"])
    rec = tmp_path / "rec"
    for consumers, missing in (
        (whole["consumers"], []),
        ([], ["AWAY", "HERE"]),
        (whole["consumers"][1:], ["AWAY"]),
    ):
        lists["CONSUMER.LIST.ORDERS"] = {**whole, "consumers": consumers, "missing": missing}
        answers = {f"PART.{subject}": [(b"", json.dumps(one).encode())] for subject, one in lists.items()}
        with answering(url, answers):
            report = cli(f"report --json --js-api-prefix PART --record {rec} --count 1", status=0).json
        assert [one["part"] for one in report["reports"][0]["not_checked"]] == ["consumers"] * bool(
            missing
        ), report
    changes = cli(f"incident --from {rec} --json", status=0).json["changes"]
    assert not [one for one in changes if one["kind"] in ("gone", "appeared", "problem ended")], changes


def failing(second: int, count: int) -> Change:
    """So many failed requests that advisories told of in this round, and the account's counter."""

    def change(place: dict[str, Any]) -> None:
        at = f"2027-01-15T08:00:{second:02}Z"
        facts = {"subject": "$JS.API.INFO", "error": "no quorum", "by": "app"}
        entry = {"kind": "api_error", "at": at, "received": at, "count": count, "domain": "", "facts": facts}
        place["advisories"] = [entry] if count else []
        place["overview"]["account"]["api"]["errors"] += 10 * second

    return change


def test_requests_that_go_on_failing_are_one_change(cli: Cli, real: Path, tmp_path: Path) -> None:
    rounds = [failing(second, second % 4) for second in range(1, 9)]
    file = write_rounds(real, tmp_path / "rounds", rounds)
    changes = cli(f"incident --from {file} --json", status=0).json["changes"]
    failed = [one["says"] for one in changes if one["kind"] == "API errors"]
    assert failed == ["no quorum, on $JS.API.INFO, by app (12 times)"]


def test_a_server_that_answers_again(cli: Cli, system_url: str, tmp_path: Path) -> None:
    cli(["report", "--record", str(tmp_path / "real"), "--count", "1", "--server", system_url], status=0)

    def silence(place: dict[str, Any]) -> None:
        place["servers"]["statistics"] = []

    def restart(place: dict[str, Any]) -> None:
        for reply in place["servers"]["statistics"]:
            reply["statsz"]["start"] = "2027-01-15T08:00:02Z"

    file = write_rounds(tmp_path / "real", tmp_path / "rounds", [unchanged, silence, restart])
    changes = cli(f"incident --from {file} --json", status=0).json["changes"]
    said = [(one["kind"], one["says"]) for one in changes if ": server" in one["name"]]
    assert said[:2] == [("gone", "no longer answers"), ("appeared", "answers again")]
    assert said[2][0] == "restarted" and "2027-01-15 08:00:02Z" in said[2][1]


def test_followers_and_short_times_in_words(cli: Cli, real: Path, tmp_path: Path) -> None:
    def with_followers(*names: str) -> Change:
        def change(place: dict[str, Any]) -> None:
            place["overview"]["streams"][0]["peers"] = list(names)
            place["overview"]["troubles"] = {"ORDERS": [["n2 away", True]]} if "n2!" in names else {}

        return change

    peers = [("n2", "n3"), ("n2!", "n3"), ("n3", "n2"), ("n3", "n4")]
    file = write_rounds(real, tmp_path / "rounds", [with_followers(*names) for names in peers], seconds=0.5)
    document = cli(f"incident --from {file} --json", status=0).json
    says = [one["says"] for one in document["changes"] if one["kind"] == "replicas"]
    assert says == [
        "follower n2 is offline or behind",
        "follower n2 is up to date again",
        "followers n3, n2, now n3, n4",
    ]
    assert "Lasted: 500ms" in cli(f"incident --from {file}", status=0).out
