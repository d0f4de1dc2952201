"""The settings of an export that its checkpoint records: a table is continued with the same."""

from typing import Any

from jsctl.errors import BadInput
from jsctl.spark.export.layout import TableLayout
from jsctl.spark.export.stream_plan import Selection


def build_settings(
    layout: TableLayout, selection: Selection, found: TableLayout | None = None
) -> dict[str, Any]:
    """Return the settings for a checkpoint. found: the layout with a schema that was not given."""
    return {
        **layout.build_settings(),
        "schema": found.schema if found else "",
        "subject": list(selection.subjects),
        "given": layout.schema,
        "found_message": found.message if found else "",
    }


def check_settings(table: str, layout: TableLayout, selection: Selection, earlier: dict[str, Any]) -> None:
    """Raise BadInput when a table was exported with other settings than this run's. earlier: those of its
    checkpoint."""
    for name, value in build_settings(layout, selection).items():
        if name in ("given", "found_message"):
            continue
        if name == "schema":
            if layout.schema and layout.schema != earlier.get("given"):
                raise BadInput(f"{table} was exported with another --schema", "use the same one")
        elif earlier.get(name, type(value)()) != value:  # a table may be older than a setting
            flag = "--" + name.replace("_", "-")
            raise BadInput(
                f"{table} was exported with other {flag}: {_format_setting(earlier.get(name))}",
                "use the same, or another folder",
            )


def _format_setting(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value) or "none"
