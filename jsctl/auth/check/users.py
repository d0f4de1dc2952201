"""What is wrong with a user (nats-io/jwt: v2/user_claims.go, v2/signingkeys.go; nats-io/nsc: cmd/validate.go;
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
    own = find_own_permissions(user.nats)
    if scope is not None and own:
        yield owner.build_error(
            "scoped-user-with-permissions",
            own,
            f"the user is signed with the key of role {as_text(scope.get('role'))!r}, which sets "
            f"what it may do, and has {own!r} of its own: servers refuse it",
            build_user_line(owner, "rm") + " && " + _build_add_line(owner, as_text(scope.get("key"))),
        )
    if scope is None:
        yield from check_permissions(user.nats, "", owner, edit)
        yield from check_user_limits(user.nats, "", owner, edit)
    elif problem := expand_template(account, user).problem:
        why = f"role {as_text(scope.get('role'))!r} makes no permissions of this user: {problem}"
        yield owner.build_error(
            "scope-template", "tags", why, build_user_line(owner, "edit", "--tags", "<name:value>")
        )
    bearer = (scope or {}).get("template", {}).get("bearer_token") if scope else user.nats.get("bearer_token")
    if bearer and account.limits.get("disallow_bearer"):
        yield owner.build_error(
            "bearer-disallowed",
            "bearer_token",
            "the user is a bearer token, which the account does not allow",
            build_user_line(owner, "edit", "--no-bearer"),
        )
    if key := find_revocation(account.nats.get("revocations"), user.public, user.issued):
        which = "all users are" if key == "*" else "the user is"
        why = f"{which} revoked: this JWT cannot connect; one that is signed again can"
        yield owner.build_warning("user-revoked", "", why, edit)
    if user.credentials and user.credentials != user.token:
        yield owner.build_warning(
            "credentials-differ",
            "",
            "the credentials file holds another JWT than the store",
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
    again = build_user_line(owner, "rm") + " && " + _build_add_line(owner, "")
    named = as_text(user.nats.get("issuer_account"))
    if named and find_key_kind(named) != ACCOUNT:
        why = f"{named!r} is not the public key of an account"
        yield owner.build_error("user-issuer-account", "issuer_account", why, again)
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
        why = f"the user is signed by {user.issuer or 'nobody'}, which is not a key of account {account.name}"
        yield owner.build_error("user-signer", "iss", why, again)
        return
    if user.issuer_account != account.public:
        of = environment.get_account_name(named) if named else "none"
        why = f"the user is of account {of} by its JWT, and stands in account {account.name}"
        yield owner.build_error("user-issuer-account", "issuer_account", why, again)


def _build_add_line(owner: Owner, key: str) -> str:
    flags = ("--key", key) if key else ()
    return build_user_line(owner, "add", *flags)
