"""New consumers are created before changes that delete what nobody needs, and keep it."""

from typing import Any

import pytest

from tests.support import js
from tests.support.declared import Files, config

INTEREST = "{label: l, streams: [{name: S, retention: interest, %s}]}"

QUEUE = "streams: [{name: S, subjects: s.>, retention: workqueue, consumers: [%s]}]"


def messages(url: str) -> int:
    return int(js.info(url, "S")["state"]["messages"])


def fill(url: str, **keys: Any) -> None:
    js.stream(url, "S", "s.>", **keys)
    js.publish(url, "s.a", count=3)
    js.publish(url, "s.b", count=2)


@pytest.mark.parametrize(
    ("keys", "lost", "words"),
    [
        ("consumers: [{name: C}]", 0, ""),
        ("consumers: [{name: C, filter_subjects: [s.a, s.b]}]", 0, ""),
        ("consumers: [{name: C, ack_policy: none}]", 0, ""),
        ("consumers: [{name: C, filter_subject: s.a}]", 2, "up to 2 messages"),
        ("consumers: [{name: C, filter_subject: s.a}, {name: D, filter_subject: s.b}]", 0, ""),
        ("consumers: [{name: C, deliver_policy: new}]", 5, "5 messages"),
        ("description: x, consumers: [{name: C}]", 0, ""),
    ],
)
def test_a_stream_of_interest(files: Files, url: str, keys: str, lost: int, words: str) -> None:
    fill(url)
    text = INTEREST % keys
    shown = files("diff", text, status=2).out
    assert (f"deletes {words}" in shown) if words else ("deletes" not in shown)
    files("apply", text, "--allow-data-loss" if words else "", status=0)
    assert messages(url) >= 5 - lost
    assert config(files.cli, "S")["retention"] == "interest"
    assert "Nothing to change" in files("diff", text, status=0).out


@pytest.mark.parametrize(
    "consumers",
    [
        "[{name: OLD, filter_subject: s.b}, {name: NEW, filter_subject: s.a}]",
        "[{name: OLD, filter_subject: s.b}, {name: NEW}]",
        "[{name: NEW}]",  # OLD is pruned
    ],
)
def test_a_filter_that_another_consumer_takes_over(files: Files, url: str, consumers: str) -> None:
    js.stream(url, "S", "s.>", retention="interest", metadata={"jsctl.label": "l"})
    files(
        "apply", INTEREST % "consumers: [{name: OLD}]".replace("OLD}", "OLD, filter_subject: s.a}"), status=0
    )
    js.publish(url, "s.a", count=4)
    text = INTEREST % f"consumers: {consumers}"
    assert "deletes" not in files("diff", text, "--prune", status=2).out
    files("apply", text, "--prune --force", status=0)
    assert messages(url) == 4


def test_a_consumer_that_needs_the_change_of_its_stream(files: Files, url: str) -> None:
    """It cannot be created before; what is deleted is said."""
    fill(url)
    js.ask(
        url,
        "CONSUMER.DURABLE.CREATE.S.ONE",
        {
            "stream_name": "S",
            "config": {
                "durable_name": "ONE",
                "ack_policy": "explicit",
                "filter_subject": "s.a",
                "max_ack_pending": 20,
            },
        },
    )
    text = INTEREST % "consumer_limits: {max_ack_pending: 50}, consumers: [{name: C, max_ack_pending: 20}]"
    assert "deletes up to 2 messages" in files("diff", text, status=2).out
    files("apply", text, status=64)
    assert messages(url) == 5


def test_a_filter_in_a_work_queue(files: Files, url: str) -> None:
    """There, the old consumer frees it first, as the server refuses two of them."""
    files("apply", QUEUE % "{name: OLD, ack_policy: explicit, filter_subject: s.a}", status=0)
    js.publish(url, "s.a", count=4)
    text = QUEUE % "{name: NEW, ack_policy: explicit, filter_subject: s.a}, {name: OLD, filter_subject: s.b}"
    files("apply", text, status=0)
    assert messages(url) == 4


@pytest.mark.parametrize(
    "keys", ["retention: interest, consumers: [{name: C}]", "max_msgs: 1", "max_msgs_per_subject: 2"]
)
def test_a_rename_deletes_nothing(files: Files, url: str, keys: str) -> None:
    """A change that does is for a second file."""
    fill(url)
    text = f"streams: [{{name: NEW, renamed_from: S, subjects: s.>, {keys}}}]"
    assert "rename first, then change" in files("diff", text, status=1).out
    assert "nothing was changed" in files("apply", text, "--force --allow-data-loss", status=1).err
    assert messages(url) == 5


def test_consumers_that_go_together_do_not_keep_for_each_other(files: Files, url: str) -> None:
    js.stream(url, "S", "s.>", retention="interest")
    files("apply", INTEREST % "consumers: [{name: C}, {name: D}]", status=0)
    js.publish(url, "s.a", count=4)
    shown = files("diff", INTEREST % "description: x", "--prune", status=2).out
    assert "which deletes 4 messages" in shown
    kept = INTEREST % "consumers: [{name: E}]"
    assert "delete" not in files("diff", kept, "--prune", status=2).out
    files("apply", kept, "--prune --force", status=0)
    assert messages(url) == 4
