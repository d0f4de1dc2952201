"""Checks of a single account (nats-io/jwt: v2/account_claims.go; nats-io/nsc: cmd/validate.go)."""

from collections.abc import Iterator
from functools import partial

from jsctl.auth.check.exports import check_exports
from jsctl.auth.check.fixes import build_account_line, build_owner_line
from jsctl.auth.check.imports import check_imports
from jsctl.auth.check.model import Finding, Owner, find_owner
from jsctl.auth.check.permissions import check_permissions, check_user_limits
from jsctl.auth.check.repairs import share_weights
from jsctl.auth.check.subjects import find_info_problem, find_subject_problem, has_wildcards
from jsctl.auth.check.tokens import check_token
from jsctl.auth.claims import (
    ALL,
    Json,
    as_number,
    as_object,
    as_objects,
    as_text,
    as_texts,
    compute_total_weights,
)
from jsctl.auth.environment import Environment
from jsctl.auth.keys import ACCOUNT, CURVE, USER, find_key_kind
from jsctl.auth.records import UNLIMITED, Account, has_jetstream
from jsctl.auth.shapes import JETSTREAM_LIMITS


def check_account(environment: Environment, account: Account, now: float) -> Iterator[Finding]:
    """Yield the problems of an account, but not those of its users. now: seconds since 1970."""
    owner = find_owner(environment.operator, account)
    yield from check_token(account, "account", owner, now)
    yield from _check_signer(environment, account, owner)
    yield from _check_limits(environment, account, owner)
    yield from check_exports(account, owner)
    yield from check_imports(account, owner, now)
    yield from check_permissions(
        as_object(account.nats.get("default_permissions")),
        "default_permissions.",
        owner,
        partial(build_account_line, owner, "edit"),
        prefix="default-",
    )
    yield from _check_mappings(account, owner)
    yield from _check_callout(environment, account, owner)
    yield from _check_trace(account, owner)
    yield from _check_keys(account, owner)
    if problem := find_info_problem(account.nats):
        key, flag = ("description",) * 2 if "description" in problem else ("info_url", "info-url")
        fix = build_account_line(owner, "edit", f"--{flag}", "")
        yield owner.build_error("account-info", key, problem, fix)
    traffic = as_text(account.nats.get("cluster_traffic"))
    if traffic not in ("", "system", "owner"):
        yield owner.build_error(
            "account-cluster-traffic",
            "cluster_traffic",
            f"the cluster traffic account is {traffic!r}; it must be system or owner",
            build_account_line(owner, "edit", "--js-cluster-traffic", "system"),
        )


def _check_signer(environment: Environment, account: Account, owner: Owner) -> Iterator[Finding]:
    operator = environment.operator
    if operator.may_sign(account.issuer):
        return
    if account.issuer == operator.public:
        reason = (
            "the account is signed with the operator's own key, and the operator accepts only signing keys"
        )
        yield owner.build_error(
            "account-signed-by-identity", "iss", reason, build_account_line(owner, "edit")
        )
    else:
        reason = f"the account is signed by {account.issuer or 'nobody'}, which is not a key of the operator"
        fix = build_account_line(owner, "edit", "--accept-claims")
        yield owner.build_error("account-signer", "iss", reason, fix)


