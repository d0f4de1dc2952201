"""consumer why: each cause made on a real server, told with its numbers and what would help.
(Leaders: tests/jetstream/cluster/test_consumers.py.)"""

from typing import Any

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.subscribing import subscribing
from tests.support.waiting import wait_for


@pytest.fixture(autouse=True)
def stream(url: str) -> None:
    js.stream(url, "S", "s.>")


def why(cli: Cli, name: str = "C") -> dict[str, Any]:
    """Causes by kind; the words for people hold the same."""
    result = cli(f"consumer why S {name} --json", status=0).json
    out = cli(f"consumer why S {name}", status=0).out
    for cause in result["causes"]:
        # Times go on between the two calls.
        assert cause["says"].split(";")[0].split(", ")[0][:30] in out
        if cause["help"]:
            assert f": {cause['help']}" in out
    kinds = {cause["kind"]: cause for cause in result["causes"]}
    kinds["verdict"] = result["verdict"]
    return kinds


def add(cli: Cli, line: str = "--pull") -> None:
    cli(f"consumer add S C {line}", status=0)


def test_a_consumer_that_has_read_everything_is_fine(cli: Cli, url: str) -> None:
    add(cli)
    assert set(why(cli)) == {"empty stream", "verdict"}
    js.publish(url, "s.a")
    cli("consumer next S C", status=0)
    causes = why(cli)
    assert set(causes) == {"done", "verdict"}
    assert causes["verdict"] == "fine"


def test_paused(cli: Cli, url: str) -> None:
    js.publish(url, "s.a")
    add(cli, "--pull --pause 1h")
    causes = why(cli)
    assert causes["paused"]["numbers"]["pause_remaining"] > 3000 * 10**9
    assert causes["paused"]["help"] == "jsctl consumer resume S C"
    assert causes["verdict"] == "stopped"
    cli("consumer resume S C --force", status=0)
    assert "paused" not in why(cli)


def test_no_interest(cli: Cli, url: str) -> None:
    js.publish(url, "s.a")
    add(cli, "--target out.s --deliver-group g")
    causes = why(cli)
    assert causes["no interest"]["numbers"] == {
        "num_pending": 1,
        "deliver_subject": "out.s",
        "push_bound": False,
    }
    assert causes["no interest"]["help"] == ""  # without acks, whoever looks takes messages away
    assert "in queue group g" in causes["no interest"]["says"]
    with subscribing(url, "out.s", queue="g"):
        wait_for(lambda: "no interest" not in why(cli), "there is no interest")


@pytest.mark.slow
def test_no_waiting_pulls(cli: Cli, url: str) -> None:
    js.publish(url, "s.a", count=3)
    add(cli)
    causes = why(cli)
    assert set(causes) == {"no waiting pulls", "verdict"}
    assert causes["no waiting pulls"]["numbers"] == {"num_pending": 3, "num_waiting": 0}
    assert "3 messages are pending" in causes["no waiting pulls"]["says"]
    # What it offers takes no message away from those that it is for.
    cli(causes["no waiting pulls"]["help"].removeprefix("jsctl ") + " --count 3", status=0)
    assert js.ask(url, "CONSUMER.INFO.S.C")["num_ack_pending"] == 3
    cli("consumer edit S C --wait 1s --force", status=0)
    cli("consumer next S C --count 3 --timeout 5s", status=0)
    assert set(why(cli)) == {"done", "verdict"}


def test_ack_pending_at_its_limit(cli: Cli, url: str) -> None:
    js.publish(url, "s.a", count=5)
    add(cli, "--pull --max-pending 2")
    cli("consumer next S C --count 2 --no-ack", status=0)
    causes = why(cli)
    limit = causes["ack pending at its limit"]
    assert limit["numbers"] == {"num_ack_pending": 2, "max_ack_pending": 2, "first": 1, "subject": "s.a"}
    assert limit["says"].endswith("the first is message 1 (s.a), delivered once")
    assert cli("consumer next S C --timeout 300ms").status == 3
    cli(limit["help"].removeprefix("jsctl ") + " --force", status=0)
    assert cli("consumer next S C --timeout 1s").status == 0
    assert "ack pending at its limit" not in why(cli)


