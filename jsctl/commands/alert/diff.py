"""`jsctl alert diff`."""

from jsctl.commands.alerting.files import try_each
from jsctl.commands.cli import argument, command, option
from jsctl.env import Env
from jsctl.views.report import alerts as view
from jsctl.views.result import Result


@command(
    "diff",
    columns=(),
    examples=["jsctl alert diff alerts.yaml new.yaml --replay today.jsctl"],
)
@argument("old", label="File of alerts, - for stdin", path=True)
@argument("new", label="File of alerts after the change", path=True)
@option("--replay", metavar="FILE", required=True, help="Recording of jsctl report --record to try them on")
async def diff(env: Env, old: str, new: str, replay: str) -> Result:
    """Try the alerts of OLD and NEW on the rounds of a recording, and show what only one of them would have
    done: - is what OLD alone would have done, + what NEW alone would have, also where only who is told
    or the severity differ. No server is asked. The status is 2 for differences.
    """
    trials = await try_each(env, (old, new), replay)
    return view.show_difference(trials[0], trials[1], (old, new), replay)
