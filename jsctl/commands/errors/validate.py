"""`jsctl errors validate`."""

from jsctl.base.units import pluralize
from jsctl.commands.cli import argument, command
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream import error_catalog
from jsctl.views.result import Result, Text


@command("validate", examples=["jsctl errors validate errors.json"])
@argument("file", default="")
def validate(env: Env, file: str) -> Result:
    path = file or env.flags.get("errors_file", "")
    if not path:
        raise BadInput("the name of the file is missing", "specify FILE or --errors FILE")
    return check(env, path)


def check(env: Env, path: str) -> Result:
    """Check a file and report every problem on stderr. Raises JsctlError when there is one."""
    entries = error_catalog.read(path)
    problems = {entry["error_code"]: error_catalog.find_problems(entry) for entry in entries}
    for number in error_catalog.find_duplicates(entries):
        problems[number].append("the code occurs more than once")
    invalid = {number: reasons for number, reasons in problems.items() if reasons}
    for number, reasons in invalid.items():
        env.say(f"{number} failed: {'; '.join(reasons)}")
    if invalid:
        raise JsctlError(f"{path} is not valid: {len(invalid)} of {len(entries)} errors are wrong")
    return Result(
        [Text(f"Validated {pluralize(len(entries), 'error')}")], data={"file": path, "errors": len(entries)}
    )
