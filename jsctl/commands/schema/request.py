"""`jsctl schema request`."""

from jsctl.commands.cli import argument, command, option
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.json_text import parse_json
from jsctl.nats.subjects import validate_subject
from jsctl.schema import catalog
from jsctl.schema.validator import find_errors
from jsctl.views.result import Result
from jsctl.views.schema import schemas as view


@command(
    "request",
    examples=[
        "jsctl schema request '$JS.API.STREAM.INFO.ORDERS'",
        "jsctl schema request '$SRV.PING' --schema io.nats.micro.v1.ping_response --show",
    ],
)
@argument("subject")
@argument("body", default="{}")
@option(
    "--schema",
    noun="schema",
    metavar="SCHEMA",
    default="",
    help="Validate against this, not the reply's type",
)
@option("--show", is_flag=True, help="Show the reply, too")
async def request(env: Env, subject: str, body: str, schema: str, show: bool) -> Result:
    """Send BODY, or {} without it. If the reply is not valid, the exit status is 1."""
    name = catalog.resolve(schema) if schema else ""
    connection = await env.connection()
    data = body.encode(errors="surrogateescape")
    reply = await connection.request(validate_subject(subject), data)
    try:
        response = parse_json(reply.data)
    except ValueError as error:
        raise JsctlError(f"the reply on {subject} is not JSON: {error}", "jsctl request shows it") from None
    if not name:
        kind = response.get("type") if isinstance(response, dict) else None
        if not isinstance(kind, str):
            raise JsctlError("the reply does not name its type", "name a schema with --schema")
        name = catalog.resolve(kind)
    return view.reply(name, find_errors(response, catalog.load_schema(name)), response, show=show)
