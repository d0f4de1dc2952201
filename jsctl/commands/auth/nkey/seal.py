"""`jsctl auth nkey seal` and `unseal`."""

import base64
import binascii

from jsctl.commands.auth.nkey.files import base64_option, read_data, read_key_file, write_or_show
from jsctl.commands.cli import argument, command, option
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.views.result import Result


@command("seal", examples=["jsctl auth nkey seal report.pdf mine.nk XDZPPDM... --output report.sealed"])
@argument("file")
@argument("key_file", metavar="KEY")
@argument("recipient")
@option("--output", metavar="FILE", default="", help="Write the result to a file")
@base64_option("Write base64 (by default)")
def seal(env: Env, file: str, key_file: str, recipient: str, output: str, b64: bool) -> Result:
    """Use the curve seed in the file KEY, and RECIPIENT, the public curve key of the reader."""
    sealed = read_key_file(key_file).seal(read_data(file), recipient)
    return write_or_show(env, base64.b64encode(sealed) if b64 else sealed, output)


@command("unseal", examples=["jsctl auth nkey unseal report.sealed mine.nk XBGDJYM... --output report.pdf"])
@argument("file")
@argument("key_file", metavar="KEY")
@argument("sender")
@option("--output", metavar="FILE", default="", help="Write the data to a file")
@base64_option("Read base64 (by default)")
def unseal(env: Env, file: str, key_file: str, sender: str, output: str, b64: bool) -> Result:
    """Use the curve seed in the file KEY, and SENDER, the public curve key of the sender."""
    sealed = read_data(file)
    if b64:
        try:
            sealed = base64.b64decode(sealed.strip(), validate=True)
        except binascii.Error:
            raise BadInput(f"{file} is not base64", "use --no-b64 for binary data") from None
    return write_or_show(env, read_key_file(key_file).unseal(sealed, sender), output)
