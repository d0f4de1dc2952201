"""The `--data` half of `jsctl stream copy`: the messages, too."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, NamedTuple, TypeVar

from jsctl.commands import complete
from jsctl.commands.cli import option
from jsctl.commands.stream.backup import announce
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus, JsctlError
from jsctl.jetstream import backup as backups
from jsctl.jetstream import copydata, snapshot, streams
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


async def copy_data(
    env: Env, options: DataOptions, source: copydata.End, target: copydata.End, config: Json
) -> Result:
    """Copy the messages and compare them. `config`: the copy's, without what the server owns.

    Goes on with a copy that was made and not compared; begins again where one broke off before.
    """
    started = time.monotonic()
    info = await streams.exists(target.api, target.stream)
    state: Json | None = None
    if info is not None and copydata.is_copied(info):
        env.say(f"Stream {target.stream} is copied already; going on with the comparison")
        state = info["state"]
    elif info is not None:
        await _clear(env, options, source, target, info)
    warnings: list[str] = []
    if state is None:
        with ExitStack() as bars:
            # The size is what the source says now; the snapshot is taken a moment later.
            before = (await streams.info(source.api, source.stream))["state"]
            told = announce(env, source.stream, bars, options.progress, "copy")(before)
            info, state = await copydata.transfer(
                source, target, config, consumers=options.consumers, told=told
            )
        lost = snapshot.losses(state, info["state"])
        warnings = backups.judged(target.stream, config, lost)
    assert info is not None
    took = int((time.monotonic() - started) * SECOND)
    found = await _compare(env, options, source, target, state)
    failed = found is not None and found.failures and not warnings
    if not failed:
        info = await snapshot.unmark(target.api, info)
    for warning in warnings:
        env.say(f"warning: {warning}")
    return _result(source, target, info, state, found, took, bool(failed))


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
    info: Json,
    state: Json,
    found: copydata.Comparison | None,
    took: int,
    failed: bool,
) -> Result:
    count, size = int(state["messages"]), int(state["bytes"])
    told = [
        f"Copied Stream {source.stream} to {target.stream}: {format_count(count)} messages, "
        f"{format_bytes(size)} in {format_duration(took)}, {backup_view.rate(size, took)}"
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
    result = view.sheet(info)
    document: Json = {
        "source": source.stream,
        "destination": target.stream,
        "messages": count,
        "bytes": size,
        "duration": took,
        "comparison": found.record() if found else None,
        "info": info,
    }
    status = ExitStatus.FAILURE if failed else ExitStatus.OK
    parts = [Text("\n".join(told), "bad" if failed else ""), *result.parts]
    return Result(parts, data=document, status=status)
