"""`jsctl auth nkey verify`."""

import base64
import binascii

from jsctl.auth.keys import verify_signature
from jsctl.base.command_lines import build_line
from jsctl.commands.auth.nkey.files import read_data, read_public_key
from jsctl.commands.cli import argument, command
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.views.result import Result, Text


@command("verify", examples=["jsctl auth nkey verify release.tar release.sig operator.pub"])
@argument("file")
@argument("signature")
@argument("key_file", metavar="KEY")
def verify(env: Env, file: str, signature: str, key_file: str) -> Result:
    """Use the public key or seed in the file KEY. The exit status is 1 if the signature is invalid."""
    public = read_public_key(key_file)
    encoded = read_data(signature).strip()
    try:
        raw = base64.b64decode(encoded + b"=" * (-len(encoded) % 4), altchars=b"-_", validate=True)
    except binascii.Error:
        raise BadInput(
            f"{signature} is not a signature", f"create one with {build_line('auth nkey sign')}"
        ) from None
    if not verify_signature(public, read_data(file), raw):
        raise JsctlError(f"{public} did not sign {file}", "check the file, the signature and the key")
    return Result([Text("Verified OK", "good")], data={"public": public, "verified": True})
