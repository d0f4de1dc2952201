"""`jsctl auth operator backup`."""

import base64

from jsctl.auth.archive import export_operator
from jsctl.base.files import escape_path, is_replaced, write_atomically
from jsctl.base.units import pluralize
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.operators.key_files import read_key_file
from jsctl.commands.operators.signing import report_doubts
from jsctl.commands.picking.auth import operator_argument, pick_operator
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.views.intent import file_intent
from jsctl.views.result import Result


@command(
    "backup",
    examples=[
        "jsctl auth operator backup ACME acme.json",
        "jsctl auth operator backup ACME acme.sealed --key backup.nk",
    ],
)
@operator_argument()
@argument("output")
@option("--key", metavar="FILE", default="", help="Encrypt with the curve seed in this file")
@destructive("Overwrite the file")
async def backup(env: Env, name: str, output: str, key: str, force: bool) -> Result:
    """Write the operator with its accounts, users and all seeds to a file that only you can read."""
    path = expand_home(output)
    if is_replaced(path) and not force:
        raise BadInput(f"the file {escape_path(path)} exists", "overwrite it with --force")
    pair = read_key_file(key) if key else None
    store = await pick_operator(env, name, flag="NAME")
    report_doubts(env, store)
    text = export_operator(store)
    if pair:
        text = base64.b64encode(pair.seal(text.encode(), pair.public)).decode()
    accounts = len(store.list_account_names())
    data = {"operator": store.operator, "accounts": accounts, "output": output, "encrypted": bool(pair)}
    description = f"operator {store.operator} with {pluralize(accounts, 'account')}"
    env.announce(file_intent(description, path, data))
    write_atomically(path, text)
    if not pair:
        env.say("jsctl: the file contains secrets and is not encrypted; encrypt it with --key")
    env.inform(f"jsctl: wrote {description} to {escape_path(path)}")
    return Result(data=data)