@pytest.mark.parametrize(
    ("tries", "redelivered", "says"),
    [
        (1, 0, "2 messages were given up after 1 try without"),
        (2, 2, "2 messages were given up after 2 tries without"),
    ],
)
def test_max_deliver_reached(cli: Cli, url: str, tries: int, redelivered: int, says: str) -> None:
    js.publish(url, "s.a", count=2)
    add(cli, f"--pull --max-deliver {tries} --wait 200ms")
    for _ in range(tries):
        cli("consumer next S C --count 2 --no-ack --timeout 2s", status=0)
    cli("consumer next S C --timeout 700ms", status=3)
    causes = why(cli)["max deliver reached"]
    assert causes["numbers"] == {
        "max_deliver": tries,
        "num_redelivered": redelivered,
        "num_ack_pending": 0,
        "ack_floor": 0,
        "delivered": 2,
        "first": 1,
    }
    assert causes["says"].startswith(says)
    cli(causes["lines"][-1]["line"].removeprefix("jsctl ") + " --force", status=0)
    assert cli("consumer next S C --count 2 --timeout 2s").status == 0
    assert set(why(cli)) == {"done", "verdict"}


def test_a_filter_that_matches_nothing(cli: Cli, url: str) -> None:
    js.publish(url, "s.a", count=4)
    add(cli, "--pull --filter s.b")
    causes = why(cli)
    assert set(causes) == {"filter matches nothing", "verdict"}
    assert causes["filter matches nothing"]["numbers"] == {
        "num_pending": 0,
        "messages": 4,
        "matching": 0,
        "filters": ["s.b"],
    }
    assert "ever can" not in causes["filter matches nothing"]["says"]
    cli("consumer edit S C --filter other.> --force", status=0)
    says = why(cli)["filter matches nothing"]["says"]
    assert "(other.>), and none ever can: the stream takes s.>" in says
    cli("consumer edit S C --filter s.b --filter s.a --force", status=0)
    assert "filter matches nothing" not in why(cli)


def test_in_backoff_and_waiting_for_acks(cli: Cli, url: str) -> None:
    js.publish(url, "s.a", count=2)
    add(cli, "--pull --backoff 1m,5m")
    cli("consumer next S C --count 2 --no-ack", status=0)
    causes = why(cli)
    assert causes["in backoff"]["numbers"]["backoff"] == [60 * 10**9, 300 * 10**9]
    assert causes["in backoff"]["numbers"]["num_ack_pending"] == 2
    assert "only after the backoff: 1m0s, 5m0s" in causes["in backoff"]["says"]
    assert causes["verdict"] == "fine"  # they were delivered just now
    cli("consumer edit S C --backoff none --wait 30s --force", status=0)
    waiting = why(cli)["waiting for acknowledgements"]
    assert waiting["numbers"]["ack_wait"] == 30 * 10**9


def test_a_start_beyond_the_last_message_is_named(cli: Cli, url: str) -> None:
    js.publish(url, "s.a", count=2)
    add(cli, "--pull --deliver 1000")
    causes = why(cli)["starts later"]
    assert (causes["numbers"]["opt_start_seq"], causes["numbers"]["last_seq"]) == (1000, 2)


def test_slow_by_design(cli: Cli, url: str) -> None:
    js.publish(url, "s.a")
    add(cli, "--target x --replay original --bps 8000")
    assert {"original pace", "rate limit", "no interest"} <= set(why(cli))


def test_pinned_to_another(cli: Cli, url: str) -> None:
    js.publish(url, "s.a", count=2)
    add(cli, "--pull --pinned-groups a --pinned-ttl 1m")
    cli("consumer next S C --group a", status=0)
    assert why(cli)["pinned"]["help"] == "jsctl consumer unpin S C a"


def test_missing_objects(cli: Cli) -> None:
    assert "consumer S > NO not found" in cli("consumer why S NO", status=3).err
    assert "stream NO not found" in cli("consumer why NO C", status=3).err


def test_foreign_text(cli: Cli, url: str) -> None:
    js.publish(url, "s.a")
    add(cli, "--pull --filter 's.\x1b[31m'")
    assert "\x1b[31m" not in cli("consumer why S C", tty=True, status=0).out


def reported(cli: Cli) -> list[str]:
    """The consumer's troubles, the same in both reports, with each row and with the whole."""
    (whole,) = cli("report --json", status=0).json["reports"]
    (consumer,) = whole["consumers"]
    (row,) = cli("consumer report S --json", status=0).json["consumers"]
    explained = cli("consumer why S C --json", status=0).json["causes"]
    assert consumer["trouble"] == row["trouble"] == [one["trouble"] for one in explained if one["trouble"]]
    assert whole["trouble"] == [f"consumer S > C: {words}" for words in consumer["trouble"]]
    out = cli("report", status=0).out
    assert ("all well" in out) == (not consumer["trouble"])
    assert all(words in out for words in consumer["trouble"])
    return list(consumer["trouble"])


def test_reports_say_the_same(cli: Cli, url: str) -> None:
    js.publish(url, "s.a", count=2)
    add(cli)
    assert reported(cli) == ["nobody pulls"]
    cli("consumer next S C --count 2", status=0)
    assert reported(cli) == []
    cli("consumer edit S C --filter other.> --force", status=0)
    assert reported(cli) == ["filter can never match"]


