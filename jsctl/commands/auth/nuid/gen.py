"""`jsctl auth nuid gen`."""

import secrets
import string

from jsctl.commands.cli import command
from jsctl.env import Env
from jsctl.views.result import Result, Text

_DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase
_LENGTH = 22


@command("gen", examples=["jsctl auth nuid gen"])
def gen(env: Env) -> Result:
    """Show a new NUID: 22 digits and letters, as clients name their inboxes."""
    nuid = "".join(secrets.choice(_DIGITS) for _ in range(_LENGTH))
    return Result([Text(nuid, whole=True)], data={"nuid": nuid})
