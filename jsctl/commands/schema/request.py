"""`jsctl schema request`."""

from jsctl.base.command_lines import build_line
from jsctl.base.json_text import parse_json
from jsctl.commands.cli import argument, command, option
from jsctl.commands.options.body import find_body
from jsctl.env import Env
from jsctl.errors import JsctlError
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
@argument("body", required=False)
@option(
    "--schema",
    noun="schema",
    metavar="SCHEMA",
    default="",
    help="Validate against this, not the reply's type",
)
@option("--show", is_flag=True, help="Show the reply, too")
async def request(env: Env, subject: str, body: str | None, schema: str, show: bool) -> Result:
    """Send BODY or, without it, stdin; {} if that is empty or a terminal. If the reply is not valid, the exit
    status is 1.
    """
    name = catalog.resolve(schema) if schema else ""
    payload = find_body(env, "{}" if body is None and env.streams.stdin.isatty() else body)
    data = payload if isinstance(payload, bytes) else await payload.read_all() or b"{}"
    connection = await env.connection()
    reply = await connection.request(validate_subject(subject), data)
    try:
        response = parse_json(reply.data)
    except ValueError as error:
        raise JsctlError(
            f"the reply on {subject} is not JSON: {error}", f"{build_line('request')} shows it"
        ) from None
    if not name:
        kind = response.get("type") if isinstance(response, dict) else None
        if not isinstance(kind, str):
            raise JsctlError("the reply does not name its type", "name a schema with --schema")
        name = catalog.resolve(kind)
    return view.reply(name, find_errors(response, catalog.load_schema(name)), response, show=show)
