"""What the JWTs, credentials and keys in files say, and what is wrong with them, without a store or a server.

Each JWT is checked by itself and against the others that were read: a user against its account, an account
against its operator. What is not among them is not checked, and that is said.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TextIO

from jsctl.auth.check.accounts import check_account
from jsctl.auth.check.model import Finding, Owner, find_owner
from jsctl.auth.check.permissions import check_permissions, check_user_limits
from jsctl.auth.check.tokens import check_token
from jsctl.auth.check.users import check_user
from jsctl.auth.claims import as_text
from jsctl.auth.environment import Environment
from jsctl.auth.jwt import decode_jwt
from jsctl.auth.keys import ACCOUNT, OPERATOR, USER, find_key_text, is_seed, parse_seed
from jsctl.auth.records import Account, Operator, Record, User
from jsctl.auth.scopes import find_own_permissions
from jsctl.auth.shapes import check_shape
from jsctl.auth.store import extract_jwt
from jsctl.base.files import read_input, read_text
from jsctl.base.user_folders import expand_home
from jsctl.errors import BadInput, NotFound

KEY = "key"
SUFFIXES = (".jwt", ".creds", ".nk")
"""The files of a folder that are read: those of a resolver, and of a store of nsc."""

_RECORDS = {OPERATOR: Operator, ACCOUNT: Account, USER: User}
_PASSED_ON = frozenset({"token-signature", "token-issuer", "account-signer", "expired", "not-yet-valid"})
"""Codes of problems of an account that keep its users out, too."""


@dataclass(frozen=True, slots=True)
class Inspected:
    """What a file holds.

    kind: operator, account, user, KEY, the type of another JWT, or empty for what cannot be read. record: of
    a JWT. account: that of a user. has_seed: whether the file holds the key's seed, which is not kept.
    is_listed: whether it was found in a folder. owner: the name of what it belongs to, or whose key it is.
    signer: the name of what signed it. unchecked: what would have to be among the files, too.
    """

    file: str
    kind: str
    public: str = ""
    record: Record | None = None
    account: Account | None = None
    has_seed: bool = False
    is_listed: bool = False
    owner: str = ""
    signer: str = ""
    problems: Sequence[Finding] = ()
    unchecked: Sequence[str] = ()

    @property
    def has_unknown_role(self) -> bool:
        """Whether a user's permissions are those of a role, and its account was not read."""
        user = self.record
        return isinstance(user, User) and self.account is None and not find_own_permissions(user.nats)


def inspect(paths: Iterable[str], stdin: TextIO, now: float) -> list[Inspected]:
    """Return what files hold, and the files of folders, in order; `-` is stdin. now: seconds since 1970.

    Raises BadInput for a file that cannot be read, or is of no such kind; one in a folder has a problem
    instead. Raises NotFound for a folder without such files.
    """
    items: list[Inspected] = []
    seen: set[str] = set()
    for path in paths:
        folder = expand_home(path)
        if path == "-" or not folder.is_dir():
            items += _read(path, read_input(path, stdin), is_listed=False)
            continue
        files = [file for file in sorted(folder.rglob("*")) if _is_meant(folder, file)]
        if not files:
            raise NotFound(f"{path} has no file with a JWT or a key", f"it looks for {', '.join(SUFFIXES)}")
        for file in files:
            items += _read_listed(file, seen)
    chain = _Chain(items, now)
    return [chain.check(item) for item in items]


def _is_meant(folder: Path, file: Path) -> bool:
    is_hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
    return file.suffix in SUFFIXES and not is_hidden and file.is_file()


def _read_listed(file: Path, seen: set[str]) -> list[Inspected]:
    """Read a file of a folder; a JWT that another one had, as credentials do in a store, counts once."""
    try:
        found = _read(str(file), read_text(file, regular=True), is_listed=True)
    except BadInput as error:
        return [
            Inspected(str(file), "", is_listed=True, problems=[_build_problem("unreadable", error.message)])
        ]
    known = {item.record.token for item in found if item.record} & seen
    seen.update(item.record.token for item in found if item.record)
    return [item for item in found if item.record is None or item.record.token not in known or item.problems]


