"""`jsctl account info`."""

from jsctl.commands.cli import command
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.monitor.account import describe_connection, fetch_user
from jsctl.views.account import info as view
from jsctl.views.result import Result


@command("info", examples=["jsctl account info", "jsctl account info --json"])
async def info(env: Env) -> Result:
    """Fail when JetStream is off or does not reply, after showing the rest."""
    api = await env.jetstream()
    user = await fetch_user(api.connection)
    connection = await describe_connection(api.connection)
    jetstream, failure = None, None
    try:
        jetstream = await api.call("INFO")
    except JsctlError as error:
        failure = error
        env.say(f"jsctl: error: {error}")
    return view.info(user, connection, jetstream, failure)
