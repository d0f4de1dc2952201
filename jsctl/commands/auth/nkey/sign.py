"""`jsctl auth nkey sign`."""

import base64

from jsctl.commands.auth.nkey.files import read_data, read_key_file
from jsctl.commands.cli import argument, command
from jsctl.env import Env
from jsctl.views.result import Result, Text


@command("sign", examples=["jsctl auth nkey sign release.tar operator.nk > release.sig"])
@argument("file")
@argument("key_file", metavar="KEY")
def sign(env: Env, file: str, key_file: str) -> Result:
    """Use the seed in the file KEY. The signature is URL-safe base64 without padding."""
    pair = read_key_file(key_file)
    signature = base64.urlsafe_b64encode(pair.sign(read_data(file))).decode().rstrip("=")
    return Result([Text(signature, whole=True)], data={"public": pair.public, "signature": signature})
