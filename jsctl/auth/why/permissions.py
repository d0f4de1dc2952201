"""What a user may publish and subscribe to (nats-server: server/client.go, setPermissions, canSubscribe and
pubAllowed; server/accounts.go, buildPermissionsFromJwt)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from jsctl.auth.claims import Json, as_list, as_number, as_object, as_text, as_texts
from jsctl.auth.records import Account, User
from jsctl.auth.scopes import expand_template, find_scope
from jsctl.base.units import SECOND, format_exact_duration
from jsctl.nats.subjects import covers, is_subject, matches, overlaps

_DEFAULT_REPLIES = 1
_DEFAULT_REPLY_TIME = 120 * SECOND
"""The server's defaults for a missing `max` and `ttl` (ns) of replies."""

_CALLOUT = "$SYS.REQ.USER.AUTH"
"""The subject of authorization callouts; only servers may publish to it."""


class Rule(NamedTuple):
    """The rule that decides whether something is allowed.

    where: the owner of the claim, such as "user ORDERS/alice". path: the claim below `nats`; empty when no
    claim applies. text: the subject of the rule, with its queue group.
    """

    where: str
    path: str = ""
    text: str = ""


class Verdict(NamedTuple):
    """The decision whether something is allowed.

    message: the reason, a sentence without a full stop. notes: exceptions and conditions.
    """

    allowed: bool
    rule: Rule
    message: str
    notes: Sequence[str] = ()


class Permissions(NamedTuple):
    """The permissions that a server uses for a user.

    claims: `pub`, `sub` and `resp`, with templates filled in. where: the owner of these permissions. path:
    what precedes their claims below `nats`, such as "template.". origins: see `Expanded`. problem: why the
    user has no permissions; empty when it has.
    """

    claims: Json
    where: str
    path: str = ""
    origins: Mapping[str, Sequence[int]] = {}
    problem: str = ""

    def get_rule(self, action: str, key: str, index: int, text: str) -> Rule:
        """Return the rule at an index of a list, such as `pub.allow`."""
        origins = self.origins.get(f"{action}.{key}")
        claim_index = index if origins is None else origins[index] if index < len(origins) else -1
        if claim_index < 0:  # added because the list of allowed subjects became empty
            return Rule(self.where, f"{self.path}{action}.allow", text)
        return Rule(self.where, f"{self.path}{action}.{key}[{claim_index}]", text)


def find_permissions(account: Account, user: User) -> Permissions:
    """Return the permissions of a user: the role's, the user's own, or the account's defaults."""
    scope = find_scope(account, user)
    where, path, claims = f"user {account.name}/{user.name}", "", user.nats
    origins: Mapping[str, Sequence[int]] = {}
    if scope is not None:
        expanded = expand_template(account, user)
        index = next(
            position for position, key in enumerate(as_list(account.nats.get("signing_keys"))) if key is scope
        )
        path = f"signing_keys[{index}].template."
        where = f"role {as_text(scope.get('role')) or user.issuer} of account {account.name}"
        claims, origins = expanded.claims, expanded.origins
        if expanded.problem:
            return Permissions({}, where, path, problem=expanded.problem)
    if _has_permissions(claims):
        return Permissions(claims, where, path, origins)
    defaults = as_object(account.nats.get("default_permissions"))
    if _has_permissions(defaults):
        return Permissions(defaults, f"account {account.name}", "default_permissions.")
    return Permissions({}, where, path)


def decide_publish(account: Account, permissions: Permissions, subject: str) -> Verdict:
    """Return whether a user may publish to a subject without wildcards."""
    if as_object(account.nats.get("authorization")).get("auth_users") and subject == _CALLOUT:
        rule = Rule(f"account {account.name}", "authorization.auth_users", _CALLOUT)
        return Verdict(False, rule, "only servers may publish to the authorization callout")
    rules = _parse_rules(permissions, "pub", "allow")
    denied = _parse_rules(permissions, "pub", "deny")
    verdict = _decide(permissions, "pub", [r for r in rules if matches(r[1], subject)], subject)
    if verdict.allowed:
        for index, pattern, _ in denied:
            if matches(pattern, subject):
                rule = permissions.get_rule("pub", "deny", index, pattern)
                verdict = Verdict(False, rule, f"{pattern!r} denies it")
                break
    replies = as_object(permissions.claims.get("resp")) if permissions.claims.get("resp") else None
    if verdict.allowed or replies is None:
        return verdict
    maximum = as_number(replies.get("max")) or _DEFAULT_REPLIES
    span = as_number(replies.get("ttl")) or _DEFAULT_REPLY_TIME
    count = "any number of times" if maximum < 0 else f"{maximum} times" if maximum > 1 else "once"
    time = "" if span < 0 else f" within {format_exact_duration(span)}"
    when = "as the reply subject of a message that the user received"
    note = f"{when}, it is allowed {count}{time} ({permissions.path}resp)"
    return verdict._replace(notes=[note])


