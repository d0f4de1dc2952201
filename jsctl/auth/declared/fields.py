"""The keys that files may set for operators, accounts, users, exports, imports and roles: those of the
claims, and a few that name things."""

from jsctl.auth import fields
from jsctl.jetstream.config.field import Field
from jsctl.jetstream.config.kind import Anything, Text
from jsctl.jetstream.config.kinds import Choice, ListOf, Subject, Switch, Texts, Time
from jsctl.jetstream.config.numbers import Duration, Number
from jsctl.jetstream.config.schema import Object, Schema

_KINDS = Choice({"stream": "stream", "service": "service"})

EXPORT = Object(
    [
        Field("name", Text()),
        Field("subject", Subject()),
        Field("type", _KINDS),
        Field("token_req", Switch()),
        Field("response_type", Choice({name: name for name in ("Singleton", "Stream", "Chunked")})),
        Field("response_threshold", Duration()),
        Field("service_latency", Anything()),
        Field("account_token_position", Number(0)),
        Field("advertise", Switch()),
        Field("allow_trace", Switch()),
        Field("description", Text()),
        Field("info_url", Text()),
    ],
    what="an export",
    needs=("subject", "type"),
)

IMPORT = Object(
    [
        Field("name", Text()),
        Field("account", Text()),
        Field("subject", Subject()),
        Field("type", _KINDS),
        Field("local_subject", Text()),
        Field("token", Text()),
        Field("share", Switch()),
        Field("allow_trace", Switch()),
    ],
    what="an import",
    needs=("account", "subject", "type"),
)

ROLE = Object(
    [
        Field("role", Text()),
        Field("description", Text()),
        *(f._replace(key=f"template.{f.key}") for f in fields.USER.fields),
    ],
    what="a signing key",
    needs=("role",),
)

OPERATOR = Schema(
    "operator",
    [
        Field("system_account", Text()),
        Field("account_server_url", Text()),
        Field("operator_service_urls", Texts()),
        Field("assert_server_version", Text()),
        Field("strict_signing_key_usage", Switch()),
        Field("tags", Texts()),
    ],
)

ACCOUNT = Schema(
    "account",
    [
        *fields.ACCOUNT.fields,
        Field("exports", ListOf(EXPORT)),
        Field("imports", ListOf(IMPORT)),
        Field("signing_keys", ListOf(ROLE)),
        Field("mappings", Anything()),
        Field("authorization", Anything()),
        Field("limits.tiered_limits", Anything()),
        Field("tags", Texts()),
        Field("expires", Time()),
    ],
)

USER = Schema(
    "user", [*fields.USER.fields, Field("tags", Texts()), Field("role", Text()), Field("expires", Time())]
)
