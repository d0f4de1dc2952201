"""Checks of the permissions and limits of users, scopes and account defaults (nats-io/jwt: v2/types.go,
Permissions and Limits)."""

import ipaddress
import re
from collections.abc import Callable, Iterator
from zoneinfo import ZoneInfo

from jsctl.auth.check.fixes import build_repair_line
from jsctl.auth.check.model import Finding, Owner
from jsctl.auth.check.repairs import find_valid_kinds, find_valid_networks, find_valid_rules, find_valid_times
from jsctl.auth.check.subjects import find_subject_problem
from jsctl.auth.claims import Json, as_list, as_object, as_objects, as_text, as_texts

CONNECTION_TYPES = ("STANDARD", "WEBSOCKET", "LEAFNODE", "LEAFNODE_WS", "MQTT", "MQTT_WS", "IN_PROCESS")

_TIME = re.compile(r"([01]?\d|2[0-3]):[0-5]\d:[0-5]\d")
_TEMPLATE = re.compile(r"\{\{[^}]+\}\}")


def check_permissions(
    claims: Json,
    path: str,
    owner: Owner,
    build: Callable[..., str],
    *,
    scoped: bool = False,
    prefix: str = "",
) -> Iterator[Finding]:
    """Yield the problems of `pub` and `sub`.

    build: returns the command line that sets flags. scoped: allow templates such as {{name()}}. prefix: of
    the flags' names.
    """
    for action in ("pub", "sub"):
        rules = as_object(claims.get(action))
        for key in ("allow", "deny"):
            texts = as_texts(rules.get(key))
            flags = None if scoped else find_valid_rules(texts, action, key, f"--{prefix}{action}-{key}")
            fix = build_repair_line(build, flags)
            for index, rule in enumerate(texts):
                if problem := _find_rule_problem(rule, action, scoped=scoped):
                    yield owner.build_error(
                        "permission-subject",
                        f"{path}{action}.{key}[{index}]",
                        f"permission {rule!r} {problem}",
                        fix,
                    )


def check_user_limits(claims: Json, path: str, owner: Owner, build: Callable[..., str]) -> Iterator[Finding]:
    """Yield the problems of source networks, times of day, time zone and connection types. build: see
    `check_permissions`."""
    networks = list_networks(claims)
    flags = None if isinstance(claims.get("src"), str) else find_valid_networks(networks)
    fix = build_repair_line(build, flags)
    for index, network in enumerate(networks):
        try:
            if "/" not in network:
                raise ValueError
            ipaddress.ip_network(network, strict=False)
        except ValueError:
            reason = f"{network!r} is not a network such as 192.0.2.0/24"
            yield owner.build_error("user-source", f"{path}src[{index}]", reason, fix)
    fix = build_repair_line(build, find_valid_times(as_objects(claims.get("times"))))
    for index, span in enumerate(as_objects(claims.get("times"))):
        for key in ("start", "end"):
            if not _TIME.fullmatch(as_text(span.get(key))):
                reason = f"the {key} {as_text(span.get(key))!r} of a connection time is not HH:MM:SS"
                yield owner.build_error("user-times", f"{path}times[{index}].{key}", reason, fix)
    zone = as_text(claims.get("times_location"))
    if zone and not is_zone(zone):
        reason = f"{zone!r} is not the name of a time zone such as Europe/Berlin"
        yield owner.build_error("user-locale", f"{path}times_location", reason, "")
    kinds = as_texts(claims.get("allowed_connection_types"))
    unknown = [kind for kind in kinds if kind.upper() not in CONNECTION_TYPES]
    fix = build_repair_line(build, find_valid_kinds(kinds, CONNECTION_TYPES))
    if unknown:
        reason = f"{unknown[0]!r} is not a kind of connection: {', '.join(CONNECTION_TYPES)}"
        report = owner.build_error if len(unknown) == len(kinds) else owner.build_warning
        yield report("user-connection-types", f"{path}allowed_connection_types", reason, fix)


def list_networks(claims: Json) -> list[str]:
    """Return the source networks in lower case. Old claims hold them as one text, separated by commas."""
    source = claims.get("src")
    if isinstance(source, str):
        return [network.strip().lower() for network in source.split(",") if network.strip()]
    return as_texts(as_list(source))


def is_zone(name: str) -> bool:
    """Return whether a time zone has this name; `Local` is the server's own."""
    if name in ("Local", "UTC"):
        return True
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        return False
    return True


def _find_rule_problem(rule: str, action: str, *, scoped: bool) -> str:
    if scoped:
        rule = _TEMPLATE.sub("x", rule)
    words = rule.split(" ")
    if len(words) > 2:
        return "has too many spaces"
    if len(words) == 2 and action == "pub":
        return "has a queue group, which is only for subscriptions"
    return next(filter(None, map(find_subject_problem, words)), "")
