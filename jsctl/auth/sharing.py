"""Exports, imports and activation tokens in the claims of accounts (nats-io/jwt: v2/exports.go,
v2/imports.go, v2/activation_claims.go)."""

from collections.abc import Mapping, Sequence
from typing import Any

from jsctl.auth.changes import find_user_signer
from jsctl.auth.claims import as_objects, find_local_subject, find_remote_subject, set_or_drop
from jsctl.auth.fields import Cap
from jsctl.auth.jwt import decode_jwt, encode_jwt
from jsctl.auth.records import Json, Record
from jsctl.auth.signatures import find_activation_problem
from jsctl.auth.store import AuthStore, extract_jwt, require_genuine
from jsctl.base.command_lines import build_line
from jsctl.base.units import parse_duration
from jsctl.errors import BadInput, NotFound
from jsctl.nats.subjects import covers, is_subject

STREAM = "stream"
SERVICE = "service"
RESPONSE_TYPES = {"singleton": "Singleton", "stream": "Stream", "chunked": "Chunked"}
_SINGLE = "singleton"
_SAMPLING = Cap()


def get_kind(member: Json) -> str:
    """Return STREAM or SERVICE, the kind of an export or import."""
    return SERVICE if member.get("type") in (SERVICE, 2) else STREAM


def list_exports(nats: Json) -> list[Json]:
    """Return the exports of an account, sorted by subject."""
    return sorted(as_objects(nats.get("exports")), key=lambda export: str(export.get("subject", "")))


def list_imports(nats: Json) -> list[Json]:
    """Return the imports of an account, sorted by local subject."""
    return sorted(as_objects(nats.get("imports")), key=find_local_subject)


def find_export(nats: Json, subject: str, account: str) -> Json:
    """Return the export of a subject; of several the last, which servers refuse. Raises NotFound."""
    for export in reversed(as_objects(nats.get("exports"))):
        if export.get("subject") == subject:
            return export
    raise NotFound(
        f"account {account} does not export {subject}",
        f"{build_line('auth account exports ls', account)} lists its exports",
    )


def find_import(nats: Json, local: str, account: str) -> Json:
    """Return the import at a local subject, of several the last; or the only one of an exported subject.

    Raises NotFound.
    """
    for imported in reversed(as_objects(nats.get("imports"))):
        if find_local_subject(imported) == local:
            return imported
    remote = [imported for imported in as_objects(nats.get("imports")) if imported.get("subject") == local]
    if len(remote) == 1:
        return remote[0]
    raise NotFound(
        f"account {account} has no import at {local}",
        f"{build_line('auth account imports ls', account)} lists its imports",
    )


def check_subject(subject: str) -> str:
    """Return a subject if it is valid. Raises BadInput."""
    if not is_subject(subject):
        raise BadInput(
            f"{subject!r} is not a valid subject", "use tokens separated by dots, such as orders.new"
        )
    return subject


def add_export(nats: Json, export: Json, account: str) -> None:
    """Add an export in place. Raises BadInput."""
    for other in as_objects(nats.get("exports")):
        if other.get("subject") == export["subject"] and get_kind(other) == get_kind(export):
            raise BadInput(
                f"account {account} already exports {export['subject']}",
                f"change it with {build_line('auth account exports edit')}",
            )
    nats["exports"] = [*(nats.get("exports") or ()), export]


def add_import(nats: Json, imported: Json, account: str) -> None:
    """Add an import in place. Raises BadInput."""
    local = find_local_subject(imported)
    for other in as_objects(nats.get("imports")):
        if find_local_subject(other) == local and get_kind(other) == get_kind(imported):
            raise BadInput(f"account {account} already has an import at {local}", "use another --local")
    nats["imports"] = [*(nats.get("imports") or ()), imported]


def change_export(export: Json, values: Mapping[str, Any]) -> None:
    """Change an export in place.

    values: by flag, only those that are set; see `auth account exports add`. Raises BadInput.
    """
    for flag, value in values.items():
        match flag:
            case "token_position":
                set_or_drop(export, "account_token_position", _check_token_position(export, value))
            case "private":
                set_or_drop(export, "token_req", value)
            case "url":
                set_or_drop(export, "info_url", value)
            case "response_type":
                if value == _SINGLE and get_kind(export) != SERVICE:
                    export.pop("response_type", None)
                    continue
                _require_service(export, "--response-type")
                set_or_drop(export, "response_type", RESPONSE_TYPES[value])
            case "response_threshold":
                threshold = _parse_threshold(value)
                if threshold:
                    _require_service(export, "--response-threshold")
                set_or_drop(export, "response_threshold", threshold)
            case "latency":
                if value:
                    _require_service(export, "--latency")
                    before = export.get("service_latency") or {"sampling": 100}
                    export["service_latency"] = {**before, "results": check_subject(value)}
                else:
                    export.pop("service_latency", None)
            case "sampling":
                if not export.get("service_latency") and not values.get("latency"):
                    raise BadInput("--sampling needs a subject for the measurements", "add --latency SUBJECT")
                export.setdefault("service_latency", {})["sampling"] = _parse_sampling(value)
            case "allow_trace":
                if value:
                    _require_service(export, "--allow-trace")
                set_or_drop(export, "allow_trace", value)
            case _:  # description, advertise
                set_or_drop(export, flag, value)


