"""Checks of a user (nats-io/jwt: v2/user_claims.go, v2/signingkeys.go; nats-io/nsc: cmd/validate.go;
nats-server: server/auth.go)."""

from collections.abc import Iterator
from functools import partial

from jsctl.auth.check.fixes import build_owner_line, build_user_line
from jsctl.auth.check.model import Finding, Owner, find_owner
from jsctl.auth.check.permissions import check_permissions, check_user_limits
from jsctl.auth.check.tokens import check_token
from jsctl.auth.claims import as_number, as_object, as_text, find_revocation
from jsctl.auth.environment import Environment
from jsctl.auth.keys import ACCOUNT, find_key_kind
from jsctl.auth.records import Account, User
from jsctl.auth.scopes import expand_template, find_missing_tags, find_own_permissions, find_scope
from jsctl.base.units import SECOND, format_time


def check_user(environment: Environment, account: Account, user: User, now: float) -> Iterator[Finding]:
    """Yield the problems of a user. now: seconds since 1970."""
    owner = find_owner(environment.operator, account, user)
    edit = partial(build_user_line, owner, "edit")
    yield from check_token(user, "user", owner, now)
    yield from _check_signer(environment, account, user, owner)
    scope = find_scope(account, user)
    own_claim = find_own_permissions(user.nats)
    if scope is not None and own_claim:
        yield owner.build_error(
            "scoped-user-with-permissions",
            own_claim,
            f"the user is signed with the key of role {as_text(scope.get('role'))!r}, which sets its "
            f"permissions, but has {own_claim!r} of its own: servers refuse it",
            edit("--key", as_text(scope.get("key"))),
        )
    if scope is None:
        yield from check_permissions(user.nats, "", owner, edit)
        yield from check_user_limits(user.nats, "", owner, edit)
    elif problem := expand_template(account, user).problem:
        reason = f"role {as_text(scope.get('role'))!r} gives this user no valid permissions: {problem}"
        # The verb asks for the tags.
        fix = edit() if find_missing_tags(account, user) else ""
        yield owner.build_error("scope-template", "tags", reason, fix)
    bearer = (scope or {}).get("template", {}).get("bearer_token") if scope else user.nats.get("bearer_token")
    if bearer and account.limits.get("disallow_bearer"):
        yield owner.build_error(
            "bearer-disallowed",
            "bearer_token",
            "the user has a bearer token, which the account does not allow",
            edit("--no-bearer")
            if scope is None
            else build_owner_line(
                owner,
                "account keys edit",
                owner.account,
                as_text(scope.get("key")),
                flags=["--no-bearer"],
            ),
        )
    if key := find_revocation(account.nats.get("revocations"), user.public, user.issued):
        subject = "all users are" if key == "*" else "the user is"
        reason = f"{subject} revoked: the user cannot connect until the JWT is signed again"
        fix = edit("--sign-again")
        if (until := as_number(as_object(account.nats.get("revocations")).get(key))) > now + 1:
            reason, fix = f"{subject} revoked until {format_time(until * SECOND)}", ""
        yield owner.build_warning("user-revoked", "", reason, fix)
    if user.credentials and user.credentials != user.token:
        yield owner.build_warning(
            "credentials-differ",
            "",
            "the JWT in the credentials file differs from that in the store",
            edit(),
        )


def _check_signer(environment: Environment, account: Account, user: User, owner: Owner) -> Iterator[Finding]:
    accept = build_user_line(owner, "edit", "--accept-claims")
    again = build_user_line(owner, "edit", "--sign-again")
    issuer_account = as_text(user.nats.get("issuer_account"))
    if issuer_account and find_key_kind(issuer_account) != ACCOUNT:
        reason = f"{issuer_account!r} is not the public key of an account"
        yield owner.build_error("user-issuer-account", "issuer_account", reason, again)
        return
    if user.issuer == account.public:
        if environment.operator.is_strict:
            yield owner.build_error(
                "user-signed-by-identity",
                "iss",
                "the user is signed with the account's own key, and the operator accepts only signing keys",
                _build_plain_key_line(account, owner) + again,
            )
    elif user.issuer not in account.signing_keys:
        reason = (
            f"the user is signed by {user.issuer or 'nobody'}, which is not a key of account {account.name}"
        )
        yield owner.build_error("user-signer", "iss", reason, accept)
        return
    if user.issuer_account != account.public:
        owner_name = environment.get_account_name(issuer_account) if issuer_account else "none"
        reason = f"the JWT names account {owner_name}, but the user is stored in account {account.name}"
        yield owner.build_error("user-issuer-account", "issuer_account", reason, again)


def _build_plain_key_line(account: Account, owner: Owner) -> str:
    """Return the command line that adds a key without a role, followed by `&&`; empty if there is one."""
    if any(scope is None for scope in account.signing_keys.values()):
        return ""
    return f"{build_owner_line(owner, 'account keys add', owner.account, flags=['--no-scope'])} && "