def test_a_filter_of_a_stream_with_sources_may_match(cli: Cli, url: str) -> None:
    js.stream(url, "T", "t.>")
    js.stream(url, "ALL", "x.>", sources=[{"name": "T"}])
    js.publish(url, "x.a")
    cli("consumer add ALL C --pull --filter t.b", status=0)
    assert cli("consumer why ALL C --json", status=0).json["verdict"] == "fine"


@pytest.mark.slow
def test_reports_tell_of_redeliveries_and_of_what_was_given_up(cli: Cli, url: str) -> None:
    js.publish(url, "s.a", count=2)
    add(cli, "--pull --max-deliver 2 --wait 3s")
    cli("consumer next S C --count 2 --no-ack", status=0)
    assert reported(cli) == []
    cli("consumer next S C --count 2 --no-ack --timeout 9s", status=0)
    assert reported(cli) == ["2 redelivered"]
    causes = why(cli)["waiting for acknowledgements"]
    assert "for the last time" in causes["says"]
    assert causes["help"] == ""
    wait_for(lambda: "given up after 2 tries" in cli("consumer why S C").out, "they are not given up")
    assert reported(cli) == ["2 given up"]
    cli("consumer next S C --timeout 1500ms", status=3)
    assert reported(cli) == ["2 given up"]


def test_redeliveries_that_nobody_requests(cli: Cli, url: str) -> None:
    js.publish(url, "s.a", count=2)
    add(cli, "--pull --wait 300ms")
    cli("consumer next S C --count 2 --no-ack", status=0)
    wait_for(lambda: "2 messages are to be redelivered," in cli("consumer why S C").out, "not due")
    cli("consumer next S C --count 2", status=0)
    assert reported(cli) == []


def test_it_advises_only_what_can_work(cli: Cli, url: str) -> None:
    js.publish(url, "s.a", count=5)
    add(cli, "--pull --max-pending 2 --max-deliver 1")
    cli("consumer next S C --count 2 --no-ack", status=0)
    assert [one["help"] for one in cli("consumer why S C --json").json["causes"] if one["help"]] == [
        "jsctl consumer edit S C --max-pending 4"
    ]
    cli("consumer rm S C -f", status=0)
    add(cli, "--pull --pause 1h")
    assert why(cli)["no waiting pulls"]["help"] == ""
    cli("consumer rm S C -f", status=0)
    add(cli, "--pull --overflow-groups a")
    cli(why(cli)["no waiting pulls"]["help"].removeprefix("jsctl "), status=0)


def test_the_streams_own_limit_of_pending_messages(cli: Cli, url: str) -> None:
    js.stream(url, "L", "l.>", consumer_limits={"max_ack_pending": 3})
    js.publish(url, "l.a", count=5)
    cli("consumer add L C --pull --max-pending 2", status=0)
    cli("consumer next L C --count 2 --no-ack", status=0)
    (limit, *_) = cli("consumer why L C --json", status=0).json["causes"]
    cli(limit["help"].removeprefix("jsctl ") + " --force", status=0)
    cli("consumer next L C --no-ack", status=0)
    lines = [line["line"] for line in cli("consumer why L C --json", status=0).json["causes"][0]["lines"]]
    assert lines == ["jsctl stream get L 1", "jsctl consumer reset L C --sequence 2"]


def test_messages_that_wait_between_two_pulls(cli: Cli, url: str) -> None:
    js.publish(url, "s.a", count=2)
    add(cli)
    cli("consumer next S C", status=0)
    causes = why(cli)
    assert causes["no waiting pulls"]["says"].startswith("1 message is pending, and no client requests it: ")
    assert causes["verdict"] == "waiting" and set(causes) == {"no waiting pulls", "verdict"}
    shown = cli(["consumer", "why", "S", "C", "-s", url], status=0).out
    assert "waits for its clients" in shown and "is well" not in shown
    assert f"try: jsctl consumer next S C --no-ack --server nats://{url.split(chr(64))[1]}" in shown


def test_redeliveries_are_not_counted_as_pending(cli: Cli, url: str) -> None:
    js.publish(url, "s.a", count=5)
    add(cli, "--pull --wait 500ms")
    cli("consumer next S C --count 2 --no-ack", status=0)
    wait_for(lambda: "to be redelivered" in cli("consumer why S C").out, "not due")
    cause = why(cli)["no waiting pulls"]
    assert cause["says"].startswith(
        "3 messages are pending and 2 to be redelivered, and no client requests them"
    )
    assert cause["numbers"]["num_pending"] == 3
