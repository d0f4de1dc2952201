"""Headers of messages that the sink publishes again."""

from base64 import b64decode
from contextlib import suppress
from typing import Any

import pytest

from jsctl.contexts.settings import Settings
from jsctl.errors import ApiError
from jsctl.nats.headers import parse_headers
from jsctl.spark.sink import publishing
from jsctl.spark.sink.publishing import WriteJob
from jsctl.spark.sink.row import Row
from tests.support import js
from tests.support.waiting import wait_for

pytestmark = pytest.mark.spark


def test_what_servers_act_on_does_not_come_back(url: str) -> None:
    """Nor what they write themselves: the origin of a sourced message, the schedule of a scheduled one."""
    allowed: dict[str, Any] = {"allow_rollup_hdrs": True, "allow_msg_schedules": True, "allow_atomic": True}
    js.stream(url, "ORIGIN", "s.>", **allowed)
    js.stream(url, "SOURCED", sources=[{"name": "ORIGIN", "filter_subject": "s.a"}])
    js.stream(url, "COPY", "c.>", **allowed)
    expected = b"Nats-Expected-Last-Subject-Sequence: 0\r\nNats-Msg-Id: 1"
    for subject, lines in (
        ("s.a", expected),
        ("s.a", b"Nats-Rollup: sub"),
        ("s.b", b"Nats-Batch-Id: b\r\nNats-Batch-Sequence: 1\r\nNats-Batch-Commit: 1"),
        ("s.later", b"Nats-Schedule: @at 2020-01-01T00:00:00Z\r\nNats-Schedule-Target: s.scheduled"),
    ):
        js.publish_framed(url, subject, b"NATS/1.0\r\n" + lines + b"\r\nK: V\r\n\r\n", b"x")
    wait_for(lambda: "s.scheduled" in stored_headers(url, "ORIGIN"), "the scheduled message")
    js.wait_for_messages(url, "SOURCED", 1)
    stored = {**stored_headers(url, "ORIGIN"), **stored_headers(url, "SOURCED")}
    names = {name for pairs in stored.values() for name, _ in pairs}
    assert names >= {"Nats-Stream-Source", "Nats-Rollup", "Nats-Scheduler", "Nats-Schedule-Next", "K"}
    rows = [
        Row(
            subject.replace("s.", "c."),
            b"x",
            [{"key": name, "value": value.encode()} for name, value in pairs],
            stream="SOURCED",
            sequence=number,
        )
        for number, (subject, pairs) in enumerate(stored.items(), 1)
    ]
    assert publishing.publish(WriteJob(Settings(url=url), "COPY"), 0, rows).published == len(rows)
    kept = {name for pairs in stored_headers(url, "COPY").values() for name, _ in pairs}
    assert kept == {"K", "Nats-Msg-Id", "Nats-Expected-Stream"}


def stored_headers(url: str, stream: str) -> dict[str, list[tuple[str, str]]]:
    """Return the headers of the last message of each subject."""
    subjects = js.ask(url, f"STREAM.INFO.{stream}", {"subjects_filter": ">"})["state"].get("subjects") or ()
    found = {}
    for subject in subjects:
        with suppress(ApiError):  # a schedule that is over is removed
            message = js.ask(url, f"STREAM.MSG.GET.{stream}", {"last_by_subj": subject})["message"]
            found[subject] = list(parse_headers(b64decode(message["hdrs"])))
    return found
