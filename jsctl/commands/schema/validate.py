"""`jsctl schema validate`."""

from jsctl.commands.cli import argument, command
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.files import read_input
from jsctl.json_text import parse_json
from jsctl.schema import catalog
from jsctl.schema.validator import find_errors
from jsctl.views.result import Result
from jsctl.views.schema import schemas as view


@command(
    "validate",
    examples=[
        "jsctl schema validate stream_configuration orders.json",
        "jsctl schema validate stream_info_response - --json",
    ],
)
@argument("schema")
@argument("file", metavar="FILE", label="JSON file to validate", path=True)
def validate(env: Env, schema: str, file: str) -> Result:
    """Read JSON from FILE; - is stdin. If the document is not valid, the exit status is 1, with one error per
    line.
    """
    name = catalog.resolve(schema)
    try:
        document = parse_json(read_input(file, env.streams.stdin))
    except ValueError as error:
        raise BadInput(f"{file} is not JSON", str(error)) from None
    return view.validated(file, name, find_errors(document, catalog.load_schema(name)))
