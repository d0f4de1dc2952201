"""`jsctl auth env`."""

from jsctl.commands.cli import command
from jsctl.commands.picking.auth import read_choices
from jsctl.env import Env
from jsctl.views.auth.choices import sheet
from jsctl.views.result import Result


@command("env", examples=["jsctl auth env", "jsctl auth env --json"])
def show_env(env: Env) -> Result:
    """Apply flags first, then what nsc uses: an operator's folder at, in or above the working folder, the
    variables NSC_HOME, NKEYS_PATH and NSC_CWD_ONLY, and nsc.json, which `nsc env` and `nsc select` write.

    nats reads none of these. It uses $XDG_DATA_HOME/nats/nsc and the operator that `auth operator select`
    selected, which takes precedence over nsc.json here, too.
    """
    return sheet(read_choices(env))
