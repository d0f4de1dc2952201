"""`jsctl audit gather`."""

import tempfile
from pathlib import Path

from jsctl import __version__
from jsctl.base.files import is_replaced, naming_write_errors, open_atomically
from jsctl.base.units import pluralize
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import command, declare_all, destructive, option
from jsctl.env import Env
from jsctl.monitor.audit.archive import ArchiveWriter
from jsctl.monitor.audit.gather import Gatherer, Selection, Summary
from jsctl.monitor.server.requests import count_servers
from jsctl.views.intent import file_intent
from jsctl.views.result import Field, InfoPage, Result, Section

_DEFAULTS = {
    "server-endpoints": "Gather what servers report about themselves",
    "server-profiles": "Gather profiles of servers, which take some seconds",
    "account-endpoints": "Gather what servers report about accounts",
    "streams": "Gather the state of streams on each server",
    "consumers": "Gather the state of consumers, too",
    "details": "Include subscriptions, accounts and streams",
}
"""Flags that are on by default, with their help."""


def _show_gathered(path: str, size: int, summary: Summary) -> Result:
    """Show what an archive holds. size: bytes of the file."""
    counts = {
        "servers": summary.servers,
        "accounts": summary.accounts,
        "streams": summary.streams,
        "answers": summary.endpoints,
        "profiles": summary.profiles,
        "refused": summary.failures,
    }
    fields = [Field("File", path), Field("Size", size, "bytes")]
    fields += [Field(name.capitalize(), count, "count") for name, count in counts.items()]
    document = {"archive": path, "bytes": size, **counts}
    return Result([InfoPage("Archive", [Section("", fields)])], data=document)


@command(
    "gather",
    examples=[
        "jsctl audit gather --output audit.zip",
        "jsctl audit gather -o east.zip --cluster east --no-server-profiles",
    ],
)
@option("--output", "-o", metavar="FILE", default="", help="File for the archive (a temporary one)")
@option("--progress/--no-progress", default=True, help="Show what is gathered")
@option("--cluster", metavar="CLUSTER", default="", help="Only servers of this cluster")
@declare_all(*(option(f"--{name}/--no-{name}", default=True, help=help) for name, help in _DEFAULTS.items()))
@destructive("Replace a file without asking")
async def gather(env: Env, output: str, progress: bool, selection: Selection, force: bool) -> Result:
    """Write a ZIP file, which jsctl audit analyze and the nats tool can read. It contains names of streams,
    subjects and users, but no messages and no passwords. A login of the system account is needed.
    """
    name = f"audit-archive-{int(env.clock())}.zip"
    path = expand_home(output) if output else Path(tempfile.gettempdir(), name)
    if is_replaced(path) and not env.dry_run:
        await env.confirm(file_intent("the reports of the servers", path), force=force)
    connection = await env.connection()
    if env.dry_run:
        servers = await count_servers(connection)
        description = f"the reports of {pluralize(servers, 'server')}"
        env.announce(file_intent(description, path, {"servers": servers}))
    with naming_write_errors(path):
        with open_atomically(path, mode=None) as file, ArchiveWriter(file, env.clock()) as writer:
            say = env.say if progress else lambda line: None
            version = f"jsctl {__version__}"
            gatherer = Gatherer(connection, writer, selection, say=say, clock=env.clock, version=version)
            summary = await gatherer.run()
        size = path.stat().st_size
    return _show_gathered(str(path), size, summary)
