"""Coroutines with and without an event loop."""

import asyncio
import time

import pytest

from jsctl.base import loops
from jsctl.errors import BadInput


async def where() -> str:
    return "without" if loops.is_stepped() else "in a loop"


def test_a_coroutine_gets_an_event_loop_when_it_asks_for_one() -> None:
    async def work() -> list[object]:
        places: list[object] = [await where()]
        await loops.enter_event_loop()
        places += [await where(), asyncio.get_running_loop().is_running()]
        await loops.enter_event_loop()
        await asyncio.sleep(0)
        return places

    assert loops.run(work()) == ["without", "in a loop", True]
    assert loops.run(where()) == "without"
    assert loops.run_in_loop(where()) == "in a loop"


def test_errors_come_out_of_both() -> None:
    async def fail(in_loop: bool) -> None:
        if in_loop:
            await loops.enter_event_loop()
        raise LookupError

    for in_loop in (False, True):
        with pytest.raises(LookupError):
            loops.run(fail(in_loop))


def test_one_within_another_and_where_a_loop_runs() -> None:
    async def asks() -> str:
        await loops.enter_event_loop()
        return await where()

    async def outer() -> list[str]:
        return [loops.run(asks()), await where(), loops.run(where()), await where()]

    assert loops.run(outer()) == ["in a loop", "without", "without", "without"]
    assert loops.run_in_loop(outer()) == ["in a loop", "in a loop", "without", "in a loop"]


def test_what_is_begun_has_sent_its_request() -> None:
    done: list[str] = []

    async def request(name: str) -> str:
        done.append(f"{name} sent")
        await loops.mark_request_sent()
        done.append(f"{name} answered")
        return name

    async def fail() -> str:
        raise LookupError

    async def work() -> str:
        first, second, third = (loops.start(request(name)) for name in "abc")
        failed = loops.start(fail())
        done.append(await second)
        with pytest.raises(LookupError):
            await failed
        await loops.cancel_all([third])
        return await first

    assert loops.run(work()) == "a"
    assert done == ["a sent", "b sent", "c sent", "b answered", "b", "a answered"]
    done.clear()
    assert loops.run_in_loop(work()) == "a"
    assert done[0] == "a sent" and "b answered" in done


def test_a_time_limit_holds_for_what_waits_without_a_loop() -> None:
    async def work() -> tuple[float, float]:
        far = time.monotonic() + 100
        async with loops.time_limit(1), loops.time_limit(50):
            near = loops.limit_deadline(far)
        return near - time.monotonic(), loops.limit_deadline(far) - time.monotonic()

    near, far = loops.run(work())
    assert 0 < near <= 1 and far > 99


def test_of_tasks_that_fail_at_once_the_first_error_is_raised() -> None:
    async def fail() -> None:
        raise BadInput("the disk is full")

    async def work() -> None:
        async with asyncio.TaskGroup() as outer, asyncio.TaskGroup() as group:
            outer.create_task(asyncio.sleep(0))
            group.create_task(fail())
            group.create_task(fail())

    with pytest.raises(BadInput, match="the disk is full"):
        loops.run_in_loop(work())


def test_work_begins_in_a_loop_where_asyncio_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    for imported, place in ((False, "without"), (True, "in a loop")):
        monkeypatch.setattr(loops, "is_asyncio_imported", lambda imported=imported: imported)
        assert loops.run_verb(where()) == place


def test_one_result_needs_no_loop_and_two_do() -> None:
    async def work(count: int) -> list[str]:
        return await loops.gather(where() for _ in range(count))

    assert loops.run(work(1)) == ["without"]
    assert loops.run(work(2)) == ["in a loop", "in a loop"]


def test_when_one_fails_the_others_have_ended() -> None:
    ended: list[str] = []

    async def wait() -> None:
        try:
            await asyncio.sleep(100)
        finally:
            ended.append("cancelled")

    async def fail() -> None:
        raise LookupError

    async def work() -> None:
        with pytest.raises(LookupError):
            await loops.gather([wait(), fail(), wait()])
        assert ended == ["cancelled"] * 2

    loops.run(work())


def test_what_is_begun_may_need_a_loop() -> None:
    async def needs() -> str:
        await loops.enter_event_loop()
        return await where()

    async def work() -> list[str]:
        return [await loops.start(needs()), await where()]

    assert loops.run(work()) == ["in a loop", "in a loop"]
