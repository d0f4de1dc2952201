"""Files of alerts, and recordings that they are tried on."""

from collections.abc import Sequence

from jsctl.base.files import read_input
from jsctl.base.user_folders import expand_home
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor.alerts.rules import AlertFile, parse_alerts
from jsctl.monitor.alerts.trying import Trial, run_trials
from jsctl.monitor.report.replay import Replay
from jsctl.views.report import alerts as view
from jsctl.views.result import Result


def load_alerts(env: Env, path: str) -> AlertFile:
    """Return a file of alerts; - is stdin. Raises BadInput."""
    return parse_alerts(read_input(path, env.streams.stdin), "stdin" if path == "-" else path)


async def try_alerts(env: Env, path: str, recording: str) -> Result:
    """Return what would have happened in a recording. Raises BadInput."""
    [trial] = await run_trials([load_alerts(env, path)], Replay(expand_home(recording)))
    return view.show_trial(trial, path, recording)


async def try_each(env: Env, paths: Sequence[str], recording: str) -> list[Trial]:
    """Return the trial of each file on a recording. Raises BadInput."""
    if paths.count("-") > 1:
        raise BadInput("only one file can be stdin", "name the other one")
    return await run_trials([load_alerts(env, path) for path in paths], Replay(expand_home(recording)))
