"""Whether a change of a user takes something away: credentials that were signed before still allow it."""

from typing import Any

from jsctl.auth.claims import Json, as_list, as_object, as_texts
from jsctl.auth.records import Account, User
from jsctl.auth.shapes import USER_PERMISSIONS
from jsctl.nats.subjects import covers


def is_narrowed(user: User, account: Account, after: Json, role_key: str) -> bool:
    """Return whether a user may do less with these `nats` claims.
    role_key: the key of its role, which is compared by its template; empty for a user without one.
    """
    before_scope = account.signing_keys.get(user.issuer)
    after_scope = account.signing_keys.get(role_key)
    before = as_object(before_scope.get("template")) if before_scope else user.nats
    limits = as_object(after_scope.get("template")) if after_scope else after
    if role_key and after_scope is None:  # a role that is about to be made
        return True
    return any(_is_less(key, before.get(key), limits.get(key)) for key in USER_PERMISSIONS)


def _is_less(key: str, before: Any, after: Any) -> bool:
    match key:
        case "pub" | "sub":
            return _is_less_allowed(as_object(before), as_object(after))
        case "subs" | "data" | "payload":
            return after != before and after not in (None, -1) and (before in (None, -1) or after < before)
        case "resp":
            return before != after and before is not None
        case "bearer_token":
            return bool(before) and not after
        case "proxy_required":
            return bool(after) and not before
        case _:  # lists and texts that restrict; an empty one allows everything
            old, new = as_list(before) or before, as_list(after) or after
            return bool(new) and old != new


def _is_less_allowed(before: Json, after: Json) -> bool:
    allowed, wanted = as_texts(after.get("allow")), as_texts(before.get("allow")) or [">"]
    denied = [rule for rule in as_texts(after.get("deny")) if rule not in as_texts(before.get("deny"))]
    missing = bool(allowed) and any(not any(_covers(rule, old) for rule in allowed) for old in wanted)
    return missing or bool(denied)


def _covers(rule: str, old: str) -> bool:
    return rule == old or (" " not in rule and covers(rule, old.split()[0]))
