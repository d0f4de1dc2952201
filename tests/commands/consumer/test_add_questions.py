"""The questionnaire of `consumer add`: words and order, what is told at once, the command line."""

import json
import re
import shlex

import pexpect
import pytest

from tests.support import js
from tests.support.run import Cli

pytestmark = pytest.mark.usefixtures("orders")


GUIDE = [
    "Select a Stream",
    "Consumer name",
    "Delivery target (empty for Pull Consumers)",
    "Start policy (all, new, last, subject, 1h, msg sequence)",
    "Acknowledgment policy",
    "Replay policy",
    "Filter Stream by subjects (blank for all)",
    "Maximum Allowed Deliveries",
    "Maximum Acknowledgments Pending",
    "Deliver headers only without bodies",
    "Add a Retry Backoff Policy",
]


def test_the_guides_questions(cli: Cli) -> None:
    answers = ["ORDERS", "dur", "", ..., ..., ..., "", *[...] * 4]
    done = cli("consumer add", tty=True, answers=answers, status=0)
    assert done.asked == GUIDE
    assert done.err.splitlines()[-1].strip() == "jsctl consumer add ORDERS dur --pull --defaults"
    assert "Information for Consumer ORDERS > dur created" in done.out
    made = cli("consumer info ORDERS dur --json", status=0).json["config"]
    assert (made["max_ack_pending"], made["max_deliver"]) == (1000, -1)


def test_an_answer_that_is_the_servers_default_is_not_sent(cli: Cli, url: str) -> None:
    done = cli("consumer add ORDERS dur --trace", tty=True, answers={"Delivery target": ""}, status=0)
    [sent] = re.findall(r">>> \S+CONSUMER\S+CREATE\S*ORDERS\S*\s+({.*})", done.err)
    assert json.loads(sent)["config"].keys() == {"name", "durable_name", "ack_policy"}
    made = js.ask(url, "CONSUMER.INFO.ORDERS.dur")["config"]
    js.ask(url, "CONSUMER.DELETE.ORDERS.dur")
    document = cli("consumer add ORDERS dur --pull --defaults --output -", status=0).out
    body = {"stream_name": "ORDERS", "config": json.loads(document)}
    assert js.ask(url, "CONSUMER.DURABLE.CREATE.ORDERS.dur", body)["config"] == made


def test_a_push_consumers_questions(cli: Cli) -> None:
    answers = ["ORDERS", "MON", "monitor.ORDERS", "team", "last", "none", "original", "ORDERS.a,ORDERS.b"]
    done = cli("consumer add", tty=True, answers=[*answers, "5s", True, True], status=0)
    push = ["Idle Heartbeat", "Enable Flow Control, ie --flow-control"]
    assert done.asked == [*GUIDE[:3], "Delivery Queue Group", *GUIDE[3:7], *push, GUIDE[9]]
    line = done.err.splitlines()[-1]
    made = cli("consumer info ORDERS MON --json", status=0).json["config"]
    cli("consumer rm ORDERS MON --force", status=0)
    cli(shlex.split(line)[1:], status=0)
    assert cli("consumer info ORDERS MON --json", status=0).json["config"] == made
    wanted = {
        "deliver_group": "team",
        "idle_heartbeat": 5 * 10**9,
        "flow_control": True,
        "headers_only": True,
    }
    wanted |= {"deliver_policy": "last", "ack_policy": "none", "replay_policy": "original"}
    assert made == {**made, **wanted, "filter_subjects": ["ORDERS.a", "ORDERS.b"]}