def _check_limits(environment: Environment, account: Account, owner: Owner) -> Iterator[Finding]:
    limits = account.limits
    for key in ("imports", "exports"):
        limit, count = as_number(limits.get(key)), len(as_objects(account.nats.get(key)))
        if limit != UNLIMITED and count > limit:
            yield owner.build_error(
                f"too-many-{key}",
                f"limits.{key}",
                f"the account has {count} {key} but may have only {limit}",
                build_account_line(owner, "edit", f"--{key}", str(count)),
            )
    wildcard_subjects = [as_text(export.get("subject")) for export in account.exports]
    wildcard_subjects = [subject for subject in wildcard_subjects if has_wildcards(subject)]
    if as_number(limits.get("exports")) != UNLIMITED and not limits.get("wildcards") and wildcard_subjects:
        yield owner.build_error(
            "wildcard-exports",
            "limits.wildcards",
            f"the account exports {wildcard_subjects[0]!r} but may not export wildcards",
            build_account_line(owner, "edit", "--wildcard-exports"),
        )
    tiers = as_object(limits.get("tiered_limits"))
    if tiers and any(limits.get(key) for key in JETSTREAM_LIMITS):
        # Servers drop them when they read the claims (nats-io/jwt: v2/decoder_account.go).
        yield owner.build_warning(
            "tiers-and-limits",
            "limits.tiered_limits",
            "the JetStream limits for all streams are ignored because there are limits by tier",
            build_account_line(owner, "edit"),
        )
    if "" in tiers:
        reason = "a tier of the JetStream limits has no name"
        yield owner.build_error(
            "tier-name", "limits.tiered_limits", reason, build_account_line(owner, "edit")
        )
    if environment.operator.system_account == account.public and has_jetstream(account.nats):
        yield owner.build_error(
            "jetstream-on-system-account",
            "limits.disk_storage",
            "JetStream is enabled for the system account, which servers refuse",
            build_account_line(owner, "edit", "--no-jetstream"),
        )
    if account.users and "conn" in limits and as_number(limits["conn"]) == 0:
        reason = "the account may have 0 connections: nobody can connect"
        fix = build_account_line(owner, "edit", "--connections", "-1")
        yield owner.build_warning("no-connections", "limits.conn", reason, fix)


def _check_mappings(account: Account, owner: Owner) -> Iterator[Finding]:
    for source, targets in as_object(account.nats.get("mappings")).items():
        path = f"mappings.{source}"
        fix = _build_mapping_line(owner, source, as_objects(targets))
        if problem := find_subject_problem(source):
            yield owner.build_error("mapping-subject", path, f"mapping {source!r} {problem}", fix)
        for index, target in enumerate(as_objects(targets)):
            subject = as_text(target.get("subject"))
            if problem := find_subject_problem(subject):
                reason = f"the target {subject!r} of mapping {source!r} {problem}"
                yield owner.build_error("mapping-subject", f"{path}[{index}]", reason, fix)
        for cluster, total in compute_total_weights(as_objects(targets)).items():
            if total > 100:
                suffix = f" of cluster {cluster}" if cluster else ""
                reason = f"the weights{suffix} of mapping {source!r} add up to {total}%"
                yield owner.build_error("mapping-weight", path, reason, fix)


def _build_mapping_line(owner: Owner, source: str, targets: list[Json]) -> str:
    """Return the command lines that add a mapping again with its valid targets, and weights that fit."""
    lines = [build_owner_line(owner, "account mappings rm", owner.account, source)]
    if not find_subject_problem(source):
        valid = [target for target in targets if not find_subject_problem(as_text(target.get("subject")))]
        for target in share_weights(valid):
            names = [
                source,
                as_text(target.get("subject")),
                str(target["weight"]),
                as_text(target.get("cluster")),
            ]
            lines.append(build_owner_line(owner, "account mappings add", owner.account, *filter(None, names)))
    return " && ".join(lines)


def _list_user_keys(account: Account) -> set[str]:
    return {user.public for user in account.users}


def _check_callout(environment: Environment, account: Account, owner: Owner) -> Iterator[Finding]:
    claims = as_object(account.nats.get("authorization"))
    users, accounts = as_texts(claims.get("auth_users")), as_texts(claims.get("allowed_accounts"))
    fix = _build_callout_line(environment, account, owner)

    def build_error(path: str, reason: str) -> Finding:
        return owner.build_error("callout", f"authorization.{path}", f"authorization callout: {reason}", fix)

    if accounts and not users:
        yield build_error("auth_users", "allowed_accounts is set, but no user answers the callout")
    own_users = _list_user_keys(account)
    for index, user in enumerate(users):
        if find_key_kind(user) != USER:
            yield build_error(f"auth_users[{index}]", f"{user!r} is not the public key of a user")
        elif other := next(
            (
                candidate
                for candidate in environment.accounts
                if user in _list_user_keys(candidate) - own_users
            ),
            None,
        ):
            reason = f"user {user} belongs to account {other.name}; it must belong to {account.name} itself"
            yield build_error(f"auth_users[{index}]", reason)
        elif user not in own_users and own_users:
            reason = f"authorization callout: user {user} is not in the store"
            yield owner.build_warning(
                "callout-user-missing", f"authorization.auth_users[{index}]", reason, ""
            )
    for index, account_key in enumerate(accounts):
        if account_key == ALL and len(accounts) > 1:
            yield build_error(
                f"allowed_accounts[{index}]", "* stands for all accounts and cannot be combined with others"
            )
        elif account_key != ALL and find_key_kind(account_key) != ACCOUNT:
            yield build_error(
                f"allowed_accounts[{index}]", f"{account_key!r} is not the public key of an account"
            )
        elif account_key != ALL and environment.get_account(account_key) is None:
            reason = f"authorization callout: account {account_key} is not in the store"
            path = f"authorization.allowed_accounts[{index}]"
            query = build_owner_line(owner, "account query", account_key, flags=["--save"])
            yield owner.build_warning("callout-account-missing", path, reason, query)
    xkey = as_text(claims.get("xkey"))
    if xkey and find_key_kind(xkey) != CURVE:
        yield build_error("xkey", f"{xkey!r} is not the public key of an xkey")


