"""`jsctl object link`."""

import click

from jsctl.commands.cli import argument, command
from jsctl.commands.object.flags import BUCKET, bucket_argument
from jsctl.commands.picking.pick import validate_name
from jsctl.env import Env
from jsctl.jetstream.object import requests
from jsctl.jetstream.object.model import Link
from jsctl.views.object import object_info as view
from jsctl.views.result import Result


def _complete_target(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from jsctl.commands.completing.names import complete_names

    target = str(ctx.params.get("target") or "")
    return complete_names("object", ctx, incomplete, target) if target else []


@command(
    "link",
    examples=[
        "jsctl object link FILES latest.pdf FILES report.pdf",
        "jsctl object link FILES archive OLD_FILES",
    ],
)
@bucket_argument(required=True)
@argument("name", metavar="NAME", label="Name of the link")
@argument("target", noun=BUCKET, metavar="TO_BUCKET")
@argument("target_object", metavar="[TO_OBJECT]", default="", shell_complete=_complete_target)
async def link(env: Env, bucket: str, name: str, target: str, target_object: str) -> Result:
    """Name the link NAME in BUCKET. Without TO_OBJECT it leads to the whole bucket. `object get` follows
    links to objects.
    """
    api = await env.jetstream()
    bucket = validate_name(BUCKET, bucket)
    leads_to = Link(validate_name(BUCKET, target), target_object)
    return view.one_object(await requests.link(api, bucket, name, leads_to))
