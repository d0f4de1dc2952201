"""`jsctl errors validate`."""

from jsctl.commands.cli import argument, command
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream import error_codes
from jsctl.views.result import Result, Text


@command("validate", examples=["jsctl errors validate errors.json"])
@argument("file", default="")
def validate(env: Env, file: str) -> Result:
    path = file or env.flags.get("errors_file", "")
    if not path:
        raise BadInput("the file is missing", "give FILE or --errors FILE")
    return check(env, path)


def check(env: Env, path: str) -> Result:
    """Tell what is wrong on stderr. Raises JsctlError when something is."""
    found = error_codes.read(path)
    wrong = {entry["error_code"]: error_codes.problems(entry) for entry in found}
    for number in error_codes.duplicates(found):
        wrong[number].append("the code is there more than once")
    bad = {number: what for number, what in wrong.items() if what}
    for number, what in bad.items():
        env.say(f"{number} failed: {'; '.join(what)}")
    if bad:
        raise JsctlError(f"{path} is invalid: {len(bad)} of {len(found)} errors are wrong")
    return Result([Text(f"Validated {len(found)} errors")], data={"file": path, "errors": len(found)})
