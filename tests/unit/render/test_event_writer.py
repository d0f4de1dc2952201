"""Events on an output stream: their forms, and the ways in which they end."""

import asyncio
import io
import json
import os
import signal
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from jsctl.errors import BadInput, JsctlError, Unreachable
from jsctl.render.emit import Form
from jsctl.render.event_writer import Interrupted, write_events
from jsctl.views.events import End, Events, Presentation, names


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


async def batches(*lists: Sequence[str]) -> AsyncIterator[Sequence[str]]:
    for one in lists:
        yield one


def events(source: AsyncIterator[Sequence[str]]) -> Events[str]:
    return Events(
        batches=source,
        shown=Presentation(
            text=lambda event: f"<{event}>\n", record=lambda event: {"e": event} if event else None
        ),
    )


def shown(what: Events[str], **changes: Any) -> Events[str]:
    return what._replace(shown=what.shown._replace(**changes))


def write(what: Events[str], form: Form = "plain", out: io.StringIO | None = None) -> tuple[str, list[str]]:
    """Returns what is written to stdout, and the lines on stderr."""
    out, output = out or io.StringIO(), list[str]()
    asyncio.run(write_events(what, out, form, say=output.append))
    return out.getvalue(), output


def test_text_is_cleaned() -> None:
    assert write(events(batches(["a", "\x1b[31m"], [], ["b"])))[0] == "<a>\n<\\x1b[31m>\n<b>\n"


def test_lines_of_json_leave_out_what_has_no_record() -> None:
    assert write(events(batches(["a", ""], ["\x9b"])), "json")[0] == '{"e": "a"}\n{"e": "\\u009b"}\n'
    nul = shown(events(batches(["a", "b"])), as_json=True, terminator="\0")
    assert write(nul)[0] == '{"e": "a"}\0{"e": "b"}\0'


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("lists", [[], [[""]], [["a"]], [["a", "b"], [], ["c"]]])
def test_an_array_is_one_document(lists: list[list[str]], indent: int | None) -> None:
    out, _ = write(shown(events(batches(*lists)), layout="array", indent=indent), "json")
    assert json.loads(out) == [{"e": event} for one in lists for event in one if event]
    assert out.endswith("]\n")


def test_a_single_document() -> None:
    assert write(shown(events(batches(["a"])), layout="single"), "json")[0] == '{\n  "e": "a"\n}\n'


def test_names() -> None:
    assert write(names(batches(["a", "b"], ["c"])))[0] == "a\nb\nc\n"
    assert write(names(batches(["a", "b"], ["c"])), "json")[0] == '[\n  "a",\n  "b",\n  "c"\n]\n'


def test_raw_bytes_are_for_pipes() -> None:
    raw = shown(events(batches(["a", "b"])), raw=lambda event: b"\xff" + event.encode())
    binary = io.TextIOWrapper(io.BytesIO())
    asyncio.run(write_events(raw, binary, "plain", say=print))
    assert binary.buffer.getvalue() == b"\xffa\xffb"
    assert write(shown(events(batches(["a"])), raw=lambda event: b"x"), out=Terminal())[0] == "<a>\n"


def test_notices_and_the_summary_are_for_stderr() -> None:
    what = shown(events(batches(["a", "b"])), notice=lambda event: event * 2)._replace(
        summary=lambda ending: ending
    )
    assert write(what) == ("<a>\n<b>\n", ["aa", "bb", "complete"])
    assert write(shown(events(batches(["a"])), notice=lambda event: event), "json")[1] == []


def test_tables_are_refused() -> None:
    with pytest.raises(BadInput):
        write(events(batches(["a"])), "csv")


def test_the_limit_closes_the_source() -> None:
    closed: list[bool] = []

    async def endless() -> AsyncIterator[Sequence[str]]:
        try:
            while True:
                yield ["a", "b"]
        finally:
            closed.append(True)

    assert write(events(endless())._replace(end=End(limit=3)))[0] == "<a>\n<b>\n<a>\n"
    assert closed == [True]


def test_what_does_not_count_takes_nobodys_place() -> None:
    for lists in ([["", "a", "", "b", "c"]], [["", "a"], ["", "b"], ["c"]]):
        what = events(batches(*lists))._replace(end=End(limit=2, counts=len))
        assert write(what)[0] == "<>\n<a>\n<>\n<b>\n"


def test_at_the_limit_a_source_may_finish_its_work() -> None:
    stopped: list[bool] = []
    answered: list[str] = []

    async def requests() -> AsyncIterator[Sequence[str]]:
        while not stopped:
            yield ["a"]
            answered.append("a")

    what = events(requests())._replace(end=End(limit=2, stop=lambda: stopped.append(True)))
    assert write(what)[0] == "<a>\n<a>\n" and len(answered) == 2


def test_what_fails_is_raised_after_what_was_written() -> None:
    async def failing() -> AsyncIterator[Sequence[str]]:
        yield ["a"]
        raise Unreachable("lost")

    out, output = io.StringIO(), list[str]()
    what = events(failing())._replace(summary=lambda ending: ending)
    with pytest.raises(Unreachable):
        asyncio.run(write_events(what, out, "plain", say=output.append))
    assert (out.getvalue(), output) == ("<a>\n", ["failed"])


@pytest.mark.parametrize("limit", [0, 2])
@pytest.mark.parametrize("stops", [True, False])
def test_ctrl_c_is_an_ordinary_end_unless_events_are_missing(limit: int, stops: bool) -> None:
    closed: list[bool] = []

    async def waiting() -> AsyncIterator[Sequence[str]]:
        stopped.clear()
        try:
            yield ["a"]
            asyncio.get_running_loop().call_later(0.01, os.kill, os.getpid(), signal.SIGINT)
            await stopped.wait()
            yield []
        finally:
            closed.append(True)

    stopped = asyncio.Event()
    output: list[str] = []
    what = events(waiting())._replace(
        end=End(limit=limit, endless=True, stop=stopped.set if stops else None),
        summary=lambda ending: ending,
    )
    out = io.StringIO()

    async def run() -> object:
        return await write_events(what, out, "plain", say=output.append)

    if limit:
        with pytest.raises(Interrupted, match="ended after 1 of 2 messages") as caught:
            asyncio.run(run())
        assert isinstance(caught.value, JsctlError) and caught.value.status == 130
    else:
        asyncio.run(run())
    assert (out.getvalue(), output, closed) == ("<a>\n", ["interrupted"], [True])


def test_a_write_that_takes_long_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jsctl.render.event_writer.STALLED", -1.0)
    stalled: list[float] = []
    write(events(batches(["a"]))._replace(stalled=stalled.append))
    assert len(stalled) == 1
