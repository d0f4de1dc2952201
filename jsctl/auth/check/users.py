"""Checks of a user (nats-io/jwt: v2/user_claims.go, v2/signingkeys.go; nats-io/nsc: cmd/validate.go;
nats-server: server/auth.go)."""

from collections.abc import Iterator

from jsctl.auth.check.fixes import build_line, build_user_line
from jsctl.auth.check.model import Finding, Owner, find_owner
from jsctl.auth.check.permissions import check_permissions, check_user_limits
from jsctl.auth.check.tokens import check_token
from jsctl.auth.claims import as_text, find_revocation
from jsctl.auth.environment import Account, Environment, User
from jsctl.auth.keys import ACCOUNT, find_key_kind
from jsctl.auth.scopes import expand_template, find_own_permissions, find_scope


def check_user(environment: Environment, account: Account, user: User, now: float) -> Iterator[Finding]:
    """Yield the problems of a user. now: seconds since 1970."""
    owner = find_owner(environment.operator, account, user)
    edit = build_user_line(owner, "edit")
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
            build_user_line(owner, "rm") + " && " + _build_add_line(owner, as_text(scope.get("key"))),
        )
    if scope is None:
        yield from check_permissions(user.nats, "", owner, edit)
        yield from check_user_limits(user.nats, "", owner, edit)
    elif problem := expand_template(account, user).problem:
        reason = f"role {as_text(scope.get('role'))!r} gives this user no valid permissions: {problem}"
        yield owner.build_error(
            "scope-template", "tags", reason, build_user_line(owner, "edit", "--tags", "<name:value>")
        )
    bearer = (scope or {}).get("template", {}).get("bearer_token") if scope else user.nats.get("bearer_token")
    if bearer and account.limits.get("disallow_bearer"):
        yield owner.build_error(
            "bearer-disallowed",
            "bearer_token",
            "the user has a bearer token, which the account does not allow",
            build_user_line(owner, "edit", "--no-bearer"),
        )
    if key := find_revocation(account.nats.get("revocations"), user.public, user.issued):
        subject = "all users are" if key == "*" else "the user is"
        reason = f"{subject} revoked: the user cannot connect until the JWT is signed again"
        yield owner.build_warning("user-revoked", "", reason, edit)
    if user.credentials and user.credentials != user.token:
        yield owner.build_warning(
            "credentials-differ",
            "",
            "the JWT in the credentials file differs from that in the store",
            build_line(
                "user",
                "credential",
                "<file>",
                owner.user,
                owner.account,
                "--operator",
                owner.operator,
            ),
        )


def _check_signer(environment: Environment, account: Account, user: User, owner: Owner) -> Iterator[Finding]:
    readd = build_user_line(owner, "rm") + " && " + _build_add_line(owner, "")
    issuer_account = as_text(user.nats.get("issuer_account"))
    if issuer_account and find_key_kind(issuer_account) != ACCOUNT:
        reason = f"{issuer_account!r} is not the public key of an account"
        yield owner.build_error("user-issuer-account", "issuer_account", reason, readd)
        return
    if user.issuer == account.public:
        if environment.operator.is_strict:
            yield owner.build_error(
                "user-signed-by-identity",
                "iss",
                "the user is signed with the account's own key, and the operator accepts only signing keys",
                build_user_line(owner, "rm") + " && " + _build_add_line(owner, "<signing key>"),
            )
    elif user.issuer not in account.signing_keys:
        reason = (
            f"the user is signed by {user.issuer or 'nobody'}, which is not a key of account {account.name}"
        )
        yield owner.build_error("user-signer", "iss", reason, readd)
        return
    if user.issuer_account != account.public:
        owner_name = environment.get_account_name(issuer_account) if issuer_account else "none"
        reason = f"the JWT names account {owner_name}, but the user is stored in account {account.name}"
        yield owner.build_error("user-issuer-account", "issuer_account", reason, readd)


def _build_add_line(owner: Owner, key: str) -> str:
    flags = ("--key", key) if key else ()
    return build_user_line(owner, "add", *flags)
