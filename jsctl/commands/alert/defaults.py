"""`jsctl alert defaults`."""

from importlib import resources

from jsctl.commands.cli import command
from jsctl.env import Env
from jsctl.jetstream.config.documents import parse_document
from jsctl.views.result import Result, Text


@command("defaults", examples=["jsctl alert defaults > alerts.yaml", "jsctl alert defaults --json"])
def defaults(env: Env) -> Result:
    """Print alerts on what the rules of jsctl doctor find, on lags, limits and what does not answer. Its
    comments say what can be changed. --json writes the same as JSON, which is a file of alerts, too.
    """
    text = resources.files("jsctl.monitor.alerts").joinpath("defaults.yaml").read_text(encoding="utf-8")
    return Result([Text(text.rstrip("\n"), whole=True)], parse_document(text, "defaults.yaml").to_json())
