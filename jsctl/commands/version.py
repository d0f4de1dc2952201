"""`jsctl version`."""

import platform
from importlib import metadata
from pathlib import Path

import jsctl
from jsctl.base.json_text import parse_json
from jsctl.commands.cli import command
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.localserver import binary
from jsctl.spark.session.installation import Part, list_parts
from jsctl.views import parts as view
from jsctl.views.result import Result


@command("version", examples=["jsctl version", "jsctl version --json"])
def version(env: Env) -> Result:
    """Add this to a report of a problem. `jsctl --version` shows the version of jsctl alone.

    With --json, one document {"version", "parts": [{"part", "version", "source", "path", "error"}]}.
    """
    parts = [_describe_jsctl(), Part("System", platform.platform()), _describe_server(env), *list_parts()]
    return view.versions(parts)


def _describe_jsctl() -> Part:
    try:
        package = metadata.distribution("jsctl")
    except metadata.PackageNotFoundError:
        source = "a folder or an archive on Python's path"
    else:
        installer = (package.read_text("INSTALLER") or "an installer").strip()
        origin = parse_json(package.read_text("direct_url.json") or "{}")
        is_editable = origin.get("dir_info", {}).get("editable")
        source = "a clone" if is_editable else f"installed by {installer}"
    return Part("jsctl", jsctl.__version__, source, str(Path(jsctl.__file__).parent))


def _describe_server(env: Env) -> Part:
    try:
        found = binary.find(env.environ)
    except JsctlError as error:
        return Part("nats-server", error=str(error))
    return Part("nats-server", found.version, found.source, found.path)
