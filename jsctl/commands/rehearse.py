"""`jsctl rehearse`."""

import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import click

from jsctl.base.units import pluralize
from jsctl.calls import Call
from jsctl.commands.cli import argument, command, option
from jsctl.commands.declared.plan import check_rehearsable
from jsctl.env import Env
from jsctl.errors import BadInput, CommandError, JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.api_levels import fetch_account_info
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.declared import write
from jsctl.jetstream.declared.collect import collect_declarations
from jsctl.jetstream.state import is_silent
from jsctl.jetstream.stream import requests as streams
from jsctl.localserver import binary
from jsctl.localserver.rehearsal import (
    MOST_SERVERS,
    Place,
    Rehearsal,
    adapt,
    copy_messages,
    open_rehearsal,
)
from jsctl.views.rehearsal import CopyState, list_unkept, show_rehearsal
from jsctl.views.result import Result

_ONCE_CURRENT = ("--wait", "1m")  #: until replicas and mirrors have what they are to have


@dataclass(frozen=True, slots=True)
class Options:
    """change: files for apply. messages: of each stream, at most. server_version: of servers that take
    the place of the others. stop: servers to kill after the change."""

    change: tuple[str, ...]
    messages: int
    servers: int | None
    server_version: str
    stop: tuple[str, ...]
    prune: bool
    var: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.change and not self.stop and not self.server_version:
            raise BadInput(
                "there is no change", "name files for apply, --server-version, or servers with --stop"
            )
        for file in self.change:
            if not Path(file).exists():
                raise BadInput(f"there is no file {file}")


class _Outcome(NamedTuple):
    """What came of a command line: its document, and its error, empty if there is none."""

    document: Any
    error: str = ""


@command(
    "rehearse",
    examples=[
        "jsctl rehearse streams.yaml",
        "jsctl rehearse streams.yaml --prune --messages 10000",
        "jsctl rehearse --stop n2 --servers 3",
        "jsctl rehearse --server-version ./nats-server-2.14.0 --servers 3",
    ],
)
@argument("change", metavar="[FILE]...", nargs=-1)
@option(
    "--messages",
    type=click.IntRange(min=0),
    default=1000,
    help="Newest messages of each stream to copy (1000)",
)
@option("--servers", type=click.IntRange(1, MOST_SERVERS), help="Servers of the copy (as many as replicas)")
@option(
    "--server-version",
    metavar="VERSION|PATH",
    default="",
    help="Restart the servers of the copy with this nats-server, one after the other",
)
@option(
    "--stop", metavar="SERVER", multiple=True, help="Kill a server of the copy after the change: n1, n2, ..."
)
@option("--prune", is_flag=True, help="Remove what the files' label has and they do not declare")
@option("--var", metavar="NAME=VALUE", multiple=True, help="Variable of the files; may be repeated")
async def rehearse(env: Env, options: Options) -> Result:
    """Copy the account's streams, consumers and buckets to servers of this machine, with their newest
    messages. Apply the files there, restart the servers with another nats-server, kill those that are named,
    and show what became of it: what was refused and lost, and what doctor finds that it did not find before.
    Nothing is changed anywhere else, and nothing is left here. VERSION is that of the nats-server of this
    machine; another one is named by its file or folder, and not downloaded.

    The exit status is 1 if something broke. What one machine cannot have is left out, and said: placement,
    and copies of streams in other domains and accounts. Consumers begin anew: what they acknowledged is not
    copied.
    """
    context = env.settings().context or "rehearsal"
    if options.change:
        check_rehearsable(env, options.change, options.var, prune=options.prune, context=context)
    api = await env.jetstream()
    server = binary.find(env.environ)
    newer = binary.find_named(options.server_version, env.environ) if options.server_version else None
    account = await fetch_account_info(api)
    infos: dict[str, Json] = {}
    collected = await collect_declarations(api, (), {}, with_internal=True, infos=infos)
    replicas = [int(info["config"].get("num_replicas") or 1) for info in infos.values()]
    servers = options.servers or min(MOST_SERVERS, max(replicas, default=1))
    left_out = [f"{name} did not answer" for name in collected.missing_streams]
    if (version := api.connection.server_info.get("version")) != server.version:
        left_out.append(f"nats-server {version}: {binary.VARIABLE} names the one that the copy begins with")
    declared = {
        key: [adapt(each, servers, left_out) for each in items]
        for key, items in {"streams": collected.streams, **collected.buckets}.items()
    }
    place = Place(str(account.get("domain") or ""), context, servers)
    times: dict[str, float | None] = {}
    change, changed = "", None
    try:
        env.show_status(f"starting {pluralize(servers, 'server')}")
        begin = time.monotonic()
        async with open_rehearsal(server, env.environ, place) as copy:
            copy.check_servers(options.stop)
            env.show_status("copying streams")
            left_out += await _fill(env, copy, api, declared, infos, options.messages)
            before = await _look(env, copy)
            times["Copied In"], begin = time.monotonic() - begin, time.monotonic()
            if options.change:
                env.show_status("applying the change")
                change = (await _apply(env, copy, options)).error
                times["Changed In"] = time.monotonic() - begin
            if newer and not change:
                changed = await _look(env, copy)
                begin = time.monotonic()
                env.show_status(f"restarting the servers with {newer.version}")
                try:
                    times["All Streams Answer After"] = await copy.roll_servers(newer)
                except JsctlError as error:
                    change = str(error)
                times["Rolled In"] = time.monotonic() - begin
            if options.stop:
                times["All Streams Answer After"] = await copy.stop_servers(options.stop)
            after = await _look(env, copy)
            lacking = list_unkept(changed, after) if changed else []
    finally:
        env.show_status("")
    seen = {"count": servers, "version": before.version, "new_version": after.version if newer else None}
    return show_rehearsal(before, after, change, times, {**seen, "not_kept": lacking}, left_out)


