"""`jsctl audit gather`."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from jsctl import __version__
from jsctl.base.files import is_replaced, naming_write_errors, open_atomically
from jsctl.base.units import pluralize
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import command, destructive, option
from jsctl.env import Env
from jsctl.monitor.audit.archive import ArchiveWriter
from jsctl.monitor.audit.gather import Gatherer, Selection
from jsctl.monitor.server.requests import count_servers
from jsctl.views.audit import gather as view
from jsctl.views.intent import file_intent
from jsctl.views.result import Result

Verb = TypeVar("Verb", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Options:
    output: str
    progress: bool
    selection: Selection
    force: bool


def _declare_default_flag(name: str, help: str) -> Callable[[Verb], Verb]:
    """Declare a flag that is on by default."""
    return option(f"--{name}/--no-{name}", default=True, help=help)


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
@_declare_default_flag("server-endpoints", "Gather what servers report about themselves")
@_declare_default_flag("server-profiles", "Gather profiles of servers, which take some seconds")
@_declare_default_flag("account-endpoints", "Gather what servers report about accounts")
@_declare_default_flag("streams", "Gather the state of streams on each server")
@_declare_default_flag("consumers", "Gather the state of consumers, too")
@_declare_default_flag("details", "Include subscriptions, accounts and streams")
@destructive("Replace a file without asking")
async def gather(env: Env, options: Options) -> Result:
    """Write a ZIP file, which jsctl audit analyze and the nats tool can read. It contains names of streams,
    subjects and users, but no messages and no passwords. A login of the system account is needed.
    """
    name = f"audit-archive-{int(env.clock())}.zip"
    path = expand_home(options.output) if options.output else Path(tempfile.gettempdir(), name)
    if is_replaced(path) and not env.dry_run:
        await env.confirm(file_intent("the reports of the servers", path), force=options.force)
    connection = await env.connection()
    if env.dry_run:
        servers = await count_servers(connection)
        description = f"the reports of {pluralize(servers, 'server')}"
        env.announce(file_intent(description, path, {"servers": servers}))
    with naming_write_errors(path):
        with open_atomically(path, mode=None) as file, ArchiveWriter(file, env.clock()) as writer:
            say = env.say if options.progress else lambda line: None
            version = f"jsctl {__version__}"
            gatherer = Gatherer(
                connection, writer, options.selection, say=say, clock=env.clock, version=version
            )
            summary = await gatherer.run()
        size = path.stat().st_size
    return view.gathered(str(path), size, summary)