def test_a_backoff_that_is_asked_for(cli: Cli) -> None:
    flags = "--ack explicit --deliver all --replay instant --filter '' --max-pending 9 --headers-only"
    line = f"consumer add ORDERS C --pull {flags}"
    answers = ["3", True, "linear", "2s", "1s"]
    assert "from a shorter to a longer wait" in cli(line, tty=True, answers=answers, status=64).err
    answers = ["3", True, "linear", "1s", "10s", "4"]
    assert (
        "at most 3, the maximum number of deliveries" in cli(line, tty=True, answers=answers, status=64).err
    )
    done = cli(line, tty=True, answers=["3", True, "linear", "1s", "10s", "3"], status=0)
    assert done.asked[1:] == [
        "Add a Retry Backoff Policy",
        "Backoff policy",
        "Minimum retry time",
        "Maximum retry time",
        "Number of steps to generate in the policy",
    ]
    waits = cli("consumer info ORDERS C --json", status=0).json["config"]["backoff"]
    assert waits == [1 * 10**9, 4 * 10**9, 7 * 10**9]
    again = done.err.splitlines()[-1]
    cli("consumer rm ORDERS C --force", status=0)
    cli(shlex.split(again)[1:], status=0)
    assert cli("consumer info ORDERS C --json", status=0).json["config"]["backoff"] == waits


def test_only_what_flags_left_out_is_asked(cli: Cli) -> None:
    flags = "--ack explicit --deliver all --replay instant --filter '' --max-deliver 3"
    line = f"consumer add ORDERS C --pull {flags}"
    assert cli(line, tty=True, answers=["7", ..., ...], status=0).asked == GUIDE[8:]
    assert cli("consumer add ORDERS D --defaults", tty=True, answers=[], status=0).asked == []


def test_wrong_answers(cli: Cli) -> None:
    for answers, words in (
        (["a.b"], "not a valid consumer name"),
        (["C", "a.>"], "not a valid subject to publish to"),
        (["C", "", "sometime"], "is not a start policy"),
        (["C", "", "all", ..., "instant", "a..b"], "not a valid subject"),
        (["C", "", "all", ..., "instant", "", "many"], "is not a whole number"),
    ):
        assert words in cli("consumer add ORDERS", tty=True, answers=answers, status=64).err


@pytest.mark.slow
def test_the_questionnaire_in_a_terminal(cli: Cli) -> None:
    screen = cli.terminal("consumer add")
    for question in GUIDE:
        screen.expect_exact(question)
        # What is typed stands in the place of the default.
        screen.send({"Consumer name": "dur\r", "Maximum Allowed Deliveries": "20\r"}.get(question, "\r"))
    screen.expect_exact("Information for Consumer ORDERS > dur created")
    screen.expect_exact("Maximum Deliveries: 20")
    screen.expect_exact("Waiting Pulls: 0 of maximum 512")
    screen.expect(pexpect.EOF)
    screen.wait()
    assert screen.exitstatus == 0


@pytest.mark.slow
def test_the_reason_for_an_invalid_answer_is_not_truncated(cli: Cli) -> None:
    screen = cli.terminal("consumer add ORDERS C", columns=40)
    screen.expect_exact("Delivery")
    screen.send("\r")
    screen.expect_exact("Start policy")
    screen.send("yesterday\r")
    screen.expect_exact("'yesterday' is not a start policy: use")
    screen.expect_exact("1h, or a time")
    screen.close(force=True)


def test_impossible_answers_are_reported_at_their_question(cli: Cli) -> None:
    cli("consumer add ORDERS C --pull --defaults", status=0)
    cli("stream add QUEUE --subjects 'queue.>' --retention work --defaults", status=0)
    cli("consumer add QUEUE W --pull --filter queue.a --defaults", status=0)
    for answers, words in (
        (["ORDERS", "C"], "consumer ORDERS > C already exists; jsctl consumer edit ORDERS C changes it"),
        (["ORDERS", "D", "", ..., ..., ..., "other.a"], "other.a matches nothing: stream ORDERS stores "),
        (["QUEUE", "D", "", ..., ..., ..., "queue.*"], "consumer W already reads queue.*"),
        (["QUEUE", "D", "", ..., ..., ..., ""], "consumer W already reads messages"),
    ):
        assert words in cli("consumer add", answers=answers, status=64).err
    for line, words in (
        ("consumer add ORDERS C", "consumer ORDERS > C already exists"),
        ("consumer add ORDERS D --filter other.a", "other.a matches nothing"),
    ):
        failed = cli(line, answers=[], status=1)
        assert words in failed.err and not failed.asked
    missing = cli("consumer add NOPE D", answers=[], status=3)
    assert "stream NOPE not found" in missing.err and not missing.asked
