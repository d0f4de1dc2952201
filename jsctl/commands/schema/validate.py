"""`jsctl schema validate`."""

from jsctl.base.files import CONFIG_SIZE, read_input
from jsctl.base.json_text import parse_json
from jsctl.commands.cli import argument, command
from jsctl.commands.options.body import find_stdin
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.message.stdin import STDIN
from jsctl.schema import catalog
from jsctl.schema.validator import find_errors
from jsctl.views.result import Result
from jsctl.views.schema import schemas as view


@command(
    "validate",
    examples=[
        "jsctl schema validate stream_configuration orders.json",
        "jsctl stream info ORDERS --json | jsctl schema validate stream_info_response",
    ],
)
@argument("schema")
@argument("file", metavar="[FILE]", label="JSON file to validate", path=True, or_stdin=True)
async def validate(env: Env, schema: str, file: str | None) -> Result:
    """Read JSON from FILE or, without it or with -, from stdin. If the document is not valid, the exit status
    is 1, with one error per line.
    """
    name = catalog.resolve(schema)
    if file is None or file == STDIN:
        stdin = find_stdin(env, "the document", forced=file is not None)
        document: bytes | str = await stdin.read_all(CONFIG_SIZE)
        file = STDIN
    else:
        document = read_input(file, env.streams.stdin)
    try:
        parsed = parse_json(document)
    except ValueError as error:
        raise BadInput(f"{file} is not JSON", str(error)) from None
    return view.validated(file, name, find_errors(parsed, catalog.load_schema(name)))
