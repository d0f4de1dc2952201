"""`jsctl backup stream`."""

from dataclasses import replace
from pathlib import Path

from jsctl.base.files import temporary_folder
from jsctl.base.signals import interrupt_handler
from jsctl.base.standard_streams import has_file
from jsctl.base.units import format_bytes, format_duration, pluralize
from jsctl.commands.backup.encryption import encrypt_flag, get_keys, identity_flag
from jsctl.commands.backup.paths import resolve_backup_path
from jsctl.commands.backup.source import PIPE
from jsctl.commands.cli import SIZE, argument, command, destructive, option
from jsctl.commands.observers.transfers import TerminalObserver
from jsctl.commands.picking.pick import pick_stream, validate_stream_name
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup import files
from jsctl.jetstream.backup.encryption import parse_recipients
from jsctl.jetstream.backup.files import META
from jsctl.jetstream.backup.link_writer import check_parent
from jsctl.jetstream.backup.stream_backup import BackupOptions, StreamBackup, backup_stream, check_replaced
from jsctl.jetstream.object.files import write_all
from jsctl.jetstream.stream import requests as streams
from jsctl.views.result import Lines, Result
from jsctl.views.shared.text import transfer_rate
from jsctl.views.shared.transfers import backup_intent

_BLOCK = 1 << 20


def _format_end(backup: StreamBackup) -> str:
    """Return the line that ends the progress of a backup."""
    size = int(backup.manifest["unpacked"])
    rate = transfer_rate(size, backup.duration)
    return f"done! [{format_bytes(size)} in {format_duration(backup.duration)}; {rate}]"


def _show_backup(backup: StreamBackup, *, is_encrypted: bool) -> Result:
    """Return what was backed up, and where it is."""
    manifest, duration = backup.manifest, backup.duration
    file = next(file for name, file in manifest["files"].items() if name != META)
    data = {
        "stream": backup.stream,
        "target": str(backup.target),
        "messages": int(manifest["state"].get("messages", 0)),
        "bytes": int(manifest["unpacked"]),
        "stored_bytes": int(file["bytes"]),
        "chunks": int(manifest["chunks"]),
        "consumers": len(manifest.get("consumers") or []),
        "sha256": file["sha256"],
        "duration_ns": duration,
        "encrypted": is_encrypted,
    }
    links = []
    if "since" in manifest:
        chain = manifest["chain"]
        data |= {"since": manifest["since"]["path"], "new": chain["new"], "gone": chain["gone"]}
        links = [
            f"{pluralize(data['new'], 'message')} new, {pluralize(data['gone'], 'message')} gone since "
            f"{data['since']}, which must stay in its place"
        ]
    lines = (
        f"Received {format_bytes(data['stored_bytes'])} compressed data in "
        f'{pluralize(data["chunks"], "chunk")} for stream "{backup.stream}" in {format_duration(duration)}, '
        f"{transfer_rate(data['bytes'], duration)}, {format_bytes(data['bytes'])} uncompressed",
        f"The backup with {pluralize(data['messages'], 'message')} is in {backup.target}"
        + ", encrypted" * is_encrypted,
        *links,
        f"SHA-256 {data['sha256']}",
    )
    return Result([Lines(lines)], data=data)