def decide_subscribe(permissions: Permissions, subject: str, queue: str = "") -> Verdict:
    """Return whether a user may subscribe to a subject, in a queue group or without."""
    matching = [r for r in _parse_rules(permissions, "sub", "allow") if matches(r[1], subject)]
    groups = [rule for rule in matching if rule[2]]
    plain = [rule for rule in matching if not rule[2]]
    if queue and groups:
        # Rules with queue groups take precedence over those without.
        plain = [rule for rule in groups if _is_group(queue, rule[2])]
    verdict = _decide(permissions, "sub", plain, subject)
    if not verdict.allowed:
        return verdict
    notes = []
    for index, pattern, group in _parse_rules(permissions, "sub", "deny"):
        if group and not (queue and _is_group(queue, group)):
            continue
        text = f"{pattern} {group}".strip()
        if matches(pattern, subject):
            return Verdict(False, permissions.get_rule("sub", "deny", index, text), f"{text!r} denies it")
        if overlaps(pattern, subject):
            path = permissions.get_rule("sub", "deny", index, text).path
            notes.append(f"messages on {pattern!r} are not delivered ({path})")
    return verdict._replace(notes=notes)


def _decide(
    permissions: Permissions, action: str, matching: Sequence[tuple[int, str, str]], subject: str
) -> Verdict:
    """Return the verdict of the allow rules. matching: those that match, as `_parse_rules` yields them."""
    claims = permissions.claims
    rules = as_object(claims.get(action))
    texts = as_texts(rules.get("allow"))
    if action == "pub":
        # Together with `deny` or `resp`, an empty list allows nothing.
        limited = bool(texts) or claims.get("resp") is not None
        limited = limited or (isinstance(rules.get("allow"), list) and bool(as_texts(rules.get("deny"))))
    else:
        limited = bool(texts)
    if not limited:
        if any(_has_rules(claims, action) for action in ("pub", "sub")) or claims.get("resp") is not None:
            path = f"{permissions.path}{action}.allow"
            return Verdict(
                True, Rule(permissions.where, path), "nothing restricts it: the allow list is empty"
            )
        return Verdict(True, Rule(permissions.where), "nothing restricts it: there are no permissions")
    if matching:
        index, pattern, group = matching[0]
        text = f"{pattern} {group}".strip()
        return Verdict(True, permissions.get_rule(action, "allow", index, text), f"{text!r} allows it")
    rule = Rule(permissions.where, f"{permissions.path}{action}.allow", ", ".join(texts))
    if not texts:
        rule = Rule(
            permissions.where, f"{permissions.path}resp" if claims.get("resp") is not None else rule.path
        )
        return Verdict(
            False, rule, "only replies are allowed" if rule.path.endswith("resp") else "nothing is allowed"
        )
    return Verdict(False, rule, f"no allow rule matches {subject!r}")


def _parse_rules(permissions: Permissions, action: str, key: str) -> Iterator[tuple[int, str, str]]:
    """Yield the rules in a list that servers accept: index, subject, queue group."""
    for index, text in enumerate(as_texts(as_object(permissions.claims.get(action)).get(key))):
        words = text.split()
        if not words or len(words) > 2 or not all(map(is_subject, words)):
            continue  # the server logs it and continues
        if action == "pub" and len(words) > 1:
            if key == "deny":
                yield index, words[0], ""
            continue
        yield index, words[0], words[1] if len(words) > 1 else ""


def _is_group(queue: str, group: str) -> bool:
    return queue == group or covers(group, queue)


def _has_permissions(claims: Json) -> bool:
    return _has_rules(claims, "pub") or _has_rules(claims, "sub") or claims.get("resp") is not None


def _has_rules(claims: Json, action: str) -> bool:
    rules = as_object(claims.get(action))
    return bool(as_texts(rules.get("allow")) or as_texts(rules.get("deny")))
