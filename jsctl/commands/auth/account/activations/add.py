"""`jsctl auth account activations add`."""

from jsctl.auth.keys import ACCOUNT, is_public_key
from jsctl.auth.settings import parse_expiry
from jsctl.auth.sharing import check_subject, sign_activation
from jsctl.base.files import write_atomically
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import argument, command, option
from jsctl.commands.picking.auth import (
    account_argument,
    expiry_option,
    operator_option,
    pick_account,
    pick_export,
    pick_operator_account,
)
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.nats.subjects import covers
from jsctl.views.result import Result, Text


@command(
    "add",
    examples=["jsctl auth account activations add prices.get ORDERS SHOP --expiry 90d --output shop.token"],
)
@argument("subject")
@account_argument("account", metavar="ACCOUNT", default=None, required=True)
@account_argument("importer", metavar="IMPORTER|KEY", default=None, required=True)
@operator_option()
@option("--only", metavar="SUBJECT", default="", help="Allow only this part of the exported subject")
@expiry_option("the token", removable=False)
@option("--output", metavar="FILE", default="", help="Write the token to a file")
async def add(
    env: Env, subject: str, account: str, importer: str, only: str, expiry: str, output: str, operator: str
) -> Result:
    """Let IMPORTER import SUBJECT, which ACCOUNT exports. The token is for jsctl auth account imports add
    --token.

    IMPORTER may be the public key of an account that is not in the store.
    """
    store, owner = await pick_operator_account(env, operator, account)
    export = await pick_export(env, owner, subject)
    key = importer
    if not is_public_key(key, ACCOUNT):
        key = (await pick_account(env, store, key)).public
    part = check_subject(only or subject)
    if not covers(subject, part):
        raise BadInput(f"{part} is not part of {subject}")
    claims = parse_expiry(expiry, env.clock())
    signed = sign_activation(store, owner, export, part, key, claims)
    if output:
        write_atomically(expand_home(output), signed + "\n")
    data = {"account": owner.name, "subject": part, "importer": key, "token": signed}
    return Result([] if output else [Text(signed, whole=True)], data=data)
