"""Subject mappings of accounts."""

from collections.abc import Mapping, Sequence

from jsctl.auth.claims import get_weight
from jsctl.auth.mappings import list_mappings
from jsctl.auth.records import Json, Record
from jsctl.views.result import Cell, Column, Field, InfoPage, Result, Section, Table

COLUMNS = (
    Column("Source Subject", "source"),
    Column("Target Subject", "subject"),
    Column("Weight", "weight", "count"),
    Column("Cluster", "cluster", optional=True),
)


def listing(account: Record) -> Result:
    """Show the mappings of an account."""
    rows = [
        (source, str(target.get("subject", "")), _format_weight(target), str(target.get("cluster") or ""))
        for source, targets in list_mappings(account.nats).items()
        for target in targets
    ]
    table = Table(f"Subject Mappings of {account.name}", COLUMNS, rows, empty="No mappings")
    return Result([table])


def info_page(account: Record, mappings: Mapping[str, Sequence[Json]]) -> Result:
    """Show some mappings; the document has the keys of `nats`, capitalized, beside those of the claim."""
    sections = []
    for source, targets in mappings.items():
        fields = [
            Field(str(target.get("subject", "")), f"{get_weight(target)}%{_format_cluster(target)}")
            for target in targets
        ]
        sections.append(Section(source, fields))
    data = {source: [_build_record(target) for target in targets] for source, targets in mappings.items()}
    return Result([InfoPage(f"Subject Mappings of Account {account.name}", sections)], data=data)


def _build_record(target: Json) -> Json:
    capitalized = {
        "Subject": target.get("subject", ""),
        "Weight": get_weight(target),
        "Cluster": target.get("cluster") or "",
    }
    return {**target, **capitalized}


def _format_weight(target: Json) -> Cell:
    return Cell(get_weight(target), f"{get_weight(target)}%")


def _format_cluster(target: Json) -> str:
    return f" in cluster {target['cluster']}" if target.get("cluster") else ""
