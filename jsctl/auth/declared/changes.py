"""The changes of claims that make an operator, account or user match its declaration."""

import copy
from collections.abc import Callable, Iterable
from typing import Any

from jsctl.auth.check.across import find_export
from jsctl.auth.check.activations import find_activation_problem
from jsctl.auth.claims import Json, as_list, as_object, as_objects, as_text, as_texts, replace_members
from jsctl.auth.declared.model import DeclaredAccount, DeclaredOperator, DeclaredUser
from jsctl.auth.environment import Environment, read_claims
from jsctl.auth.records import Account, build_permissions
from jsctl.errors import BadInput
from jsctl.jetstream.config.kind import merge
from jsctl.jetstream.declared.model import LABEL

NEW_KEY = "(a new key)"
NEW_TOKEN = "(a new token)"

_STORAGE = ("disk_storage", "mem_storage")


class Keys:
    """The source of public keys and tokens. While planning, placeholders stand for what does not exist
    yet."""

    def __init__(self, environment: Environment | None) -> None:
        self.environment = environment

    def find_account_key(self, name: str) -> str:
        """Return the public key of an account that exists; else the name, which may be a key."""
        accounts = self.environment.accounts if self.environment else ()
        return next((account.public for account in accounts if account.name == name), name)

    def create_signing_key(self) -> str:
        """Return the public key of a new signing key of an account."""
        return NEW_KEY

    def create_token(self, exporter: Account, importer: str, claims: Json) -> str:
        """Return a token that lets an account import. importer: its public key."""
        return NEW_TOKEN


def build_operator_change(declared: DeclaredOperator, keys: Keys) -> Callable[[Json], None]:
    """Return a function that changes an operator's claims in place."""

    def change(nats: Json) -> None:
        replace_members(nats, merge(nats, declared.claims))
        if declared.system_account:
            nats["system_account"] = keys.find_account_key(declared.system_account)
        set_label(nats, declared.label, is_bare=declared.is_bare)

    return change


def build_account_change(
    declared: DeclaredAccount,
    keys: Keys,
    label: str,
    *,
    prune: bool,
    strict: bool,
) -> Callable[[Json], None]:
    """Return a function that changes an account's claims in place.

    prune: remove exports, imports and roles that are not declared, if the account has the label. strict: also
    add a signing key for users without a role.
    """

    def change(nats: Json) -> None:
        exclusive = prune and bool(label) and has_label(nats, label)
        labels = _list_label_tags(nats)
        tags = declared.claims.get("tags")
        replace_members(nats, merge(nats, copy.deepcopy(declared.claims)))
        if isinstance(tags, list):
            nats["tags"] = [*(tag.lower() for tag in tags), *labels]
        set_label(nats, label, is_bare=declared.is_bare)
        for key in declared.cleared:
            nats.pop(key, None)
        _complete_jetstream(nats)
        _put(
            nats,
            "exports",
            _merge_items(nats, "exports", declared.exports, _build_export_key, exclusive=exclusive),
        )
        imports = [_build_import_claims(imported, keys, nats, declared.name) for imported in declared.imports]
        _put(nats, "imports", _merge_items(nats, "imports", imports, _build_import_key, exclusive=exclusive))
        _put(nats, "signing_keys", _merge_roles(nats, declared, keys, exclusive=exclusive, strict=strict))

    return change


def build_user_change(declared: DeclaredUser, label: str) -> Callable[[Json], None]:
    """Return a function that changes a user's claims in place. A user with a role keeps no permissions."""

    def change(nats: Json) -> None:
        tags = declared.claims.get("tags", nats.get("tags"))
        if isinstance(declared.claims.get("tags"), list):
            tags = [*as_texts(tags), *_list_label_tags(nats)]
        if declared.role:
            for key in [key for key in nats if key not in ("type", "version", "issuer_account", "tags")]:
                del nats[key]
            nats.update({"pub": {}, "sub": {}})
        elif "subs" not in nats and "payload" not in nats:
            replace_members(nats, {**build_permissions(), **nats})  # it had a role
        replace_members(nats, merge(nats, copy.deepcopy(declared.claims)))
        if isinstance(tags, list):
            nats["tags"] = [str(tag).lower() for tag in tags]
        set_label(nats, label)

    return change


def has_label(nats: Json, label: str) -> bool:
    """Return whether the file with this label owns what has these claims, and no other file does."""
    return _list_labels(nats) == [label.lower()]


def find_other_label(nats: Json, label: str) -> str:
    """Return the label of another file that owns what has these claims; empty if none does."""
    return next((other for other in _list_labels(nats) if other != label.lower()), "")


