"""`jsctl auth env`."""

from jsctl.auth.folders import Choices
from jsctl.commands.cli import command
from jsctl.commands.picking.auth import read_choices
from jsctl.env import Env
from jsctl.views.result import Cell, Field, InfoPage, Result, Section


def _build_page(choices: Choices) -> Result:
    """Show what is used when a command line does not name an operator or account, and what decided it."""
    rows = {
        "stores": ("Folder of Operators", choices.stores),
        "keys": ("Folder of Keys", choices.keys),
        "operator": ("Operator", choices.operator),
        "account": ("Account", choices.account),
    }
    fields = [
        Field(
            label, Cell(chosen.value, f"{chosen.value} ({chosen.by})" if chosen.value else "none: name one")
        )
        for label, chosen in rows.values()
    ]
    settings = choices.settings
    missing_note = "" if settings.exists() else " (missing)"
    fields.append(Field("Settings of nsc", Cell(str(settings), f"{settings}{missing_note}")))
    data = {key: {"value": chosen.value, "by": chosen.by} for key, (_, chosen) in rows.items()}
    heading = "Used when a command line names nothing else"
    return Result([InfoPage(heading, [Section("", fields)])], data={**data, "nsc": str(settings)})


@command("env", examples=["jsctl auth env", "jsctl auth env --json"])
def show_env(env: Env) -> Result:
    """Apply flags first, then what nsc uses: an operator's folder at, in or above the working folder, the
    variables NSC_HOME, NKEYS_PATH and NSC_CWD_ONLY, and nsc.json, which `nsc env` and `nsc select` write.

    nats reads none of these. It uses $XDG_DATA_HOME/nats/nsc and the operator that `auth operator select`
    selected, which takes precedence over nsc.json here, too.
    """
    return _build_page(read_choices(env))
