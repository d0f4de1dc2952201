"""`jsctl auth operator import`."""

from jsctl.auth.jwt import decode_jwt
from jsctl.auth.records import list_signing_keys
from jsctl.auth.signatures import find_operator_doubt
from jsctl.auth.store import AuthStore, check_name
from jsctl.base.files import read_text
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.operators.key_files import read_key_file
from jsctl.commands.picking.auth import read_choices
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.views.auth import operator as view
from jsctl.views.intent import Intent
from jsctl.views.result import Result


@command(
    "import", examples=["jsctl auth operator import ACME.jwt", "jsctl auth operator import ACME.jwt a.nk"]
)
@argument("file", metavar="JWT")
@argument("key_files", nargs=-1, metavar="[KEY]...")
@destructive("Replace the operator's JWT in the store")
def import_(env: Env, file: str, key_files: tuple[str, ...], force: bool) -> Result:
    """Read an operator's JWT from the file JWT, and one of its seeds from each file KEY.

    Without seeds, jsctl cannot sign the operator's accounts; somebody else must sign them.
    """
    text = read_text(expand_home(file)).strip()
    claims = decode_jwt(text)
    name, nats = str(claims.get("name", "")), claims["nats"]
    if nats.get("type") != "operator":
        raise BadInput(f"{file} is not the JWT of an operator", "use a file with an operator's JWT")
    check_name(name, "operator")
    operator_keys = {str(claims.get("sub", "")), *(signer.public for signer in list_signing_keys(nats))}
    pairs = [read_key_file(key_file) for key_file in key_files]
    for key_file, pair in zip(key_files, pairs, strict=True):
        if pair.public not in operator_keys:
            raise BadInput(f"{key_file}: {pair.public} is not a key of operator {name}")
    given_keys = {pair.public for pair in pairs}
    if doubt := find_operator_doubt(name, text, claims, given_keys.__contains__):
        raise JsctlError(str(doubt), "get the operator's JWT from where you trust")
    store = AuthStore(read_choices(env).folders, name)
    if store.operator_jwt.exists() and not force:
        raise BadInput(f"operator {name!r} already exists", "replace its JWT with --force")
    replaces = store.operator_jwt.exists()
    facts = {"operator": name, "keys": [pair.public for pair in pairs], "replaces": replaces}
    verb = "replace the JWT of operator" if replaces else "import operator"
    env.announce(Intent(f"{verb} {name}", facts))
    for pair in pairs:
        store.write_seed(pair)
    store.write_operator(text)
    return view.info_page(store)
