"""`jsctl audit checks`."""

from jsctl.commands.cli import command
from jsctl.env import Env
from jsctl.monitor.audit.analysis import CHECKS
from jsctl.views.audit import checks as view
from jsctl.views.result import Result


@command("checks", columns=view.COLUMNS, examples=["jsctl audit checks", "jsctl audit checks --json"])
def checks(env: Env) -> Result:
    """Show each check with its code, which is that of the nats tool; jsctl audit analyze --skip takes the
    codes.
    """
    return view.checks(CHECKS)
