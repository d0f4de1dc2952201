"""`jsctl account info`."""

from jsctl.commands.cli import command
from jsctl.env import Env
from jsctl.errors import JsctlError, NoJetStream, NoResponders
from jsctl.jetstream.api import build_api_prefix
from jsctl.monitor.account import describe_connection, fetch_user
from jsctl.views.account import info as view
from jsctl.views.result import Result


@command("info", examples=["jsctl account info", "jsctl account info --json"])
async def info(env: Env) -> Result:
    """Without JetStream in the account, show the rest. If JetStream does not reply, fail after that."""
    api = await env.jetstream()
    user = await fetch_user(api.connection)
    connection = await describe_connection(api.connection)
    jetstream, failure = None, None
    try:
        jetstream = await api.call("INFO")
    except JsctlError as error:
        failure = error
    is_off = isinstance(failure, NoJetStream)
    if isinstance(failure, NoResponders):
        is_off = (
            api.prefix == build_api_prefix()
        )  # nobody answers in another domain: it does not exist, or is not linked
    result = view.info(user, connection, jetstream, failure)
    if not is_off:
        return result._replace(error=failure)
    env.say("jsctl: JetStream is not enabled in this account")
    return result
