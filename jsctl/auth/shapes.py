"""The shapes of claims, which are checked once so that all other code can rely on them.

A JWT that somebody else signed may contain anything. Unknown keys may have any shape, and null counts as a
missing key, as it does for servers.
"""

from collections.abc import Mapping
from typing import Any

from jsctl.auth.keys import ACCOUNT, OPERATOR, USER
from jsctl.errors import BadInput

Json = dict[str, Any]

_NAMES = {str: "text", int: "a whole number", bool: "true or false"}

_RULES = {"allow": [str], "deny": [str]}
_PERMISSIONS = {"pub": _RULES, "sub": _RULES, "resp": {"max": int, "ttl": int}}
USER_PERMISSIONS = {
    **_PERMISSIONS,
    "src": [str],
    "times": [{"start": str, "end": str}],
    "times_location": str,
    "subs": int,
    "data": int,
    "payload": int,
    "bearer_token": bool,
    "proxy_required": bool,
    "allowed_connection_types": [str],
}
"""The claims that a template sets and that its users may not set (UserPermissionLimits)."""

_USER = {**USER_PERMISSIONS, "issuer_account": str}
JETSTREAM_LIMITS = {
    "mem_storage": int,
    "disk_storage": int,
    "streams": int,
    "consumer": int,
    "max_ack_pending": int,
    "mem_max_stream_bytes": int,
    "disk_max_stream_bytes": int,
    "max_bytes_required": bool,
}
CAPS = ("subs", "data", "payload", "imports", "exports", "conn", "leaf")
"""The limits of an account that are numbers."""

_LIMITS = {
    **dict.fromkeys(CAPS, int),
    **JETSTREAM_LIMITS,
    "wildcards": bool,
    "disallow_bearer": bool,
    "tiered_limits": {"*": JETSTREAM_LIMITS},
}
_EXPORT = {
    "name": str,
    "subject": str,
    "token_req": bool,
    "revocations": {"*": int},
    "response_type": str,
    "response_threshold": int,
    "service_latency": {"results": str},
    "account_token_position": int,
    "advertise": bool,
    "allow_trace": bool,
    "description": str,
    "info_url": str,
}
_IMPORT = {
    "name": str,
    "subject": str,
    "account": str,
    "token": str,
    "to": str,
    "local_subject": str,
    "share": bool,
    "allow_trace": bool,
}
_SCOPE = {"key": str, "role": str, "description": str, "template": _USER}
_SHAPES: Mapping[str, Json] = {
    OPERATOR: {
        "signing_keys": [str],
        "operator_service_urls": [str],
        "account_server_url": str,
        "system_account": str,
        "strict_signing_key_usage": bool,
    },
    ACCOUNT: {
        "imports": [_IMPORT],
        "exports": [_EXPORT],
        "limits": _LIMITS,
        "signing_keys": [(str, _SCOPE)],
        "revocations": {"*": int},
        "default_permissions": _PERMISSIONS,
        "mappings": {"*": [{"subject": str, "weight": int, "cluster": str}]},
        "authorization": {"auth_users": [str], "allowed_accounts": [str], "xkey": str},
        "trace": {"dest": str, "sampling": int},
        "cluster_traffic": str,
        "description": str,
        "info_url": str,
    },
    USER: _USER,
}
_CLAIMS = {"sub": str, "iss": str, "name": str, "iat": int, "exp": int, "nbf": int}


def check_shape(claims: Json, kind: str) -> Json:
    """Return the claims of an operator, account or user. Raises BadInput for those of another shape."""
    for problem in (
        _find_problem(claims, _CLAIMS, ""),
        _find_problem(claims["nats"], {"tags": [str], **_SHAPES[kind]}, "nats."),
    ):
        if problem:
            raise BadInput(problem)
    return claims


def _find_problem(value: Any, shape: Any, path: str) -> str:
    """Return what is wrong with the first value that does not have its shape; empty when all values do.

    shape: a type; a list with the shape of each item; a tuple of shapes, of which one fits; an object with
    those of its keys, `*` for all others.
    """
    if value is None:
        return ""
    path_name = path.rstrip(".")
    match shape:
        case dict():
            if not isinstance(value, dict):
                return f"{path_name} must be an object"
            problems = (
                _find_problem(item, shape.get(key, shape.get("*", ())), f"{path}{key}.")
                for key, item in value.items()
            )
            return next(filter(None, problems), "")
        case list():
            if not isinstance(value, list):
                return f"{path_name} must be a list"
            problems = (
                f"{path_name}[{index}] is null"
                if item is None
                else _find_problem(item, shape[0], f"{path_name}[{index}].")
                for index, item in enumerate(value)
            )
            return next(filter(None, problems), "")
        case ():
            return ""
        case tuple():
            option_problems = [_find_problem(value, option, path) for option in shape]
            return "" if "" in option_problems else option_problems[-1]
    if isinstance(value, shape) and (shape is bool) == isinstance(value, bool):
        return "" if shape is not int or abs(value) < 1 << 63 else f"{path_name} is too large"
    return f"{path_name} must be {_NAMES[shape]}"
