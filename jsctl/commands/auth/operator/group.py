"""`jsctl auth operator` and its commands."""

import base64
import binascii

from jsctl.auth.archive import export_operator, import_operator
from jsctl.auth.changes import SYSTEM_ACCOUNT, create_operator
from jsctl.auth.folders import read_selected_operator, select_operator
from jsctl.auth.jwt import decode_jwt
from jsctl.auth.records import Json, list_signing_keys
from jsctl.auth.settings import change_tags, check_url
from jsctl.auth.signatures import find_operator_doubt
from jsctl.auth.store import AuthStore, check_name
from jsctl.base.files import CONFIG_SIZE, escape_path, is_replaced, read_text, write_atomically
from jsctl.base.units import pluralize
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.operators.key_files import read_key_file
from jsctl.commands.operators.signing import report_doubts
from jsctl.commands.picking.auth import (
    ask_name,
    load_each,
    operator_argument,
    pick_operator,
    pick_text,
    read_choices,
)
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.views.auth import operator as view
from jsctl.views.intent import Intent, file_intent
from jsctl.views.result import Result, list_names


@command("list", columns=view.COLUMNS, examples=["jsctl auth operator ls", "jsctl auth operator ls --names"])
@option("--names", is_flag=True, help="Only names, one per line")
def list_(env: Env, names: bool) -> Result:
    choices = read_choices(env)
    operator_names = choices.folders.list_operators()
    if names:
        return list_names(operator_names)
    operators = load_each(env, operator_names, lambda name: AuthStore(choices.folders, name).load_operator())
    return view.listing(choices.folders, operators, choices.operator.value)


@command(
    "add", examples=["jsctl auth operator add ACME", "jsctl auth operator add ACME --tags prod --strict"]
)
@operator_argument()
@option("--service", metavar="URL", multiple=True, help="URLs of the operator's servers; may be repeated")
@option("--account-server", metavar="URL", default="", help="URL of the account server, nats:// or http://")
@option("--signing-key/--no-signing-key", default=True, help="Create a signing key, too (by default)")
@option("--strict", is_flag=True, help="Let only signing keys sign accounts and users")
@option(
    "--system-account", metavar="NAME", default=SYSTEM_ACCOUNT, help="Name of the system account (SYSTEM)"
)
@option("--tags", metavar="TAG", multiple=True, help="Tags of the operator; may be repeated")
async def add(
    env: Env,
    name: str,
    service: tuple[str, ...],
    account_server: str,
    signing_key: bool,
    strict: bool,
    system_account: str,
    tags: tuple[str, ...],
) -> Result:
    """Store the seeds of its keys in files that only you can read."""
    name = await ask_name(env, name, "operator")

    def change(nats: Json) -> None:
        change_tags(nats, tags, ())
        if urls := [check_url(url, "--service") for url in service if url]:
            nats["operator_service_urls"] = urls
        if account_server:
            nats["account_server_url"] = check_url(account_server, "--account-server")
        if strict:
            nats["strict_signing_key_usage"] = True

    store = AuthStore(read_choices(env).folders, name)
    create_operator(store, change, signing=signing_key or strict, system=system_account)
    return view.info_page(store)


@command("info", examples=["jsctl auth operator info ACME", "jsctl auth operator info --json"])
@operator_argument()
async def info(env: Env, name: str) -> Result:
    """Print the claims as they are in the JWT with --json, with the JWT itself and the accounts."""
    return view.info_page(await pick_operator(env, name, flag="NAME"))


@command("select", examples=["jsctl auth operator select ACME"])
@operator_argument()
async def select(env: Env, name: str) -> Result:
    """Use the operator in all commands that do not name one; nats uses it, too."""
    operators = read_choices(env).folders.list_operators()
    if not name and len(operators) > 1:
        name = await pick_text(env, operators, "operator", "Operator", "NAME")
    store: AuthStore = await pick_operator(env, name, flag="NAME")
    before = read_selected_operator(env.environ)
    select_operator(env.environ, store.operator)
    env.inform(f"jsctl: operator {store.operator} is selected")
    return Result(data={"selected": store.operator, "before": before})


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


@command("restore", examples=["jsctl auth operator restore ACME acme.sealed --key backup.nk"])
@argument("name")
@argument("input")
@option("--key", metavar="FILE", default="", help="Decrypt with the curve seed in this file")
def restore(env: Env, name: str, input: str, key: str) -> Result:
    """Add the operator to the store, which must not have it yet."""
    pair = read_key_file(key) if key else None
    text = read_text(expand_home(input), "", CONFIG_SIZE)
    if pair:
        try:
            sealed = base64.b64decode(text.strip(), validate=True)
        except binascii.Error:
            raise BadInput(f"{input} is not encrypted", "leave out --key") from None
        text = pair.unseal(sealed, pair.public).decode(errors="replace")
    elif not text.lstrip().startswith("{"):
        raise BadInput(f"{input} is encrypted, or not a backup", "decrypt it with --key")
    store = AuthStore(read_choices(env).folders, name)
    import_operator(store, text)
    report_doubts(env, store)
    return view.info_page(store)
