"""`jsctl auth nkey seal`."""

import base64

from jsctl.commands.auth.nkey.files import base64_option, read_data, read_key_file, write_or_show
from jsctl.commands.cli import argument, command, option
from jsctl.env import Env
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