def _list_labels(nats: Json) -> list[str]:
    return [tag.removeprefix(f"{LABEL}:") for tag in _list_label_tags(nats)]


def _list_label_tags(nats: Json) -> list[str]:
    """Return the tags that say which files own it, as in `jsctl.label:prod`."""
    return [tag for tag in as_texts(nats.get("tags")) if tag.startswith(f"{LABEL}:")]


def set_label(nats: Json, label: str, *, is_bare: bool = False) -> None:
    """Make the file with this label the only owner, unless it only names it (`is_bare`)."""
    if label and not is_bare:
        tags = [tag for tag in as_texts(nats.get("tags")) if not tag.startswith(f"{LABEL}:")]
        nats["tags"] = [*tags, f"{LABEL}:{label}".lower()]


def _complete_jetstream(nats: Json) -> None:
    """Make streams and consumers unlimited if a file sets storage but no limits for them."""
    limits = as_object(nats.get("limits"))
    tiers = as_object(limits.get("tiered_limits")).values()
    for place in (limits, *map(as_object, tiers)):
        if any(place.get(key) for key in _STORAGE):
            place.setdefault("streams", -1)
            place.setdefault("consumer", -1)


def _build_import_claims(imported: Json, keys: Keys, nats: Json, name: str) -> Json:
    """Return the claims of a declared import with the exporting account's key, and with an activation token
    if the export requires one."""
    claims = {key: value for key, value in imported.items() if value is not None}
    claims["account"] = keys.find_account_key(as_text(imported.get("account")))
    claims.setdefault("name", as_text(imported.get("local_subject")) or as_text(imported.get("subject")))
    exporter = keys.environment.get_account(claims["account"]) if keys.environment else None
    if exporter is None or claims.get("token"):
        return claims
    index = find_export(exporter, claims)
    export = exporter.exports[index] if index >= 0 else {}
    if export.get("token_req") and not export.get("account_token_position"):
        importer = keys.find_account_key(name)
        live = next(
            (i for i in as_objects(nats.get("imports")) if _build_import_key(i) == _build_import_key(claims)),
            {},
        )
        token = {"token": as_text(live.get("token"))}
        granted = read_claims(token["token"])
        if granted.get("sub") != importer or find_activation_problem(exporter, export, token):
            token["token"] = keys.create_token(exporter, importer, claims)
        claims |= token
    return claims


def _merge_items(
    nats: Json, key: str, declared: Iterable[Json], key_of: Callable[[Json], Any], *, exclusive: bool
) -> list[Json]:
    """Return the objects of a list: the existing ones merged with their declarations, then new ones.

    exclusive: leave out existing objects that are not declared.
    """
    declared_items = {key_of(item): item for item in declared}
    items = []
    for live in as_objects(nats.get(key)):
        item = declared_items.pop(key_of(live), None)
        if item is not None:
            items.append(merge(live, item))
        elif not exclusive:
            items.append(live)
    return [*items, *(merge({}, item) for item in declared_items.values())]


def _merge_roles(
    nats: Json, declared: DeclaredAccount, keys: Keys, *, exclusive: bool, strict: bool
) -> list[Any]:
    declared_roles = {as_text(role.get("role")): role for role in declared.roles}
    roles: list[Any] = []
    has_plain_key = False
    for live in as_list(nats.get("signing_keys")):
        if not isinstance(live, dict):
            has_plain_key = True
            roles.append(live)
            continue
        role = declared_roles.pop(as_text(live.get("role")), None)
        if role is not None:
            roles.append(merge(live, role))
        elif not exclusive:
            roles.append(live)
    for role in declared_roles.values():
        template = merge(build_permissions(), as_object(role.get("template")))
        scope = {
            "kind": "user_scope",
            "key": keys.create_signing_key(),
            "role": role["role"],
            "template": template,
        }
        roles.append({**scope, "description": as_text(role.get("description"))})
    if strict and not has_plain_key:
        roles.append(keys.create_signing_key())
    return roles


def _build_export_key(export: Json) -> tuple[Any, ...]:
    return export.get("type"), export.get("subject")


def _build_import_key(imported: Json) -> tuple[Any, ...]:
    return imported.get("type"), imported.get("account"), imported.get("subject")


def _put(nats: Json, key: str, items: list[Any]) -> None:
    if items or key in nats:
        nats[key] = items


def find_role_key(nats: Json, role: str, account: str) -> str:
    """Return the public key of a role. Raises BadInput."""
    for key in as_objects(nats.get("signing_keys")):
        if key.get("role") == role:
            return as_text(key.get("key"))
    raise BadInput(f"account {account} has no signing key for role {role!r}", "declare it in signing_keys")
