"""The conversion of what a verb's function returns to the result that the app writes."""

from collections.abc import Generator
from types import CoroutineType, GeneratorType
from typing import Any

from jsctl.env import Env


def finish(env: Env, value: Any, *, loop_free: bool = False) -> Any:
    """Await a coroutine, write the Events that it returns and the Results that a generator yields, and return
    the last Result, which the app shows. loop_free: see `Command`.
    """
    if isinstance(value, CoroutineType):
        return env.run(env.finish(value), loop_free=loop_free)
    return _write_each(env, value) if isinstance(value, GeneratorType) else value


def _write_each(env: Env, results: Generator[Any, Any, Any]) -> Any:
    """Write results as a verb without an event loop yields them. Returns its last one.

    A failure to write is raised in the verb, which may have to clean up.
    """
    try:
        result = next(results)
        while True:
            try:
                env.emit(result)
                env.streams.stdout.flush()
            except BaseException as error:
                result = results.throw(error)
            else:
                result = next(results)
    except StopIteration as end:
        return end.value
