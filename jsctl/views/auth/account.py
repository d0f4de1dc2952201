"""`auth account`."""

from collections.abc import Sequence

from jsctl.auth.claims import as_objects
from jsctl.auth.fields import ACCOUNT, ACCOUNT_LIMITS, JETSTREAM_LIMITS
from jsctl.auth.records import Json, Record, has_jetstream, list_signing_keys, list_tiers
from jsctl.auth.store import AuthStore
from jsctl.jetstream.config.schema import get_value
from jsctl.views.auth.common import (
    build_claim_fields,
    build_document,
    build_doubt_fields,
    build_permission_fields,
    build_validity_fields,
    format_doubt,
    list_users,
)
from jsctl.views.result import Cell, Column, Field, InfoPage, Result, Section, Table

COLUMNS = (
    Column("Name", "name"),
    Column("Subject", "subject"),
    Column("Users", "users", "count"),
    Column("JetStream", "jetstream", "bool"),
    Column("System", "system", "bool"),
    Column("Not Genuine", "not_genuine", "prose", optional=True),
)
_LIMIT_KEYS = tuple(field.key for field in ACCOUNT_LIMITS)
_ALWAYS_SHOWN = tuple(key for key in _LIMIT_KEYS if key != "limits.data")


def info_page(account: Record, store: AuthStore | None = None) -> Result:
    """Show an account; the document is its claims, with its JWT and users as in `nats`, without seeds. store:
    its store; None for an account from a server."""
    nats = account.nats
    heading = f"Account {account.name} ({account.public})"
    sections = [
        Section("Configuration", _build_configuration_fields(account, store)),
        Section("Limits", build_claim_fields(ACCOUNT, _fill_zero_limits(nats), *_list_limit_keys(nats))),
    ]
    if has_jetstream(nats):
        sections.append(Section("JetStream", build_claim_fields(ACCOUNT, nats, "cluster_traffic")))
        for tier, place in list_tiers(nats):
            title = f"JetStream Limits {tier}".strip()
            keys = [field.key for field in JETSTREAM_LIMITS]
            sections.append(
                Section(title, build_claim_fields(ACCOUNT, {"limits": _fill_tier_limits(place)}, *keys))
            )
    if permissions := build_permission_fields(nats.get("default_permissions") or {}):
        permissions += build_claim_fields(
            ACCOUNT, nats, "default_permissions.resp.max", "default_permissions.resp.ttl"
        )
        sections.append(Section("Default Permissions", permissions))
    data = {**build_document(account), "token": account.token}
    if store:
        data["users"] = list_users(store, account)
    return Result([InfoPage(heading, sections)], data=data)


def listing(store: AuthStore, accounts: Sequence[Record], system: str) -> Result:
    """Show the accounts of an operator. system: the public key of the system account."""
    rows = [
        (
            account.name,
            account.public,
            len(store.list_user_names(account.name)),
            _format_flag(has_jetstream(account.nats)),
            _format_flag(account.public == system),
            format_doubt(account),
        )
        for account in accounts
    ]
    return Result(
        [
            Table(
                f"Accounts of {store.operator}",
                COLUMNS,
                rows,
                empty="No accounts",
            )
        ]
    )


def _format_flag(value: bool) -> Cell:
    return Cell(value, "true" if value else "")


def _get_limits(nats: Json) -> Json:
    limits = nats.get("limits")
    return limits if isinstance(limits, dict) else {}


def _list_limit_keys(nats: Json) -> list[str]:
    return [key for key in _LIMIT_KEYS if key in _ALWAYS_SHOWN or _get_limits(nats).get("data", -1) != -1]


def _fill_zero_limits(nats: Json) -> Json:
    """Return the claims with the limits that Go omits because they are 0."""
    numeric_keys = [key for key in _ALWAYS_SHOWN if key not in ("limits.disallow_bearer", "limits.wildcards")]
    missing = {
        key.removeprefix("limits."): 0 for key in numeric_keys if get_value(nats, key.split(".")) is None
    }
    return {**nats, "limits": {**missing, **_get_limits(nats)}}


def _fill_tier_limits(place: Json) -> Json:
    """Return a tier's limits with the meaning of missing values: no storage and no streams, but no limit per
    stream.
    """
    missing = {"disk_storage": 0, "mem_storage": 0, "streams": 0, "consumer": 0}
    unlimited = {
        key: -1
        for key in ("max_ack_pending", "disk_max_stream_bytes", "mem_max_stream_bytes")
        if not place.get(key)
    }
    return {**missing, **place, **unlimited}


def _build_configuration_fields(account: Record, store: AuthStore | None) -> list[Field]:
    nats = account.nats
    fields = [*build_doubt_fields(account), Field("Name", account.name), Field("Issuer", account.issuer)]
    if store:
        operator = store.load_operator()
        is_system = operator.nats.get("system_account") == account.public
        fields += [Field("Operator", operator.name), Field("System Account", is_system, "bool")]
    if account.tags:
        fields.append(Field("Tags", account.tags))
    fields += build_claim_fields(ACCOUNT, nats, "description", "info_url")
    fields.append(Field("JetStream", has_jetstream(nats), "bool"))
    fields += build_validity_fields(account)
    if store:
        fields.append(Field("Users", len(store.list_user_names(account.name)), "count"))
    kinds = [
        (
            f"{kind.capitalize()} {claim_key.capitalize()}",
            len([claim for claim in as_objects(nats.get(claim_key)) if _format_kind(claim) == kind]),
        )
        for claim_key in ("exports", "imports")
        for kind in ("service", "stream")
    ]
    fields += [
        Field("Signing Keys", len(list_signing_keys(nats)), "count"),
        Field("Revocations", len(nats.get("revocations") or {}), "count"),
        *(Field(label, count, "count") for label, count in kinds),
    ]
    if mappings := nats.get("mappings"):
        fields.append(Field("Mappings", len(mappings), "count"))
    if callout := (nats.get("authorization") or {}).get("auth_users"):
        fields.append(Field("Auth Callout Users", callout))
    return fields + build_claim_fields(ACCOUNT, nats, "trace.dest", "trace.sampling")


def _format_kind(member: Json) -> str:
    return "service" if member.get("type") in ("service", 2) else "stream"
