"""`auth env`."""

from jsctl.auth.folders import Choices
from jsctl.views.result import Cell, Field, Result, Section, Sheet


def sheet(choices: Choices) -> Result:
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
    return Result([Sheet(heading, [Section("", fields)])], data={**data, "nsc": str(settings)})
