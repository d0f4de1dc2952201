"""The account's sheet, in the words of the `nats` tool."""

from jsctl.errors import ExitStatus, JsctlError, NoResponders
from jsctl.jetstream.api import Json
from jsctl.units import format_bytes, format_count
from jsctl.views.result import Cell, Field, Result, Section, Sheet, Text


def info(user: Json, connection: Json, jetstream: Json | None, error: JsctlError | None) -> Result:
    """`account info`. user: $SYS.REQ.USER.INFO; jetstream: $JS.API.INFO, None with the error instead."""
    sections = [Section("", _who(user) + _connected(connection)), *_permissions(user.get("permissions"))]
    document: Json = {"user": user, "connection": connection, "jetstream": jetstream}
    if jetstream is not None:
        sections += _jetstream(jetstream, connection)
        return Result([Sheet("Account Information", sections)], data=document)
    document["error"] = str(error)
    off = "JetStream is not supported in this account" if isinstance(error, NoResponders) else str(error)
    status = error.status if error else ExitStatus.FAILURE
    return Result(
        [Sheet("Account Information", sections), Text(f"\n{off}", "bad")], data=document, status=status
    )


def _who(user: Json) -> list[Field]:
    if not user:
        return []
    expires = int(user.get("expires") or 0)
    name = _named(user.get("user_name"), user.get("user"))
    return [
        *([Field("User", name)] if name else []),
        Field("Account", _named(user.get("account_name"), user.get("account"))),
        Field("System Account", bool(user.get("system")), "bool"),
        Field("Expires", expires, "span") if expires else Field("Expires", "never"),
    ]


def _named(name: object, key: object) -> str:
    return f"{name} ({key})" if name else str(key or "")


def _connected(about: Json) -> list[Field]:
    fields = [
        Field("Client ID", str(about["client_id"])),
        Field("Client IP", about["client_ip"]),
        Field("RTT", about["rtt"], "duration"),
        Field("Headers Supported", about["headers"], "bool"),
        Field("Maximum Payload", about["max_payload"], "bytes"),
        Field("Connected Cluster", about["cluster"]),
        Field("Connected URL", about["url"]),
        Field("Connected Address", about["address"]),
        Field("Connected Server ID", about["server_id"]),
        Field("Connected Server Version", about["server_version"]),
        Field("Connected Server Name", about["server_name"]),
    ]
    tls = about["tls"]
    if tls is None:
        fields.append(Field("TLS Connection", Cell(False, "no")))
    else:
        fields += [
            Field("TLS Version", f"{str(tls['version']).removeprefix('TLSv')} using {tls['cipher']}"),
            Field("TLS Server Name", tls["server_name"]),
            Field("TLS Verified", f"issuer {tls['issuer']}" if tls["issuer"] else "no"),
        ]
    return [field for field in fields if field.value is not None]


def _permissions(found: Json | None) -> list[Section]:
    fields = []
    for key, what in (("publish", "Publish"), ("subscribe", "Subscribe")):
        for rule in ("allow", "deny"):
            if subjects := ((found or {}).get(key) or {}).get(rule):
                fields.append(Field(f"{what} {rule.title()}", sorted(subjects)))
    return [Section("Connection Permissions", fields)] if fields else []


def _jetstream(found: Json, connection: Json) -> list[Section]:
    domain = found.get("domain")
    api = found.get("api") or {}
    usage = [
        *([Field("Domain", domain)] if domain else []),
        Field("Storage", int(found.get("storage", 0)), "bytes"),
        Field("Memory", int(found.get("memory", 0)), "bytes"),
        Field("Streams", int(found.get("streams", 0)), "count"),
        Field("Consumers", int(found.get("consumers", 0)), "count"),
        Field("API Requests", f"{format_count(int(api.get('total', 0)))}, "
                              f"{format_count(int(api.get('errors', 0)))} errors"),
    ]  # fmt: skip
    sections = [
        Section("Account Usage", usage),
        Section("Account Limits", [Field("Max Message Payload", connection["max_payload"], "bytes")]),
    ]
    tiers: Json = found.get("tiers") or {"Default": found}
    for name in sorted(tiers):
        sections += _tier(name, tiers[name])
    return sections


def _tier(name: str, tier: Json) -> list[Section]:
    limits = tier.get("limits") or {}
    pending = int(limits.get("max_ack_pending", -1))
    consumers = int(limits.get("max_consumers", -1))
    return [
        Section(
            f"Tier: {name}: Configuration Requirements",
            [
                Field("Stream Requires Max Bytes Set", bool(limits.get("max_bytes_required")), "bool"),
                Field("Consumer Maximum Ack Pending", pending, "limit"),
            ],
        ),
        Section(
            f"Tier: {name}: Stream Resource Usage Limits",
            [
                _usage("Memory", tier, "memory", limits.get("max_memory")),
                Field("Memory Per Stream", int(limits.get("memory_max_stream_bytes", -1)), "bytes_limit"),
                _usage("Storage", tier, "storage", limits.get("max_storage")),
                Field("Storage Per Stream", int(limits.get("storage_max_stream_bytes", -1)), "bytes_limit"),
                Field("Streams", _of(format_count(int(tier.get("streams", 0))), limits.get("max_streams"))),
                Field("Consumers", f"Maximum {format_count(consumers)} per stream")
                if consumers > 0
                else Field("Consumers", "unlimited"),
            ],
        ),
    ]


def _usage(label: str, tier: Json, key: str, limit: object) -> Field:
    most = -1 if limit is None else int(str(limit))
    reserved = int(tier.get(f"reserved_{key}", 0))
    shown = f"{format_bytes(int(tier.get(key, 0)))} of {'unlimited' if most < 0 else format_bytes(most)}"
    return Field(label, shown + (f" ({format_bytes(reserved)} reserved)" if reserved else ""))


def _of(have: str, limit: object) -> str:
    most = -1 if limit is None else int(str(limit))
    return f"{have} of {'unlimited' if most < 0 else format_count(most)}"