@command(
    "stream",
    examples=[
        "jsctl backup stream ORDERS /data/backup/ORDERS",
        "jsctl backup stream ORDERS /data/backup/ORDERS.tgz --overwrite",
        "jsctl backup stream ORDERS /data/backup/ORDERS.2 --since /data/backup/ORDERS",
        "jsctl backup stream ORDERS /data/backup/ORDERS --encrypt-to key.pub",
        "jsctl backup stream ORDERS - | ssh backup.example.net 'cat > ORDERS.tgz'",
    ],
)
@argument("stream", default="")
@argument("target", default="")
@option("--progress/--no-progress", default=True, help="Show a progress bar on a terminal")
@option(
    "--since",
    selects=True,
    metavar="PATH",
    default="",
    help="Save only what is new since this backup, and what is gone",
)
@encrypt_flag
@identity_flag
@option("--check", is_flag=True, help="Have the server check every message first")
@option("--consumers/--no-consumers", default=True, help="Also back up the consumers")
@option(
    "--chunk-size", type=SIZE, metavar="BYTES", default=0, help="Bytes of each chunk that the server sends"
)
@option(
    "--window-size",
    type=SIZE,
    metavar="BYTES",
    default=0,
    help="Bytes that the server sends ahead of acknowledgements",
)
@destructive(
    "Replace an older backup of the stream once the new one is complete",
    "Only show what would be saved",
    also=["--overwrite"],
)
async def stream(
    env: Env,
    stream: str,
    target: str,
    since: str,
    identity: str,
    progress: bool,
    options: BackupOptions,
    force: bool,
) -> Result:
    """Write a folder, or one file when the name of TARGET ends in .tgz. It holds the configuration, all
    messages, the consumers with their state, and a digest of it all; jsctl backup restore stream and the nats
    tool restore it.

    With --since, TARGET becomes a link after another backup of the stream: it holds the messages that are
    new, which ones are gone, and the consumers. It needs that backup, its parent, in its place: validate,
    info, edit and restore read both as one. The server still sends all of the stream.

    With --encrypt-to, every file is encrypted with age: nothing of the stream can be read without the key,
    not even its name. --identity is needed for --since, and to replace an encrypted backup.

    With - as TARGET, the .tgz file goes to stdout once it is complete; until then it is in the folder for
    temporary files, which needs room for it twice.
    """
    options, keys = replace(options, recipients=parse_recipients(options.recipients)), get_keys(env, identity)
    if stream:
        name = validate_stream_name(stream)
    else:
        name = await pick_stream(env, await env.jetstream(), "")
    if target == PIPE:
        return await _write_to_stdout(env, name, options, progress=progress, refused=bool(since or force))
    target = target or await env.prompter.text("Folder or .tgz file to write", flag="TARGET")
    api, path = await env.jetstream(), resolve_backup_path(target)
    parent = files.open_backup(resolve_backup_path(since), keys=keys) if since else None
    if env.dry_run:
        if (existing := files.describe_existing(path)) and existing != files.UNFINISHED:
            check_replaced(path, name, options.recipients, keys)
        info = await streams.fetch_info(api, name)
        if parent:
            await check_parent(api, parent, info, path, options.recipients)
        _announce(env, info, path, existing)
    stream_backup = await backup_stream(
        api,
        name,
        path,
        options,
        TerminalObserver(env, progress=progress, force=force),
        parent,
        keys,
    )
    if progress:
        env.inform(_format_end(stream_backup))
    return _show_backup(stream_backup, is_encrypted=bool(options.recipients))


def _announce(env: Env, info: Json, path: Path, existing: str) -> None:
    name, state = info["config"]["name"], info["state"]
    amount = f"{pluralize(state['messages'], 'message')}, {format_bytes(state['bytes'])}"
    facts = {"stream": name, "messages": state["messages"], "bytes": state["bytes"]}
    env.announce(backup_intent(f"Stream {name} with {amount}", path, existing, facts))


async def _write_to_stdout(
    env: Env, name: str, options: BackupOptions, *, progress: bool, refused: bool
) -> Result:
    """Write a .tgz file to stdout once it is complete: its reader gets all of it, or nothing."""
    out = env.streams.stdout
    if refused:
        raise BadInput("--since and --overwrite need a file", "leave them out, or name one as TARGET")
    if out.isatty():
        raise BadInput("a backup is not written to a terminal", "pipe it, or name a file as TARGET")
    api = await env.jetstream()
    if env.dry_run:
        _announce(env, await streams.fetch_info(api, name), Path("stdout"), "")
    if env.wants_json:
        raise BadInput("--json and the backup cannot both be on stdout", "leave one of them out")
    if not has_file(out):
        raise BadInput("stdout is not a file or a pipe here", "name a file as TARGET")
    with temporary_folder("jsctl-backup-") as folder:
        path = folder / f"{'backup' if options.recipients else name[:100]}.tgz"  # the name of a folder in it
        observer = TerminalObserver(env, progress=progress)
        backup = await backup_stream(api, name, path, options, observer)
        with path.open("rb") as file, open(out.fileno(), "wb", 0, closefd=False) as pipe, interrupt_handler():
            try:
                write_all(pipe, iter(lambda: file.read(_BLOCK), b""))
            except BrokenPipeError:
                reason = "the backup was not written to its end: nobody reads it"
                raise JsctlError(reason, "see the error of its reader") from None
    if progress:
        env.inform(_format_end(backup))
    return Result([])
