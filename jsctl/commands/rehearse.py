"""`jsctl rehearse`."""

import time
from dataclasses import dataclass
from pathlib import Path

import click

from jsctl.base.signals import stoppable
from jsctl.base.units import pluralize
from jsctl.commands.cli import argument, command, option
from jsctl.commands.declared.plan import check_rehearsable
from jsctl.commands.declared.rehearsing import Copy, Source, read_account, read_archive
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.localserver import binary
from jsctl.localserver.originals import MOST_SERVERS, Original
from jsctl.localserver.rehearsal import open_rehearsal
from jsctl.views.rehearsal import list_unkept, show_rehearsal
from jsctl.views.result import Result

_MESSAGES = 1000


@dataclass(frozen=True, slots=True)
class Options:
    """change: files for apply. archive: of an audit, instead of a login. streams: a file of export config,
    instead of what the archive has. sample: files of `sub --dump`. messages: of each stream, at most. scale:
    part of the messages that is copied. server_version: of servers that take the place of the others. stop:
    servers to kill after the change."""

    change: tuple[str, ...]
    archive: str
    streams: str
    sample: tuple[str, ...]
    messages: int | None
    scale: float | None
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
        for file in (*self.change, *filter(None, [self.archive, self.streams]), *self.sample):
            if not Path(file).exists():
                raise BadInput(f"there is no file {file}")
        if self.messages is not None and self.scale:
            raise BadInput("--messages and --scale cannot be used together", "leave out one of them")
        if self.archive and (self.messages is not None or self.servers):
            raise BadInput(
                "--archive cannot be used with --messages or --servers", "its messages are those of --sample"
            )
        if (self.streams or self.sample) and not self.archive:
            raise BadInput("--streams and --sample need --archive", "name the file of jsctl audit gather")


@command(
    "rehearse",
    examples=[
        "jsctl rehearse streams.yaml",
        "jsctl rehearse streams.yaml --prune --messages 10000",
        "jsctl rehearse --stop n2 --servers 3",
        "jsctl rehearse --server-version ./nats-server-2.14.0 --servers 3",
        "jsctl rehearse streams.yaml --scale 0.01",
        "jsctl rehearse streams.yaml --archive audit.zip --sample orders.jsonl",
    ],
)
@argument("change", metavar="[FILE]...", nargs=-1)
@option(
    "--messages",
    type=click.IntRange(min=0),
    help=f"Newest messages of each stream to copy ({_MESSAGES})",
)
@option(
    "--scale",
    metavar="PART",
    type=click.FloatRange(0, 1, min_open=True),
    help="Part of each stream's messages to copy, such as 0.01; limits become so much smaller",
)
@option(
    "--archive", metavar="FILE", default="", help="Copy the network of this archive of jsctl audit gather"
)
@option("--streams", metavar="FILE", default="", help="Streams from this file of jsctl export config")
@option("--sample", metavar="FILE", multiple=True, help="Publish what jsctl sub --dump wrote")
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

    --archive copies all clusters, domains and accounts, with new keys; the files then name the contexts
    CLUSTER-ACCOUNT, and --context the one of those that name none. --scale makes the limits of streams, of
    accounts and, with --archive, of servers smaller, also those of the files.

    The exit status is 1 if something broke. The files are applied with the permissions of the login; with
    --archive, which has none, with all. What the copy lacks is said, such as placement, and copies of streams
    in other domains and accounts. Consumers begin anew: what they acknowledged is not
    copied.
    """
    messages = options.messages if options.messages is not None else _MESSAGES
    source = Source(messages, options.scale, options.sample)
    original = await _read_original(env, options, source)
    server = binary.find(env.environ)
    newer = binary.find_named(options.server_version, env.environ) if options.server_version else None
    if original.version and original.version != server.version:
        original.left_out.append(
            f"nats-server {original.version}: {binary.VARIABLE} names the one that the copy begins with"
        )
    servers = sum(len(cluster["servers"]) for cluster in original.network["clusters"].values())
    times: dict[str, float | None] = {}
    change, changed = "", None
    try:
        env.show_status(f"starting {pluralize(servers, 'server')}")
        begin = time.monotonic()
        async with stoppable(), open_rehearsal(server, env.environ, original) as rehearsal:
            rehearsal.check_servers(options.stop)
            copy = Copy(env, rehearsal)
            env.show_status("copying streams")
            await copy.fill(source)
            before = await copy.fetch_state(with_subjects=True)
            times["Copied In"], begin = time.monotonic() - begin, time.monotonic()
            if options.change:
                env.show_status("applying the change")
                flags = [word for value in options.var for word in ("--var", value)]
                flags += ["--prune"] if options.prune else []
                change = await copy.apply(options.change, flags, options.scale)
                times["Changed In"] = time.monotonic() - begin
            if newer and not change:
                changed = await copy.fetch_state() if options.change else before
                begin = time.monotonic()
                env.show_status(f"restarting the servers with {newer.version}")
                try:
                    times["All Streams Answer After"] = await rehearsal.roll_servers(newer)
                except JsctlError as error:
                    change = str(error)
                times["Rolled In"] = time.monotonic() - begin
            if options.stop:
                times["All Streams Answer After"] = await rehearsal.stop_servers(options.stop)
            after = await copy.fetch_state()
    finally:
        env.show_status("")
    seen = {"count": servers, "version": before.version, "new_version": after.version if newer else None}
    unkept = list_unkept(changed, after) if changed else []
    return show_rehearsal(
        before, after, change, times, {**seen, "not_kept": unkept}, options.scale, original.left_out
    )


async def _read_original(env: Env, options: Options, source: Source) -> Original:
    """Return what is copied: the network of an archive, or the account. Raises BadInput for files that cannot
    be rehearsed on it."""
    part = options.scale or 1.0
    archived = read_archive(env, options.archive, options.streams, part) if options.archive else None
    if archived is None:
        contexts = [env.settings().context or "rehearsal"]
    else:
        contexts = list(dict.fromkeys([archived.context, *archived.network["contexts"]]))
    named = frozenset[str]()
    if options.change:
        named = check_rehearsable(env, options.change, options.var, prune=options.prune, contexts=contexts)
    original = archived or await read_account(env, source, contexts[0], options.servers, part)
    return original._replace(named=named)
