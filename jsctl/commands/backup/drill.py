"""`jsctl backup drill`."""

from jsctl.commands.backup.paths import resolve_backup_path
from jsctl.commands.backup.source import progress_flag, source_argument
from jsctl.commands.cli import command
from jsctl.commands.observers.transfers import TerminalObserver
from jsctl.env import Env
from jsctl.jetstream.api import Api
from jsctl.jetstream.backup.drill import run_drill
from jsctl.jetstream.backup.files import opening_backup
from jsctl.localserver import binary
from jsctl.localserver.scratch import open_scratch_server
from jsctl.nats.connection import Connection
from jsctl.views.backup import drill as view
from jsctl.views.result import Result


@command("drill", examples=["jsctl backup drill /data/backup/ORDERS", "jsctl backup drill ORDERS.tgz --json"])
@source_argument
@progress_flag
async def drill(env: Env, source: str, progress: bool) -> Result:
    """Start a server of its own with an empty store in the folder for temporary files, restore SOURCE there,
    and compare every message and consumer with the backup. No other server is asked, and nothing is left. The
    store needs as much room as the stream has.

    The exit status is 1 if anything differs. The server starts without the stream's maximum age, message
    TTLs and schedules, replicas, mirror and sources.
    """
    observer = TerminalObserver(env, progress=progress and not env.asks_for_json)
    with opening_backup(resolve_backup_path(source)) as backup:
        server = binary.find(env.environ)
        async with open_scratch_server(server, {"drill": {}}, env.environ) as logins:
            connection = await Connection.open(logins["drill"], on_event=lambda _: None)
            try:
                outcome = await run_drill(Api(connection), backup, observer)
            finally:
                await connection.close()
    return view.drilled(outcome, server.version)
