"""`jsctl auth operator restore`."""

import base64
import binascii

from jsctl.auth.archive import import_operator
from jsctl.auth.store import AuthStore
from jsctl.base.files import CONFIG_SIZE, read_text
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import argument, command, option
from jsctl.commands.operators.key_files import read_key_file
from jsctl.commands.operators.signing import report_doubts
from jsctl.commands.picking.auth import read_choices
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.views.auth import operator as view
from jsctl.views.result import Result


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