def _read(file: str, text: str, *, is_listed: bool) -> list[Inspected]:
    """Return what the text of a file holds. Raises BadInput."""
    token, key = extract_jwt(text), find_key_text(text)
    public = parse_seed(key).public if is_seed(key) else key
    if not token and not key:
        raise BadInput(f"{file} holds no JWT and no key", "use credentials, a JWT, a seed or a public key")
    if not token:
        return [Inspected(file, KEY, public, has_seed=is_seed(key), is_listed=is_listed)]
    try:
        claims = decode_jwt(token)
    except BadInput as error:
        raise BadInput(f"{file}: {error.message}", error.hint) from None
    kind = as_text(claims["nats"].get("type")) or as_text(claims.get("type"))
    subject, name = as_text(claims.get("sub")), as_text(claims.get("name"))
    problems = [] if kind else [_build_problem("token-type", "the JWT does not say what it is for")]
    if kind in _RECORDS:
        try:
            check_shape(claims, kind)
        except BadInput as error:
            problems = [_build_problem("claims", error.message)]
            return [Inspected(file, "", subject, is_listed=is_listed, problems=problems)]
    if is_seed(key) and public != subject:
        reason = f"the seed beside the JWT is that of {public}, not of {subject}"
        problems.append(_build_problem("seed-differs", reason))
    if kind == USER and not key and (file.endswith(".creds") or "NKEY SEED-----" in text):
        reason = "the credentials hold no seed that can be read: nobody can log in with them"
        problems.append(_build_problem("seed-missing", reason))
    record = _RECORDS.get(kind, Record)(name or subject, token, claims)
    return [Inspected(file, kind, subject, record, None, is_seed(key), is_listed, problems=problems)]


class _Chain:
    """The operators, accounts and users that were read, by which each is checked."""

    def __init__(self, items: Sequence[Inspected], now: float) -> None:
        self._now = now
        records = [item.record for item in items]
        self._operators = [record for record in records if isinstance(record, Operator)]
        self._accounts = {record.public: record for record in records if isinstance(record, Account)}
        self._owners: dict[str, str] = {}
        for item in items:
            if item.record and item.kind in _RECORDS:
                label = f"{item.kind} {item.record.name}"
                self._owners[item.public] = label
                if isinstance(item.record, (Operator, Account)):
                    for key in item.record.signing_keys:
                        self._owners.setdefault(key, f"a signing key of {label}")

    def check(self, item: Inspected) -> Inspected:
        """Return an item with its owner, its signer and what is wrong with it."""
        if item.record is None:
            return replace(item, owner=self._owners.get(item.public, ""))
        checked = replace(item, signer=self._owners.get(item.record.issuer, ""))
        match item.record:
            case User() as user:
                account = self._accounts.get(user.issuer_account)
                findings = list(self._check_user(user, account))
                owner = account.name if account else user.issuer_account
                missing = [] if account else [f"account {owner}, whose keys and revocations count"]
                return _add(replace(checked, account=account, owner=owner), findings, missing)
            case Account() as account:
                operator = self._find_operator(account)
                findings = list(self._check_account(account, operator))
                missing = [] if operator else [f"the operator with the key {account.issuer}"]
                return _add(replace(checked, owner=operator.name if operator else ""), findings, missing)
            case Operator() as record:
                return _add(checked, list(check_token(record, OPERATOR, find_owner(record), self._now)), [])
        return _add(checked, list(self._check_other(item.record)), [])

    def _find_operator(self, account: Account) -> Operator | None:
        """Return the operator that may have signed an account, or else one that should have."""
        signers = (each for each in self._operators if account.issuer in (each.public, *each.signing_keys))
        return next(signers, self._operators[0] if self._operators else None)

    def _check_account(self, account: Account, operator: Operator | None) -> Iterator[Finding]:
        if operator is None:
            yield from check_token(account, ACCOUNT, find_owner(_NOBODY, account), self._now)
        else:
            yield from check_account(Environment(operator, list(self._accounts.values())), account, self._now)

    def _check_user(self, user: User, account: Account | None) -> Iterator[Finding]:
        if account is None:
            owner = find_owner(_NOBODY, None, user)
            yield from check_token(user, USER, owner, self._now)
            yield from check_permissions(user.nats, "", owner, _build_no_line)
            yield from check_user_limits(user.nats, "", owner, _build_no_line)
            return
        operator = self._find_operator(account)
        environment = Environment(operator or _NOBODY, list(self._accounts.values()))
        yield from check_user(environment, account, user, self._now)
        for finding in self._check_account(account, operator):
            if finding.code in _PASSED_ON:
                reason = f"account {account.name}: {finding.message}"
                yield finding._replace(code="account", message=reason)

    def _check_other(self, record: Record) -> Iterator[Finding]:
        """Yield the problems of an activation or another JWT: its signature and its times."""
        owner = find_owner(_NOBODY)
        for finding in check_token(record, ACCOUNT, owner, self._now):
            if finding.code in ("token-signature", "expired", "not-yet-valid"):
                yield finding


def _build_problem(code: str, message: str) -> Finding:
    """Return what is wrong with a file; the code is none of `auth validate`."""
    return Owner("").build_error(code, "", message, "")


_NOBODY = Operator("", "", {"nats": {}})
"""In place of an operator that is not known."""


def _build_no_line(*flags: str) -> str:
    """Return no command line that fixes a finding: files are not in a store."""
    return ""


def _add(item: Inspected, findings: Sequence[Finding], missing: Sequence[str]) -> Inspected:
    """Return an item with the findings that keep it from working: errors, and a revocation."""
    blocking = [finding for finding in findings if finding.is_blocking]
    return replace(item, problems=[*item.problems, *blocking], unchecked=missing)
