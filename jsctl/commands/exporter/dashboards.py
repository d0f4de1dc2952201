"""`jsctl exporter dashboards`."""

from collections.abc import Sequence
from pathlib import Path

from jsctl.base.files import escape_path, naming_write_errors, write_atomically
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import command, destructive, option
from jsctl.commands.exporter.exporter import check_prefix, prefix_flag
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor.exporter.dashboards import build_files
from jsctl.views.intent import Intent
from jsctl.views.result import Column, Result, Table

_COLUMNS = (Column("File", "file"), Column("Bytes", "bytes", "number"))


@command(
    "dashboards",
    columns=_COLUMNS,
    examples=[
        "jsctl exporter dashboards --to dashboards",
        "jsctl exporter dashboards --to dashboards --prefix nats --force",
    ],
)
@option("--to", "folder", metavar="DIR", required=True, help="Folder for the files, created if it is missing")
@prefix_flag
@destructive("Replace files without asking")
async def dashboards(env: Env, folder: str, prefix: str, force: bool) -> Result:
    """Write two dashboards for Grafana and a file of alert rules for Prometheus. They use the metrics of
    jsctl exporter, under the names of --names all and of --prefix, and no others.
    """
    check_prefix(prefix)
    target = expand_home(folder)
    if target.exists() and not target.is_dir():
        raise BadInput(f"{folder} is not a folder", "choose another one for --to")
    texts = build_files(prefix)
    replaced = [name for name in texts if (target / name).exists()]
    if env.dry_run or replaced:
        await env.confirm(_build_intent(target, [*texts], replaced), force=force)
    with naming_write_errors(folder):
        target.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            write_atomically(target / name, text, mode=None)
    rows = [(str(target / name), len(text.encode())) for name, text in texts.items()]
    return Result([Table("Written", _COLUMNS, rows)])


def _build_intent(folder: Path, names: Sequence[str], replaced: Sequence[str]) -> Intent:
    """Return the intent to write files to a folder, some of which it has."""
    files = [{"path": escape_path(folder / name), "replaces": name in replaced} for name in names]
    lines = [f"Would {'replace' if one['replaces'] else 'write'} {one['path']}" for one in files]
    changed = replaced or names
    action = f"{'replace' if replaced else 'write'} {', '.join(changed)} in {escape_path(folder)}"
    return Intent(action, {"files": files}, lines)
