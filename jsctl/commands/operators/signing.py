"""Signing claims again: the flags for it, and the question before claims are signed that are not genuine."""

from collections.abc import Callable
from dataclasses import dataclass

from jsctl.auth.changes import Resigning
from jsctl.auth.claim_differences import find_claim_differences
from jsctl.auth.keys import ACCOUNT, OPERATOR, USER
from jsctl.auth.records import Json, Record, build_account, build_operator, build_scoped_user
from jsctl.auth.store import AuthStore
from jsctl.commands.cli import declare_all, destructive, option
from jsctl.commands.cli.declare import Decorator
from jsctl.env import Env
from jsctl.errors import ExitStatus
from jsctl.views.intent import Intent

_DEFAULTS: dict[str, Callable[[], Json]] = {
    OPERATOR: build_operator,
    ACCOUNT: build_account,
    USER: build_scoped_user,
}


@dataclass(frozen=True, slots=True)
class SigningFlags:
    """The flags of a verb that signs again; part of its options."""

    sign_again: bool
    accept_claims: bool
    force: bool


def signing_flags() -> Decorator:
    """Add the flags for `SigningFlags`."""
    return declare_all(
        option(
            "--sign-again",
            is_flag=True,
            help="Sign again, even if nothing changes: valid from now on, also after a revocation",
        ),
        option(
            "--accept-claims",
            is_flag=True,
            help="Show the claims of a JWT whose signature or signer is wrong, ask, and sign them",
        ),
        destructive("Accept the claims without asking", "Only show which claims would change"),
    )


async def accept_claims(env: Env, record: Record, flags: SigningFlags, genuine: Record | None = None) -> str:
    """Show how claims that are not genuine differ, and ask whether to sign them; return the JWT with them.

    genuine: the last claims known to be genuine; None to compare with those that everybody starts with. Empty
    without --accept-claims or for a genuine JWT. Raises Declined, BadInput without a terminal.
    """
    doubt = record.doubt
    if not flags.accept_claims or not doubt:
        return ""
    before = genuine.claims if genuine else {"nats": _DEFAULTS[doubt.kind]()}
    differences = find_claim_differences(record.claims, before)
    source = "from the credentials in the store" if genuine else f"from a new {doubt.kind}"
    lines = [f"{doubt}", f"What it claims, where it differs {source}:"]
    lines += [f"  {difference}" for difference in differences or ["(nothing)"]]
    env.say("\n".join(lines))
    facts = {"kind": doubt.kind, "name": doubt.name, "differences": differences}
    intent = Intent(f"sign what the JWT of {doubt.kind} {doubt.name} claims", facts)
    await env.confirm(intent, force=flags.force)
    return record.token


def build_resigning(env: Env, kind: str, name: str, flags: SigningFlags, accepted: str) -> Resigning:
    """Return how an operator, account or user is signed; with --dry-run, how its claims would change is shown
    in place of that. accepted: as in Resigning."""

    def announce(after: Json, before: Json) -> None:
        differences = find_claim_differences(after, before)
        action = f"{'sign' if after != before else 'write'} {kind} {name} again"
        lines = [f"Would {action}", *(f"  {difference}" for difference in differences)]
        facts = {"kind": kind, "name": name, "differences": differences}
        env.announce(Intent(action, facts, lines, status=ExitStatus.DIFFERENT))

    return Resigning(flags.sign_again, accepted, announce)


def report_doubts(env: Env, store: AuthStore) -> None:
    """Say which JWTs of an operator are not genuine. Raises BadInput for a broken file."""
    accounts = store.load_accounts()
    users = [user for account in accounts for user in store.load_users(account.name)]
    for doubt in dict.fromkeys(record.doubt for record in [store.load_operator(), *accounts, *users]):
        if doubt:
            env.say(f"jsctl: {doubt}")