async def _run(env: Env, copy: Rehearsal, *words: str) -> _Outcome:
    """Run a command line on the copy."""
    try:
        return _Outcome(await Call(env.run_line, words, environ=copy.environ).run_async())
    except CommandError as error:
        return _Outcome(error.data, str(error))


async def _fill(
    env: Env, copy: Rehearsal, api: Api, document: Json, infos: Mapping[str, Json], count: int
) -> list[str]:
    """Make the streams, and publish their newest messages. Return what they lack. Raises JsctlError."""
    lacking = []
    file = copy.network.folder / "copy.yaml"
    file.write_text("".join(write.render_yaml(document)), encoding="utf-8")
    made = await _run(env, copy, "apply", "-f", str(file), "--yes", *_ONCE_CURRENT, "--context", copy.context)
    if made.error:
        raise JsctlError(f"the copy cannot be made: {made.error}", "jsctl export config shows what is copied")
    async with copy.open_api() as target:
        for name, info in infos.items():
            if not count or info["config"].get("mirror") or not info["state"]["messages"]:
                continue
            if reason := await copy_messages(api, target, info, count):
                lacking.append(f"messages of {name}: {reason}")
    return lacking


async def _apply(env: Env, copy: Rehearsal, options: Options) -> _Outcome:
    words = [word for file in options.change for word in ("-f", str(Path(file).absolute()))]
    words += [word for value in options.var for word in ("--var", value)]
    words += [*(["--prune"] if options.prune else []), "--yes", "--allow-data-loss", *_ONCE_CURRENT]
    return await _run(env, copy, "apply", *words, "--context", copy.context)


async def _look(env: Env, copy: Rehearsal) -> CopyState:
    """Return what the copy has. Streams that do not answer are missing."""
    found = await _run(env, copy, "doctor", "--context", copy.context, "--context", f"{copy.context}-system")
    state = CopyState({}, {}, {}, (found.document or {}).get("findings", []))
    with contextlib.suppress(JsctlError):
        async with copy.open_api() as api:
            state.version = str(api.connection.server_info.get("version"))
            infos = (await streams.collect(api, lambda info: None if is_silent(info) else info)).items
            state.configs = {name: info["config"] for name, info in infos.items()}
            state.streams = {name: int(info["state"]["messages"]) for name, info in infos.items()}
            listings = await consumers.list_consumers_of_streams(api, sorted(infos))
            state.consumers = {
                each.stream: {*each.missing, *(str(info["name"]) for info in each.infos)} for each in listings
            }
    return state
