"""The conversion of what a verb's function returns to the result that the app writes."""

from collections.abc import Generator
from types import CoroutineType, GeneratorType
from typing import Any

from jsctl.env import Env
from jsctl.errors import DryRun, JsctlError


def finish(env: Env, value: Any) -> Any:
    """Await a coroutine, write the Events that it returns and the Results that a generator yields, and return
    the last Result, which the app shows.
    """
    if isinstance(value, CoroutineType):
        return env.run(env.finish(value))
    return _write_each(env, value) if isinstance(value, GeneratorType) else value


def finish_early(env: Env, error: DryRun | JsctlError | BrokenPipeError) -> Any:
    """Return the result of a verb that ended before its end: what it would do, or nothing. Raises an error
    that is a failure.
    """
    if isinstance(error, DryRun):
        return error.result
    if isinstance(error, JsctlError):
        env.excuse(error)
        from jsctl.views.result import Result

        return Result(data={"removed": False, "missing": error.message})
    # click would end with status 1; a reader that has read enough (| head) is not a failure.
    env.discard_output()
    return None


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
