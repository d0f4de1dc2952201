"""`jsctl schema info`."""

from jsctl.commands.cli import argument, command, option
from jsctl.env import Env
from jsctl.schema import catalog
from jsctl.views.result import Result
from jsctl.views.schema import schemas as view


@command(
    "info",
    examples=["jsctl schema info stream_info_response", "jsctl schema info consumer_configuration --yaml"],
)
@argument("schema")
@option("--yaml", is_flag=True, help="Show it as YAML")
def info(env: Env, schema: str, yaml: bool) -> Result:
    """Look it up by its name, or by the last part of the name. Schemas are JSON schemas, draft 7."""
    document = catalog.load_schema(catalog.resolve(schema))
    return view.document(document, as_yaml=yaml)
