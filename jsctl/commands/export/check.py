"""`jsctl export check`."""

from pathlib import Path

from jsctl.commands.cli import command, option
from jsctl.commands.export.options import SparkOptions, spark_options
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.spark.export.place_check import check_folder, check_store
from jsctl.spark.session.folders import parse_place
from jsctl.spark.session.installation import Part, list_parts
from jsctl.views import parts as view
from jsctl.views.result import Result


@command(
    "check",
    examples=[
        "jsctl export check --to orders",
        "jsctl export check --to s3a://lake/orders --packages auto",
    ],
)
@option("--to", metavar="DIR", required=True, help="Folder or URI that an export is to write to")
@spark_options
def check(env: Env, to: str, spark: SparkOptions) -> Result:
    """Show what an export to DIR needs and whether it is there: Java, Spark and Python; packages, login,
    rights, clock and space. A URI is tried with a small file, which is removed again.
    """
    place = parse_place(to, "--to")
    parts = list_parts()
    if isinstance(place, Path):
        parts += check_folder(place)
    elif not any(part.error for part in parts):
        try:
            with spark.prepare("jsctl export check", place).open() as session:
                parts += check_store(place, session)
        except JsctlError as error:
            parts.append(Part("Session", error=str(error)))
    return view.for_spark(parts, f"exports to {place} can run here")