def build_import(name: str, subject: str, source: str, service: bool, local: str) -> Json:
    """Return an import. source: the public key of the exporting account. Raises BadInput."""
    return {
        "name": name,
        "subject": check_subject(subject),
        "account": source,
        "local_subject": check_local(subject, local) if local else subject,
        "type": SERVICE if service else STREAM,
    }


def check_local(subject: str, local: str) -> str:
    """Return the local subject of an import if it is valid. It may refer to the wildcards of `subject` as
    `$1`. Raises BadInput."""
    check_subject(local)
    wildcards = [token for token in subject.split(".") if token in ("*", ">")]
    tokens = local.split(".")
    references = [int(token[1:]) for token in tokens if token[:1] == "$" and token[1:].isdecimal()]
    wildcard_count = wildcards.count("*")
    used_count = tokens.count("*") + len(references)
    if (
        (">" in wildcards) != (tokens[-1] == ">")
        or used_count != wildcard_count
        or any(number > wildcard_count for number in references)
    ):
        raise BadInput(
            f"the local subject {local} does not have the wildcards of {subject}",
            "use each of them once, `*` also as $1, $2, ...",
        )
    return local


def sign_activation(
    store: AuthStore, exporter: Record, export: Json, subject: str, importer: str, claims: Mapping[str, Any]
) -> str:
    """Return an activation token, which lets an account import an export.

    subject: what may be imported. importer: the account's public key. claims: further claims, such as `exp`.
    Raises NotFound when the store does not have the exporter's seed.
    """
    signer = find_user_signer(store, exporter)
    nats: Json = {"subject": subject, "kind": get_kind(export), "type": "activation", "version": 2}
    if signer.public != exporter.public:
        nats["issuer_account"] = exporter.public
    body = {**claims, "name": subject, "sub": importer, "nats": nats}
    return encode_jwt({key: value for key, value in body.items() if value is not None}, signer)


def sign_import(store: AuthStore, importer: Record, imported: Json) -> str:
    """Return an activation token for an import, signed with the key of the exporting account; empty when the
    store does not have the account, a matching export or the key. Raises NotGenuine."""
    source = next(
        (account for account in store.load_accounts() if account.public == imported["account"]), None
    )
    subject = find_remote_subject(imported)
    exports = find_matching_exports(source.nats, subject, get_kind(imported)) if source else []
    if not source or not exports or not store.has_seed(source.public):
        return ""
    return sign_activation(store, require_genuine(source), exports[0], subject, importer.public, {})


def check_activation(store: AuthStore, token: str, importer: str, source: str) -> str:
    """Return an activation token if it is genuine, and valid for the two accounts (public keys). Raises
    NotGenuine, BadInput."""
    token = extract_jwt(token)  # nsc decorates it
    claims = decode_jwt(token)
    nats = claims["nats"]
    if nats.get("type") != "activation":
        raise BadInput(
            "this is not an activation token", f"create one with {build_line('auth account activations add')}"
        )
    if claims.get("sub") != importer:
        raise BadInput(
            f"the activation token is for account {claims.get('sub')}", "request one for this account"
        )
    exporter = next((account for account in store.load_accounts() if account.public == source), None)
    known = require_genuine(exporter).claims if exporter else None
    if problem := find_activation_problem(token, claims, source, known):
        raise BadInput(f"the activation token {problem}", "request one from the exporting account")
    return token


def find_matching_exports(nats: Json, subject: str, kind: str) -> Sequence[Json]:
    """Return the exports of this kind that cover an import's `subject`."""
    return [
        export
        for export in as_objects(nats.get("exports"))
        if get_kind(export) == kind and covers(str(export.get("subject", "")), subject)
    ]


def _require_service(export: Json, flag: str) -> None:
    if get_kind(export) != SERVICE:
        raise BadInput(
            f"{flag} is only for services", f"leave out {flag}, or export a service with --service"
        )


def _check_token_position(export: Json, position: int) -> int:
    tokens = str(export["subject"]).split(".")
    if position and (position > len(tokens) or tokens[position - 1] != "*"):
        raise BadInput(
            f"token {position} of {export['subject']} is not *",
            "put a * where the account's public key goes",
        )
    return position


def _parse_threshold(text: str) -> int:
    try:
        return parse_duration(text) if text else 0
    except ValueError as error:
        raise BadInput(f"--response-threshold: {error}") from None


def _parse_sampling(text: str) -> int | str:
    if text.lower() in ("header", "headers"):
        return "headers"
    try:
        percent = _SAMPLING.parse(text.removesuffix("%"))
    except ValueError:
        percent = 0
    if not 1 <= percent <= 100:
        raise BadInput(f"--sampling: {text!r} is not a percentage", "use 1 to 100, or `header`")
    return percent


def list_importers(store: AuthStore, account: Record, export: Json) -> list[str]:
    """Return the names of the operator's accounts that import an export."""
    subject = str(export.get("subject", ""))
    return [
        other.name
        for other in store.load_accounts()
        if any(
            imported.get("account") == account.public
            and get_kind(imported) == get_kind(export)
            and covers(subject, find_remote_subject(imported))
            for imported in as_objects(other.nats.get("imports"))
        )
    ]
