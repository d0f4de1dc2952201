"""`jsctl server cluster step-down`."""

from jsctl.commands.cli import command, destructive, option
from jsctl.commands.observers import leaders
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.cluster.meta import build_meta_group
from jsctl.monitor.server.meta import fetch_meta
from jsctl.views.result import Result


@command("step-down", examples=["jsctl server cluster step-down", "jsctl server cluster step-down --host n2"])
@option("--cluster", metavar="CLUSTER", default="", help="Prefer a leader in this cluster")
@option("--tags", metavar="TAG", multiple=True, help="Prefer a leader with this tag; may be repeated")
@option("--host", metavar="NAME", default="", help="Prefer this server as the leader")
@destructive("Proceed even if no leader is known", "Only show which leader would step down")
async def step_down(env: Env, cluster: str, tags: tuple[str, ...], host: str, force: bool) -> Result:
    """Make the leader of the meta group, which places streams and consumers, step down. A login of the system
    account is needed.
    """
    if host and (cluster or tags):
        raise BadInput("--host cannot be used with --cluster and --tags", "a server determines the others")
    api, connection = await env.jetstream(), await env.connection()

    async def fetch() -> dict[str, object]:
        return await fetch_meta(connection, api.domain)

    change = await leaders.step_down(
        env, build_meta_group(api, fetch, cluster=cluster, tags=tags), host, force
    )
    return Result(data={"old_leader": change.old_leader, "new_leader": change.new_leader})
