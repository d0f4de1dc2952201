"""Users of scoped signing keys, whose permissions come from the template of the role (nats-server:
server/auth.go, processUserPermissionsTemplate; nats-io/jwt: v2/signingkeys.go)."""

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from jsctl.auth.claims import Json, as_object, as_text, as_texts
from jsctl.auth.records import Account, User
from jsctl.auth.shapes import USER_PERMISSIONS
from jsctl.nats.subjects import is_subject

MAX_EXPANSIONS = 4096
"""Maximum number of subjects in a list after its templates are expanded."""

_MUSTACHE = re.compile(r"\{\{[^}]+\}\}")
_TAG = re.compile(r"(account-tag|tag)\((.*)\)", re.IGNORECASE)

_LISTS = (("sub", "allow"), ("sub", "deny"), ("pub", "allow"), ("pub", "deny"))


class Expanded(NamedTuple):
    """A template filled in for a user.

    claims: in the form of a user's own. problem: why servers refuse the user; empty when they do not.
    origins: for each list ("pub.allow"), the index in the template that each subject comes from.
    """

    claims: Json
    problem: str = ""
    origins: Mapping[str, Sequence[int]] = {}


class _Undefined(Exception):
    pass


def find_scope(account: Account, user: User) -> Json | None:
    """Return the scope of the key that signed a user; None for a user with permissions of its own."""
    return account.signing_keys.get(user.issuer)


def find_own_permissions(nats: Json) -> str:
    """Return the first claim of a user that only a role may set; empty when there is none
    (HasEmptyPermissions)."""
    for key in USER_PERMISSIONS:
        value = nats.get(key)
        if key in ("pub", "sub"):
            # An empty list counts, too.
            rules = as_object(value)
            if any(rules.get(name) is not None for name in ("allow", "deny")):
                return key
        elif value not in (None, 0, "", False):
            return key
    return ""


def expand_template(account: Account, user: User) -> Expanded:
    """Return the template of a scoped user's role, with the user's name, key and tags filled in."""
    template = dict(as_object((find_scope(account, user) or {}).get("template")))
    origins: dict[str, Sequence[int]] = {}
    for action, key in _LISTS:
        rules = dict(as_object(template.get(action)))
        texts = as_texts(rules.get(key))
        if not any(map(_MUSTACHE.search, texts)):
            continue
        try:
            subjects = _expand(texts, account, user, strict=key == "deny")
        except _Undefined as error:
            return Expanded(template, str(error))
        rules[key] = [subject for _, subject in subjects]
        origins[f"{action}.{key}"] = [index for index, _ in subjects]
        if key == "allow" and not subjects:
            # An allow list that expands to nothing denies everything.
            rules["deny"] = [*as_texts(rules.get("deny")), ">"]
        template[action] = rules
    return Expanded(template, "", origins)


def find_missing_tags(account: Account, user: User) -> list[str]:
    """Return the names of the tags without which servers refuse a scoped user, and which it does not have."""
    template = as_object((find_scope(account, user) or {}).get("template"))
    own_tags = as_texts(user.nats.get("tags"))
    names = []
    for action in ("sub", "pub"):
        for text in as_texts(as_object(template.get(action)).get("deny")):
            for mark in _MUSTACHE.findall(text):
                match = _TAG.fullmatch(mark[2:-2].strip())
                if match and match[1].lower() == "tag":
                    names.append(match[2].lower())
    return [name for name in dict.fromkeys(names) if not any(tag.startswith(f"{name}:") for tag in own_tags)]


def _expand(texts: list[str], account: Account, user: User, *, strict: bool) -> list[tuple[int, str]]:
    """Return the subjects that templates expand to, each with its index in `texts`.

    strict: raise _Undefined for a subject that is not valid, instead of leaving it out.
    """
    subjects: list[tuple[int, str]] = []
    for index, text in enumerate(texts):
        marks = _MUSTACHE.findall(text)
        values = [_find_values(mark, text, account, user, strict=strict) for mark in marks]
        for combination in itertools.product(*values):
            subject = text
            for mark, value in zip(marks, combination, strict=True):
                subject = subject.replace(mark, value)
            if is_subject(subject):
                subjects.append((index, subject))
            elif strict:
                raise _Undefined(f"{text!r} becomes {subject!r}, which is not a valid subject")
            if len(subjects) > MAX_EXPANSIONS:
                raise _Undefined(f"{text!r} expands to more than {MAX_EXPANSIONS:,} subjects")
    return subjects


def _find_values(mark: str, text: str, account: Account, user: User, *, strict: bool) -> list[str]:
    operation = mark[2:-2].strip()
    simple = {
        "name()": as_text(user.claims.get("name")),
        "subject()": user.public,
        "account-name()": as_text(account.claims.get("name")),
        "account-subject()": user.issuer_account,
    }
    if operation.lower() in simple:
        return [simple[operation.lower()]]
    match = _TAG.fullmatch(operation)
    if match is None:
        raise _Undefined(f"{operation!r} in {text!r} is unknown")
    tags = as_texts((account if match[1].lower() == "account-tag" else user).nats.get("tags"))
    prefix = f"{match[2].lower()}:"
    values = [tag.removeprefix(prefix) for tag in tags if tag.startswith(prefix)]
    if not values and strict:
        raise _Undefined(f"{text!r} needs a tag {prefix}VALUE")
    return values or [" "]
