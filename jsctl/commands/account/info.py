"""`jsctl account info`."""

from jsctl.base.units import format_bytes, format_count, pluralize
from jsctl.commands.cli import command
from jsctl.env import Env
from jsctl.errors import JsctlError, NoJetStream, NoResponders
from jsctl.jetstream.api import Json, build_api_prefix
from jsctl.monitor.account import describe_connection, fetch_user
from jsctl.views.result import Cell, Field, InfoPage, Result, Section


def _show_info(user: Json, connection: Json, jetstream: Json | None, error: JsctlError | None) -> Result:
    """Show an account. Where it has JetStream, and only there, the text has the word, as scripts expect.

    user, connection: of monitor.account. jetstream: the reply of $JS.API.INFO; None with the error instead.
    """
    sections = [
        Section("", _build_login_fields(user) + _build_connection_fields(connection)),
        *_build_permission_sections(user.get("permissions")),
    ]
    document: Json = {"user": user, "connection": connection, "jetstream": jetstream}
    info_pages = [InfoPage("Account Information", sections)]
    if jetstream is None:
        document["error"] = str(error)
    else:
        where = f" for domain {jetstream['domain']}" if jetstream.get("domain") else ""
        heading = f"JetStream Account Information{where}:"
        info_pages.append(InfoPage(heading, _build_jetstream_sections(jetstream, connection)))
    return Result(info_pages, data=document)


def _build_login_fields(user: Json) -> list[Field]:
    if not user:
        return []
    expires = int(user.get("expires") or 0)
    name = _with_key(user.get("user_name"), user.get("user"))
    return [
        *([Field("User", name)] if name else []),
        Field("Account", _with_key(user.get("account_name"), user.get("account"))),
        Field("System Account", bool(user.get("system")), "bool"),
        Field("Expires", expires, "span") if expires else Field("Expires", "never"),
    ]


def _with_key(name: object, key: object) -> str:
    return f"{name} ({key})" if name else str(key or "")


def _build_connection_fields(facts: Json) -> list[Field]:
    fields = [
        Field("Client ID", str(facts["client_id"])),
        Field("Client IP", facts["client_ip"]),
        Field("RTT", facts["rtt_ns"], "duration"),
        Field("Headers Supported", facts["headers"], "bool"),
        Field("Maximum Payload", facts["max_payload"], "bytes"),
        Field("Connected Cluster", facts["cluster"]),
        Field("Connected URL", facts["url"]),
        Field("Connected Address", facts["address"]),
        Field("Connected Server ID", facts["server_id"]),
        Field("Connected Server Version", facts["server_version"]),
        Field("Connected Server Name", facts["server_name"]),
    ]
    tls = facts["tls"]
    if tls is None:
        fields.append(Field("TLS Connection", Cell(False, "no")))
    else:
        fields += [
            Field("TLS Version", f"{str(tls['version']).removeprefix('TLSv')} using {tls['cipher']}"),
            Field("TLS Server Name", tls["server_name"]),
            Field("TLS Verified", f"issuer {tls['issuer']}" if tls["issuer"] else "no"),
        ]
    return [field for field in fields if field.value is not None]


def _build_permission_sections(permissions: Json | None) -> list[Section]:
    fields = []
    for key, label in (("publish", "Publish"), ("subscribe", "Subscribe")):
        for rule in ("allow", "deny"):
            if subjects := ((permissions or {}).get(key) or {}).get(rule):
                fields.append(Field(f"{label} {rule.title()}", sorted(subjects)))
    return [Section("Connection Permissions", fields)] if fields else []


def _build_jetstream_sections(account: Json, connection: Json) -> list[Section]:
    domain = account.get("domain")
    api = account.get("api") or {}
    requests, errors = format_count(int(api.get("total", 0))), pluralize(int(api.get("errors", 0)), "error")
    usage = [
        *([Field("Domain", domain)] if domain else []),
        Field("Storage", int(account.get("storage", 0)), "bytes"),
        Field("Memory", int(account.get("memory", 0)), "bytes"),
        Field("Streams", int(account.get("streams", 0)), "count"),
        Field("Consumers", int(account.get("consumers", 0)), "count"),
        Field("API Requests", f"{requests}, {errors}"),
    ]
    sections = [
        Section("Account Usage", usage),
        Section("Account Limits", [Field("Max Message Payload", connection["max_payload"], "bytes")]),
    ]
    tiers: Json = account.get("tiers") or {"Default": account}
    for name in sorted(tiers):
        sections += _build_tier_sections(name, tiers[name])
    return sections


def _build_tier_sections(name: str, tier: Json) -> list[Section]:
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
                _build_usage_field("Memory", tier, "memory", limits.get("max_memory")),
                Field("Memory Per Stream", int(limits.get("memory_max_stream_bytes", -1)), "bytes_limit"),
                _build_usage_field("Storage", tier, "storage", limits.get("max_storage")),
                Field("Storage Per Stream", int(limits.get("storage_max_stream_bytes", -1)), "bytes_limit"),
                Field(
                    "Streams",
                    _format_use(format_count(int(tier.get("streams", 0))), limits.get("max_streams")),
                ),
                Field("Consumers", f"Maximum {format_count(consumers)} per stream")
                if consumers > 0
                else Field("Consumers", "unlimited"),
            ],
        ),
    ]


def _build_usage_field(label: str, tier: Json, key: str, limit: object) -> Field:
    maximum = -1 if limit is None else int(str(limit))
    reserved = int(tier.get(f"reserved_{key}", 0))
    text = f"{format_bytes(int(tier.get(key, 0)))} of {'unlimited' if maximum < 0 else format_bytes(maximum)}"
    return Field(label, text + (f" ({format_bytes(reserved)} reserved)" if reserved else ""))


def _format_use(used: str, limit: object) -> str:
    maximum = -1 if limit is None else int(str(limit))
    return f"{used} of {'unlimited' if maximum < 0 else format_count(maximum)}"


@command("info", examples=["jsctl account info", "jsctl account info --json"])
async def info(env: Env) -> Result:
    """Without JetStream in the account, show the rest. If JetStream does not reply, fail after that."""
    api = await env.jetstream()
    user = await fetch_user(api.connection)
    connection = await describe_connection(api.connection)
    jetstream, failure = None, None
    try:
        jetstream = await api.call("INFO")
    except JsctlError as error:
        failure = error
    is_off = isinstance(failure, NoJetStream)
    if isinstance(failure, NoResponders):
        is_off = (
            api.prefix == build_api_prefix()
        )  # nobody answers in another domain: it does not exist, or is not linked
    result = _show_info(user, connection, jetstream, failure)
    if not is_off:
        return result._replace(error=failure)
    env.say("jsctl: JetStream is not enabled in this account")
    return result
