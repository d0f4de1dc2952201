"""Output that is repeated: on a live screen, as text, or as one JSON document on each line."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.units import MS, SECOND
from jsctl.views.result import Chart, Result

if TYPE_CHECKING:
    from jsctl.render.screen import Frame

M = TypeVar("M")

_SAMPLES = 2000  #: of a graph; more than any terminal has columns


async def watch(
    env: Env,
    models: AsyncGenerator[M, None],
    *,
    frame: Callable[[M], "Frame"],
    write: Callable[[M], None],
    count: int | None = None,
    endless: bool = True,
) -> None:
    """Show models as they come, until they end, ctrl-C or `q`.

    Args:
        frame: draws a model on a terminal.
        write: writes it to stdout where that is not a terminal, or for --json, --as and --trace.
        count: of models that are wanted; ending it before these were shown is status 130.
        endless: ctrl-C is the ordinary end; otherwise it is status 130.
    """
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("watch() needs a task")
    quitting = False

    def quit() -> None:
        nonlocal quitting
        quitting = True
        task.cancel()

    try:
        if env.has_screen:
            with env.live_screen(quit) as screen:
                async for model in models:
                    screen.show(frame(model))
        else:
            async for model in models:
                write(model)
                env.streams.stdout.flush()
    except BrokenPipeError:
        env.discard_output()  # jsctl report --watch | head: click would make it a failure
    except asyncio.CancelledError:
        if count is not None or not (endless or quitting):
            raise
    finally:
        await models.aclose()


async def watch_results(env: Env, fetch: Callable[[], Awaitable[Result]], interval: int) -> None:
    """`--watch` of a table: fetch it and show it every `interval` ns."""

    async def results() -> AsyncGenerator[Result, None]:
        while True:
            yield await fetch()
            await asyncio.sleep(interval / SECOND)

    def write(result: Result) -> None:
        if env.wants_json:
            write_json_line(env, result.document())
        else:
            env.emit(result)

    await watch(env, results(), frame=env.frame, write=write, endless=False)


def check_graph(env: Env, every: int) -> None:
    """Raises BadInput for what cannot be drawn. every: ns between two samples."""
    if every < 100 * MS:
        raise BadInput("--every is too short", "100ms at least")
    if env.form in ("csv", "tsv"):
        raise BadInput("a graph has no table", "use --json")


async def watch_graph(
    env: Env,
    samples: AsyncIterator[M],
    *,
    heading: str,
    line: Callable[[M], str],
    record: Callable[[M], dict[str, Any]],
    title: str,
    charts: Callable[[Sequence[M]], Sequence[Chart]],
    count: int | None,
) -> None:
    """Draw charts of all samples; in a pipe write a line for each, below a heading, or a JSON record."""
    history: deque[M] = deque(maxlen=_SAMPLES)
    lines = 0

    def write(sample: M) -> None:
        nonlocal lines
        if env.wants_json:
            write_json_line(env, record(sample))
            return
        if not lines:
            env.streams.stdout.write(heading + "\n")
        lines += 1
        env.streams.stdout.write(line(sample) + "\n")

    def frame(sample: M) -> "Frame":
        from jsctl.render.plot import stacked_charts
        from jsctl.render.screen import lines_frame

        history.append(sample)
        drawn = charts(history)
        return lines_frame(lambda width, height: stacked_charts(title, drawn, width, height))

    await watch(env, _first(samples, count), frame=frame, write=write, count=count)


def write_json_line(env: Env, document: Any) -> None:
    """Write a JSON document on a line of its own."""
    from jsctl.render.emit import json_text

    env.streams.stdout.write(json_text(document, indent=None) + "\n")


async def _first(samples: AsyncIterator[M], count: int | None) -> AsyncGenerator[M, None]:
    taken = 0
    async for sample in samples:
        yield sample
        taken += 1
        if taken == count:
            return
