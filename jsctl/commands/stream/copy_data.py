"""The `--data` half of `jsctl stream copy`: the messages, too."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple, TypeVar

from jsctl.commands.cli import option
from jsctl.commands.stream.backup import announce
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError, Unreachable
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup import copy as copydata
from jsctl.jetstream.backup import resume_copy as copyrest
from jsctl.jetstream.backup import snapshot
from jsctl.jetstream.backup import stream_backup as backups
from jsctl.jetstream.stream import requests as streams
from jsctl.units import SECOND, format_bytes, format_count
from jsctl.views.result import Result
from jsctl.views.stream import copy as view
from jsctl.views.stream.copy import Copied

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
    context: dict[str, Any] = {"metavar": "NAME", "default": "", "noun": "context"}
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
        now = (await streams.info(source.api, source.stream))["state"]
        copied = Copied(left, copydata.to_compare(now, left), 0, 0, [])
    elif left is not None and copyrest.is_broken(left):
        copied = await _go_on(env, options, source, target, left, config)
    elif left is not None:
        await _clear(env, options, source, target, left)
    copied = copied or await _all(env, options, source, target, config, left is not None)
    warnings = backups.judged(target.stream, config, copied.lost)
    took = int((time.monotonic() - started) * SECOND)
    found = await _compare(env, options, source, target, copied.state)
    failed = found is not None and found.failures and not warnings
    if not failed:
        copied = copied._replace(info=await copydata.finish(target, copied.info, config))
    for warning in warnings:
        env.say(f"warning: {warning}")
    return view.copied(source, target, copied, found, took, bool(failed))


async def _all(
    env: Env, options: DataOptions, source: copydata.End, target: copydata.End, config: Json, again: bool
) -> Copied:
    plan = await copydata.plan(source, target, config, consumers=options.consumers, again=again)
    # The size is what the source says now; the snapshot is taken a moment later.
    before = (await streams.info(source.api, source.stream))["state"]
    with ExitStack() as bars, _unfinished(env, target, plan.landing is not None):
        told = announce(env, source.stream, bars, options.progress, "copy")(before)
        info: Json | None = None
        if plan.pieces and plan.landing:
            try:
                state = await copyrest.in_pieces(source, target, plan.landing, told=told)
                await _lost(target, config, state)
                info = await copydata.promote(target, config)
            except copyrest.NotPossible as error:
                env.say(f"{error.message}; the copy begins again, all at once")
                await copyrest.drop(target)
        if info is None:
            info, state = await copydata.transfer(
                source, target, config, plan, consumers=options.consumers, told=told
            )
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
    had = (await copyrest.left_by(target, left))["state"]
    if not int(had["last_seq"]):
        env.say(f"A copy to Stream {name} broke off before, and the server kept nothing; it begins again")
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
            _unfinished(env, target, True),
        ):
            state = await copyrest.go_on(source, target, told=told)
            lost = await _lost(target, config, state)
            info = await copydata.promote(target, config)
    except copyrest.NotPossible as error:
        env.say(f"{error.message}; the copy begins again")
        await copyrest.drop(target)
        return None
    return Copied(info, state, missing, begun_at, lost)


async def _lost(target: copydata.End, config: Json, state: Json) -> list[str]:
    """What a copy that was gone on with has not, a sentence each. Raises JsctlError where nothing explains
    that. It may have more: what left the source since."""
    have = (await streams.info(target.api, target.stream))["state"]
    lost = snapshot.losses(state, have) if int(have["messages"]) < int(state["messages"]) else []
    backups.judged(target.stream, config, lost)
    return lost


@contextmanager
def _unfinished(env: Env, target: copydata.End, stays: bool) -> Iterator[None]:
    """Say what becomes of a copy that is interrupted, if what is there stays."""
    try:
        yield
    except (asyncio.CancelledError, Unreachable):
        if stays:
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
