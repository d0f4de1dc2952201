"""`jsctl backup restore stream`."""

from dataclasses import dataclass

from jsctl.base.files import read_input
from jsctl.base.units import format_duration, pluralize
from jsctl.commands.backup.encryption import identity_flag
from jsctl.commands.backup.source import opening_source
from jsctl.commands.cli import argument, command, option
from jsctl.commands.observers.transfers import TerminalObserver, restore_flags
from jsctl.commands.options.data_loss import LossOptions
from jsctl.commands.options.protection import list_concerned, refuse_unknown
from jsctl.commands.picking.pick import validate_stream_name
from jsctl.env import Env
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup.files import Backup
from jsctl.jetstream.backup.marks import remove_mark
from jsctl.jetstream.backup.stream_restore import StreamRestore, restore_stream
from jsctl.jetstream.declared.model import without_label
from jsctl.jetstream.stream.config import STREAM
from jsctl.views.result import Result, Text
from jsctl.views.shared.text import transfer_rate
from jsctl.views.stream import info as stream_info


def _show_restore(restore: StreamRestore) -> Result:
    """Return what was restored, and the stream's info page."""
    backup, info, duration = restore.backup, restore.info, restore.duration
    summary = (
        f'Restored stream "{info["config"]["name"]}" in {format_duration(round(duration, -9))}, '
        f"{transfer_rate(backup.size, duration)}, {pluralize(info['state']['messages'], 'message')}"
    )
    info_page = stream_info.info_page(info)
    return Result([Text(summary), *info_page.parts], data=info_page.data)


@dataclass(frozen=True, slots=True)
class Options:
    """file: the backup, or the stream's new name in the older form, where `older` is the backup."""

    file: str
    older: str
    progress: bool
    config_file: str | None
    name: str
    subjects: tuple[str, ...]
    cluster: str | None
    tag: tuple[str, ...]
    replicas: int | None
    identity: str
    permits: LossOptions
    force: bool

    @property
    def path(self) -> str:
        return self.older or self.file

    @property
    def new_name(self) -> str:
        """The stream's name, empty for the backup's."""
        return self.name or (self.file if self.older else "")


@command(
    "stream",
    examples=[
        "jsctl backup restore stream /data/backup/ORDERS",
        "jsctl backup restore stream /data/backup/ORDERS.tgz --name ORDERS_OLD --subjects 'old.>'",
        "jsctl backup restore stream /data/backup/ORDERS --js-domain leaf --config smaller.yaml",
        "jsctl backup restore stream ORDERS /data/backup/ORDERS.tgz",
        "jsctl backup restore stream - < /data/backup/ORDERS.tgz",
    ],
)
@argument(
    "file",
    metavar="[STREAM] FILE",
    label="Backup to restore",
    path=True,
    suggestions="jsctl.jetstream.backup.finding:find_stream_backups",
)
@argument("older", default="", metavar="")
@option("--progress/--no-progress", default=True, help="Show a progress bar on a terminal")
@option("--config", "config_file", metavar="FILE", help="Merge this configuration into the backup's")
@option("--name", metavar="NAME", default="", help="Restore under another name")
@option("--subjects", metavar="SUBJECTS", multiple=True, help="Store messages on these subjects")
@option("--cluster", metavar="CLUSTER", default=None, help="Place the stream in this cluster")
@option("--tag", metavar="TAG", multiple=True, help="Place the stream on servers with this tag")
@option("--replicas", type=int, metavar="COUNT", default=None, help="How many replicas of the data to keep")
@identity_flag
@restore_flags
async def stream(env: Env, options: Options) -> Result:
    """Read FILE, the folder or .tgz file that jsctl backup stream wrote, or a folder of the nats tool, and
    compare it with its digest before the server is asked for anything. A pipe with a .tgz file, and
    stdin where FILE is -, is copied to the folder for temporary files first.
    """
    observer = TerminalObserver(env, options.permits, progress=options.progress, force=options.force)
    with opening_source(env, options.path, options.identity) as backup:
        config = _build_config(env, backup, options)
        refuse_unknown(options.permits.unprotect, list_concerned(config))
        restored = await restore_stream(env.jetstream, backup, config, observer)
    for warning in restored.warnings:
        env.say(f"warning: {warning}")
    return _show_restore(restored)


def _build_config(env: Env, backup: Backup, options: Options) -> Json:
    """Return the configuration of the restored stream: the backup's, then --config, then flags. Raises
    BadInput.
    """
    config = remove_mark(STREAM.without_server_keys(backup.config))
    if options.new_name and options.new_name != backup.stream:
        config = without_label(config)
    if options.config_file:
        text = read_input(options.config_file, env.streams.stdin)
        config = STREAM.update(config, STREAM.parse_config(text, options.config_file))
    flags = {
        "subjects": options.subjects,
        "cluster": options.cluster,
        "tag": options.tag,
        "replicas": options.replicas,
    }
    config = STREAM.apply_flags(
        config, {flag: value for flag, value in flags.items() if value not in (None, ())}
    )
    if options.new_name:
        config["name"] = validate_stream_name(options.new_name)
    STREAM.validate(config)
    return config