def _build_callout_line(environment: Environment, account: Account, owner: Owner) -> str:
    """Return the command line that leaves a callout its valid settings, or turns it off without a user of its
    service."""
    claims = as_object(account.nats.get("authorization"))
    foreign_users = {key for other in environment.accounts for key in _list_user_keys(other)}
    foreign_users -= _list_user_keys(account)
    users = [
        key
        for key in as_texts(claims.get("auth_users"))
        if find_key_kind(key) == USER and key not in foreign_users
    ]
    if not users:
        return build_account_line(owner, "callout", "--off")
    allowed = as_texts(claims.get("allowed_accounts"))
    accounts = allowed if allowed == [ALL] else [key for key in allowed if find_key_kind(key) == ACCOUNT]
    if allowed and not accounts:
        return ""
    flags = [word for user in users for word in ("--auth-user", user)]
    flags += [word for key in accounts for word in ("--allow", key)]
    xkey = as_text(claims.get("xkey"))
    flags += ["--xkey", ""] if xkey and find_key_kind(xkey) != CURVE else []
    return build_account_line(owner, "callout", *flags)


def _check_trace(account: Account, owner: Owner) -> Iterator[Finding]:
    trace = account.nats.get("trace")
    if not isinstance(trace, dict):
        return
    subject, sampling = as_text(trace.get("dest")), as_number(trace.get("sampling"))
    problem = find_subject_problem(subject) or ("has wildcards" if has_wildcards(subject) else "")
    if problem:
        fix = build_account_line(owner, "edit", "--trace-context", "")
        yield owner.build_error(
            "account-trace", "trace.dest", f"the trace destination {subject!r} {problem}", fix
        )
    if not 0 <= sampling <= 100:
        reason = f"the trace sampling of {sampling}% is not between 1 and 100"
        fix = build_account_line(owner, "edit", "--trace-sampling", "100" if sampling > 100 else "1")
        yield owner.build_error("account-trace", "trace.sampling", reason, fix)


def _check_keys(account: Account, owner: Owner) -> Iterator[Finding]:
    for index, (key, scope) in enumerate(account.signing_keys.items()):
        path = f"signing_keys[{index}]"
        if find_key_kind(key) != ACCOUNT:
            yield owner.build_error(
                "account-signing-key",
                path,
                f"{key!r} is not the public key of an account",
                _build_keys_line(owner, "rm", key),
            )
        if scope is not None:
            yield from _check_scope(scope, path, owner)
    for key in as_object(account.nats.get("revocations")):
        if key != ALL and find_key_kind(key) != USER:
            yield owner.build_warning(
                "revocation-key",
                "revocations",
                f"{key!r} is revoked but is not the public key of a user",
                build_owner_line(owner, "account revocations rm", key, owner.account),
            )


def _check_scope(scope: Json, path: str, owner: Owner) -> Iterator[Finding]:
    role = as_text(scope.get("role")) or as_text(scope.get("key"))
    edit = partial(_build_keys_line, owner, "edit", as_text(scope.get("key")))
    if scope.get("kind") != "user_scope":
        reason = f"the scope of role {role} has a kind that servers do not know"
        yield owner.build_error("scope-kind", f"{path}.kind", reason, edit())
    template = as_object(scope.get("template"))
    yield from check_permissions(template, f"{path}.template.", owner, edit, scoped=True)
    yield from check_user_limits(template, f"{path}.template.", owner, edit)


def _build_keys_line(owner: Owner, verb: str, key: str, *flags: str) -> str:
    return build_owner_line(owner, f"account keys {verb}", owner.account, key, flags=flags)
