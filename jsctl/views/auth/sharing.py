"""Exports and imports of accounts."""

from jsctl.auth.claims import find_local_subject
from jsctl.auth.jwt import decode_jwt
from jsctl.auth.records import Json, Record
from jsctl.auth.sharing import SERVICE, get_kind, list_exports, list_importers, list_imports
from jsctl.auth.signatures import find_activation_problem
from jsctl.auth.store import AuthStore
from jsctl.base.units import SECOND, format_exact_duration
from jsctl.errors import BadInput
from jsctl.views.result import Cell, Column, Field, InfoPage, Result, Section, Table

EXPORT_COLUMNS = (
    Column("Name", "name"),
    Column("Kind", "kind"),
    Column("Subject", "subject"),
    Column("Activation Required", "private", "bool"),
    Column("Advertised", "advertised", "bool", hideable=1),
    Column("Token Position", "token_position", "count", hideable=2),
    Column("Revocations", "revocations", "count", hideable=3),
    Column("Imported by", "importers"),
)
IMPORT_COLUMNS = (
    Column("Name", "name"),
    Column("Kind", "kind"),
    Column("Source", "source"),
    Column("Local Subject", "local_subject"),
    Column("Remote Subject", "subject"),
    Column("Allows Tracing", "allow_trace", "bool", hideable=1),
    Column("Shares Connection", "share", "bool", hideable=2),
    Column("Token", "token", "bool", hideable=3),
)


def exports(account: Record, store: AuthStore) -> Result:
    """Show the exports of an account."""
    rows = []
    for export in list_exports(account.nats):
        names = list_importers(store, account, export)
        rows.append(
            (
                str(export.get("name", "")),
                get_kind(export),
                str(export.get("subject", "")),
                bool(export.get("token_req")),
                bool(export.get("advertise")),
                int(export.get("account_token_position") or 0),
                len(export.get("revocations") or {}),
                Cell(names, ", ".join(names)),
            )
        )
    return Result([Table(f"Exports of {account.name}", EXPORT_COLUMNS, rows, empty="No exports")])


def imports(account: Record, store: AuthStore) -> Result:
    """Show the imports of an account."""
    names = {other.public: other.name for other in store.load_accounts()}
    rows = [
        (
            str(claim.get("name", "")),
            get_kind(claim),
            Cell(claim.get("account"), names.get(str(claim.get("account")), str(claim.get("account")))),
            find_local_subject(claim),
            str(claim.get("subject", "")),
            bool(claim.get("allow_trace")),
            bool(claim.get("share")),
            bool(claim.get("token")),
        )
        for claim in list_imports(account.nats)
    ]
    return Result([Table(f"Imports of {account.name}", IMPORT_COLUMNS, rows, empty="No imports")])


def export_page(export: Json, store: AuthStore, account: Record) -> Result:
    """Show an export; the document is its claim."""
    subject = str(export.get("subject", ""))
    fields = [
        Field("Name", str(export.get("name", ""))),
        *_build_text_fields(export, description="Description", info_url="Info"),
        Field("Account", f"{account.name} ({account.public})"),
        Field("Kind", get_kind(export)),
        Field("Subject", subject),
        Field("Activation Required", bool(export.get("token_req")), "bool"),
        Field("Account Token Position", int(export.get("account_token_position") or 0) or Cell(0, "none")),
        Field("Advertised", bool(export.get("advertise")), "bool"),
    ]
    if get_kind(export) == SERVICE:
        fields.append(Field("Response Type", str(export.get("response_type") or "Singleton")))
        if threshold := export.get("response_threshold"):
            fields.append(Field("Response Threshold", Cell(threshold, format_exact_duration(int(threshold)))))
        if latency := export.get("service_latency"):
            sampling = latency.get("sampling")
            sample = f"{sampling}%" if isinstance(sampling, int) else "requests with a trace header"
            fields.append(Field("Latency", f"{latency.get('results')} ({sample})"))
        fields.append(Field("Allows Tracing", bool(export.get("allow_trace")), "bool"))
    if names := list_importers(store, account, export):
        fields.append(Field("Imported by", names))
    sections = [Section("Configuration", fields)]
    if revoked := export.get("revocations"):
        account_names = {other.public: other.name for other in store.load_accounts()}
        lines = [
            Field(account_names.get(key, key), int(time) * SECOND, "time")
            for key, time in sorted(revoked.items())
        ]
        sections.append(Section("Revocations: tokens up to", lines))
    return Result([InfoPage(f"Export {subject} of Account {account.name}", sections)], data=export)


def import_page(imported: Json, store: AuthStore, account: Record) -> Result:
    """Show an import; the document is its claim."""
    source = str(imported.get("account", ""))
    name = next((other.name for other in store.load_accounts() if other.public == source), "")
    fields = [
        Field("Name", str(imported.get("name", ""))),
        Field("From Account", f"{name} ({source})" if name else source),
        Field("Local Subject", find_local_subject(imported)),
        Field("Kind", get_kind(imported)),
        Field("Remote Subject", str(imported.get("subject", ""))),
    ]
    if get_kind(imported) == SERVICE:
        fields.append(Field("Shares Connection", bool(imported.get("share")), "bool"))
    else:
        fields.append(Field("Allows Tracing", bool(imported.get("allow_trace")), "bool"))
    if token := imported.get("token"):
        fields += _build_token_fields(str(token), str(imported.get("account")))
    heading = f"Import {find_local_subject(imported)} of Account {account.name}"
    return Result([InfoPage(heading, [Section("Configuration", fields)])], data=imported)


def _build_token_fields(token: str, source: str) -> list[Field]:
    if token.startswith(("http://", "https://")):
        return [Field("Activation Token", token)]
    try:
        claims = decode_jwt(token)
    except BadInput:
        return [Field("Activation Token", Cell("broken", "damaged", "bad"))]
    fields = [Field("Activation Token", f"for {claims['nats'].get('subject')}")]
    if problem := find_activation_problem(token, claims, source):
        fields.append(Field("Not Genuine", Cell(problem, problem, "bad")))
    expiry = claims.get("exp")
    return [*fields, Field("Token Expiry", expiry * SECOND, "time")] if isinstance(expiry, int) else fields


def _build_text_fields(member: Json, **labels: str) -> list[Field]:
    return [Field(label, str(member[key])) for key, label in labels.items() if member.get(key)]
