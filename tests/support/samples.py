"""Samples of reports, as the tables of `export reports` have them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from jsctl.spark.export.report_tables import SCHEMAS

BEGIN = datetime(2026, 11, 20, 23, 57, tzinfo=UTC)

_VALUES = {"string": "x", "long": 0, "duration": 0, "boolean": False, "timestamp": BEGIN}


def build_sample(report: str, minute: float, **values: Any) -> dict[str, Any]:
    """Return a sample. minute: after BEGIN. values: by column, instead of zeros and one name for all."""
    row = {column.name: _VALUES[column.type] for column in SCHEMAS[report].columns}
    nothing = {"offline": None} if report == "streams" else {}
    return row | nothing | values | {"sampled_at": BEGIN + timedelta(minutes=minute)}
