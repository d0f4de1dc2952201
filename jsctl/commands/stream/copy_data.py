"""The `--data` half of `jsctl stream copy`: the messages, too."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple, TypeVar

from jsctl.commands import complete
from jsctl.commands.cli import option
from jsctl.commands.stream.backup import announce
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus, JsctlError, Unreachable
from jsctl.jetstream import backup as backups
from jsctl.jetstream import copydata, copyrest, snapshot, streams
from jsctl.jetstream.api import Json
from jsctl.units import SECOND, format_bytes, format_count, format_duration
from jsctl.views import backup as backup_view
from jsctl.views import stream_info as view
from jsctl.views.result import Result, Text

F = TypeVar("F", bound=Callable[..., Any])


class DataOptions(NamedTuple):
    """What the flags said. Contexts and domains: empty for those of the command line."""

    data: bool
    from_context: str
    to_context: str
    from_domain: str | None
    to_domain: str | None
    consumers: bool
    compare: bool
    progress: bool
    force: bool

    def check(self) -> None:
        """Raises BadInput for flags that need --data."""
        if not self.data and (self.consumers or not self.compare):
            raise BadInput("--consumers and --no-compare need --data")


def data_flags(function: F) -> F:
    """The flags of `DataOptions`, under the names of its fields."""
    context: dict[str, Any] = {"metavar": "NAME", "default": "", "shell_complete": complete.contexts}
    for declare in (
        option("--force", "-f", is_flag=True, help="Remove what an unfinished copy left, without asking"),
        option("--progress/--no-progress", default=True, help="Show a progress bar on a terminal"),
        option("--compare/--no-compare", default=True, help="With --data, compare all messages afterwards"),
        option("--consumers", is_flag=True, help="With --data, copy the consumers and their state, too"),
        option(
            "--to-domain", metavar="DOMAIN", default=None, help="JetStream domain that the copy is made in"
        ),
        option("--from-domain", metavar="DOMAIN", default=None, help="JetStream domain of the source"),
        option("--to-context", help="Context that the copy is made in", **context),
        option("--from-context", help="Context of the source", **context),
        option("--data", is_flag=True, help="Copy the messages, too, with their sequences and times"),
    ):
        function = declare(function)
    return function


async def ends(env: Env, options: DataOptions, source: str, target: str) -> tuple[copydata.End, copydata.End]:
    """Both streams with their servers."""
    here = await env.jetstream(options.from_context or None, options.from_domain)
    there = await env.jetstream(options.to_context or None, options.to_domain)
    return copydata.End(here, source), copydata.End(there, target)


class Copied(NamedTuple):
    """A copy that has all messages, marked as not compared.

    state: of the source, as it was copied. moved: bytes that were sent now. begun_at: sequence of the first
    message that was sent now, 0 for none.
    """

    info: Json
    state: Json
    moved: int
    begun_at: int
    lost: list[str]


async def copy_data(
    env: Env, options: DataOptions, source: copydata.End, target: copydata.End, config: Json
) -> Result:
    """Copy the messages and compare them. `config`: the copy's, without what the server owns.

    Goes on with a copy that broke off, in its transfer or before it was compared.
    """
    started = time.monotonic()
    left = await streams.exists(target.api, target.stream)
    copied: Copied | None = None
    if left is not None and copydata.is_copied(left):
        env.say(f"Stream {target.stream} is copied already; going on with the comparison")
        copied = Copied(left, left["state"], 0, 0, [])
    elif left is not None and copyrest.is_broken(left):
        copied = await _go_on(env, options, source, target, left, config)
    elif left is not None:
        await _clear(env, options, source, target, left)
    copied = copied or await _all(env, options, source, target, config)
    warnings = backups.judged(target.stream, config, copied.lost)
    took = int((time.monotonic() - started) * SECOND)
    found = await _compare(env, options, source, target, copied.state)
    failed = found is not None and found.failures and not warnings
    if not failed:
        copied = copied._replace(info=await copydata.finish(target, copied.info, config))
    for warning in warnings:
        env.say(f"warning: {warning}")
    return _result(source, target, copied, found, took, bool(failed))


async def _all(
    env: Env, options: DataOptions, source: copydata.End, target: copydata.End, config: Json
) -> Copied:
    # The size is what the source says now; the snapshot is taken a moment later.
    before = (await streams.info(source.api, source.stream))["state"]
    with ExitStack() as bars, _unfinished(env, target):
        told = announce(env, source.stream, bars, options.progress, "copy")(before)
        info, state = await copydata.transfer(source, target, config, consumers=options.consumers, told=told)
    return Copied(info, state, int(state["bytes"]), 1, snapshot.losses(state, info["state"]))


async def _go_on(
    env: Env, options: DataOptions, source: copydata.End, target: copydata.End, left: Json, config: Json
) -> Copied | None:
    """Bring what a broken copy lacks; None where it was removed, to begin again."""
    name = target.stream
    if not await copyrest.is_of(source, left, options.consumers):
        count = format_count(int(left["state"]["messages"]))
        await env.confirm(
            f"Stream {name} is what another copy that did not end left, with {count} messages. Remove it",
            force=options.force,
        )
        await copyrest.drop(target)
        return None
    had = (await copydata.settled(target, left))["state"]
    if not int(had["last_seq"]):
        await copyrest.drop(target)
        return None
    there = (await streams.info(source.api, source.stream))["state"]
    missing = max(int(there["bytes"]) - int(had["bytes"]), 0)
    begun_at = int(had["last_seq"]) + 1
    env.say(
        f"A copy to Stream {name} broke off before; going on at message {format_count(begun_at)} with "
        f"{format_bytes(missing)}. The server puts them in place, and may take two minutes to begin"
    )
    try:
        with (
            env.progress(f"Stream {name}", missing if options.progress else 0, in_bytes=True) as told,
            _unfinished(env, target),
        ):
            state = await copyrest.go_on(source, target, told=told)
            info = await copydata.promote(target, config)
    except copyrest.NotPossible as error:
        env.say(f"{error.message}; the copy begins again")
        await copyrest.drop(target)
        return None
    # What left the source since is in the copy; the comparison tells.
    short = int(info["state"]["messages"]) < int(state["messages"])
    return Copied(info, state, missing, begun_at, snapshot.losses(state, info["state"]) if short else [])


@contextmanager
def _unfinished(env: Env, target: copydata.End) -> Iterator[None]:
    """Say what becomes of a copy that is interrupted."""
    try:
        yield
    except (asyncio.CancelledError, Unreachable):
        env.say(f"The copy to Stream {target.stream} is not complete; the same line goes on with it")
        raise


async def _clear(
    env: Env, options: DataOptions, source: copydata.End, target: copydata.End, left: Json
) -> None:
    name = target.stream
    if not snapshot.mark_of(left):
        raise JsctlError(f"stream {name} exists already", "choose another name, or remove it first")
    if await copydata.holds_nothing_else(source, target, left):
        env.say(f"A copy to Stream {name} broke off before; it begins again")
    else:
        count = format_count(int(left["state"]["messages"]))
        await env.confirm(
            f"Stream {name} is what a restore that did not end left, with {count} messages, some of them not "
            f"of Stream {source.stream}. Remove it",
            force=options.force,
        )
    await streams.delete(target.api, name)


async def _compare(
    env: Env, options: DataOptions, source: copydata.End, target: copydata.End, state: Json
) -> copydata.Comparison | None:
    if not options.compare:
        return None
    total = int(state.get("messages", 0))
    with env.progress(f"Comparing {target.stream}", total if options.progress else 0) as told:
        return await copydata.compare(source, target, state, told=told)


def _result(
    source: copydata.End,
    target: copydata.End,
    copied: Copied,
    found: copydata.Comparison | None,
    took: int,
    failed: bool,
) -> Result:
    count, size = int(copied.state["messages"]), int(copied.state["bytes"])
    part = f", {format_bytes(copied.moved)} of it now" if copied.begun_at != 1 else ""
    told = [
        f"Copied Stream {source.stream} to {target.stream}: {format_count(count)} messages, "
        f"{format_bytes(size)}{part} in {format_duration(took)}, {backup_view.rate(copied.moved, took)}"
    ]
    if found is None:
        told.append("Not compared")
    elif not found.failures:
        told.append(
            f"Compared {format_count(found.compared)} messages: sequences, subjects, headers, times and data "
            "are the same"
        )
    else:
        told.append(
            f"Compared {format_count(found.compared)} messages: {format_count(found.failures)} differ"
        )
        told += [f"  {sequence} is missing" for sequence in sorted(found.missing)]
        told += [f"  {sequence} has another {what}" for sequence, what in sorted(found.different.items())]
    if found is not None and found.gone:
        told.append(f"{format_count(found.gone)} of them have left Stream {source.stream} since")
    result = view.sheet(copied.info)
    document: Json = {
        "source": source.stream,
        "destination": target.stream,
        "messages": count,
        "bytes": size,
        "moved_bytes": copied.moved,
        "begun_at": copied.begun_at,
        "duration": took,
        "comparison": found.record() if found else None,
        "info": copied.info,
    }
    status = ExitStatus.FAILURE if failed else ExitStatus.OK
    parts = [Text("\n".join(told), "bad" if failed else ""), *result.parts]
    return Result(parts, data=document, status=status)
