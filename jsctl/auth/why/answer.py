"""The answer to `why`: what a user may do, and the checks that a server makes when the user connects."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from jsctl.auth.check.across import Approval, approve_import, build_add_import_line
from jsctl.auth.check.fixes import build_owner_line, build_user_line
from jsctl.auth.check.model import find_owner
from jsctl.auth.check.repairs import find_period
from jsctl.auth.claims import Json, as_object, as_text, as_texts, find_local_pattern, find_remote_subject
from jsctl.auth.environment import Environment
from jsctl.auth.records import Account, User
from jsctl.auth.scopes import find_scope
from jsctl.auth.why.connecting import Check, Visit, explain_callout, explain_connection
from jsctl.auth.why.permissions import Verdict, decide_publish, decide_subscribe, find_permissions
from jsctl.errors import BadInput
from jsctl.nats.subjects import covers, overlaps
from jsctl.nats.transform import SubjectTransform

PUBLISH, SUBSCRIBE, IMPORT, CONNECT = "publish", "subscribe", "import", "connect"


class Question(NamedTuple):
    """The question. action: PUBLISH, SUBSCRIBE, IMPORT or CONNECT. queue: the queue group of a
    subscription."""

    action: str
    subject: str = ""
    queue: str = ""


class Route(NamedTuple):
    """An import of an account. import_index: its index. subject: the subject in the exporting account."""

    import_index: int
    claims: Json
    subject: str
    approval: Approval


class Answer(NamedTuple):
    """The answer.

    account, user: None when the store does not have them, or the question is not about one. verdict: the
    decision of the permissions; None when they do not matter. fix: the command line that would allow the
    action; empty when none would. routes: the imports that match the subject. checks: the server's checks of
    the connection, up to the first that fails. offers: when nothing is imported, what other accounts export,
    each with the command line that imports it. notes: what the store does not show.
    """

    question: Question
    account: Account | None
    user: User | None
    verdict: Verdict | None
    fix: str
    routes: Sequence[Route]
    checks: Sequence[Check]
    offers: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()

    @property
    def refused(self) -> Check | None:
        """The check of the connection that fails; None when all pass."""
        return next((check for check in self.checks if check.problem), None)

    @property
    def allowed(self) -> bool:
        """Whether the user may connect and perform the action, and the import works."""
        if self.refused or (self.verdict and not self.verdict.allowed):
            return False
        if self.question.action == IMPORT:
            return bool(self.routes) and not any(route.approval.code for route in self.routes)
        return True


def answer(
    environment: Environment, account: Account | None, user: User | None, question: Question, visit: Visit
) -> Answer:
    """Return the answer to a question."""
    plain = _answer_as_given(environment, account, user, question, visit)
    if user is None or not user.file or plain.allowed:
        return plain
    fix = _find_file_fix(environment, account, user, question, visit)
    checks = [check._replace(fix=fix if check.problem else "") for check in plain.checks]
    return plain._replace(checks=checks, fix=fix if plain.verdict and not plain.verdict.allowed else "")


def _find_file_fix(
    environment: Environment, account: Account | None, user: User, question: Question, visit: Visit
) -> str:
    """Return the command line that repairs a credentials file; empty if its user is not in the store.

    The file is written from the store: as it is if the user in the store may do what is asked, else after
    that is repaired."""
    stored = next((each for each in account.users if each.public == user.public), None) if account else None
    if account is None or stored is None:
        return ""
    written = replace(stored, file=user.file)
    now = _answer_as_given(environment, account, written, question, visit)
    if now.refused or not now.allowed:
        return (now.refused.fix if now.refused else "") or now.fix
    owner = find_owner(environment.operator, account, stored)
    # Credentials for some time only are for as long again.
    ends = ["--expire", find_period(user.claims)] if user.expires and user.expires != stored.expires else []
    names = user.file, stored.name, account.name
    return build_owner_line(owner, "user credential", *names, flags=[*ends, "--force"])


def _answer_as_given(
    environment: Environment, account: Account | None, user: User | None, question: Question, visit: Visit
) -> Answer:
    checks = explain_connection(environment, account, user, visit) if user else []
    verdict, fix, routes = None, "", []
    if account and user and question.action in (PUBLISH, SUBSCRIBE):
        permissions = find_permissions(account, user)
        if permissions.problem:
            verdict = None  # the connection is refused because of the problem
        elif question.action == PUBLISH:
            verdict = decide_publish(account, permissions, question.subject)
        else:
            verdict = decide_subscribe(permissions, question.subject, question.queue)
        if verdict and not verdict.allowed:
            fix = _find_fix(environment, account, user, question, verdict)
    if account and question.action != CONNECT:
        kind = {PUBLISH: "service", SUBSCRIBE: "stream"}.get(question.action, "")
        routes = _find_routes(environment, account, question.subject, kind)
    offers: list[tuple[str, str]] = []
    if account and question.action == IMPORT and not routes:
        offers = list(_list_offers(environment, account, question.subject))
    callout = explain_callout(account, user) if account and user else ""
    notes = [callout] if callout else []
    return Answer(question, account, user, verdict, fix, routes, checks, offers, notes)


def _list_offers(environment: Environment, account: Account, subject: str) -> Iterator[tuple[str, str]]:
    """Yield the exports of other accounts that cover a subject, each with the command line that imports
    it."""
    owner = find_owner(environment.operator, account)
    for exporter in environment.accounts:
        for export in exporter.exports:
            exported = as_text(export.get("subject"))
            if exporter.public != account.public and covers(exported, subject):
                offered = {**export, "subject": subject, "account": exporter.public}
                line = build_add_import_line(owner, offered)
                yield f"{exporter.name} exports {as_text(export.get('type'))} {exported}", line


def _find_fix(
    environment: Environment, account: Account, user: User, question: Question, verdict: Verdict
) -> str:
    """Return the command line that adds the subject to the user's own allow list; empty when that list does
    not decide."""
    action = "pub" if question.action == PUBLISH else "sub"
    if find_scope(account, user) is not None or verdict.rule.path != f"{action}.allow":
        return ""
    texts = [*as_texts(as_object(user.nats.get(action)).get("allow")), question.subject]
    flags = [word for text in texts for word in (f"--{action}-allow", text)]
    return build_user_line(find_owner(environment.operator, account, user), "edit", *flags)


def _find_routes(environment: Environment, account: Account, subject: str, kind: str) -> list[Route]:
    """Return the imports that a subject matches in an account, or that have this subject in the exporting
    account.

    kind: "stream" or "service"; empty for both.
    """
    routes = []
    for index, imported in enumerate(account.imports):
        local, remote_subject = find_local_pattern(imported), find_remote_subject(imported)
        if kind and imported.get("type") != kind:
            continue
        if overlaps(local, subject) or (not kind and subject == remote_subject):
            remote = _translate(imported, subject) if covers(local, subject) else remote_subject
            routes.append(Route(index, imported, remote, approve_import(environment, account, imported)))
    return routes


def _translate(imported: Json, subject: str) -> str:
    """Return the exporting account's subject for a local subject."""
    local, remote = (
        as_text(imported.get("local_subject")) or find_local_pattern(imported),
        find_remote_subject(imported),
    )
    try:
        source = find_local_pattern(imported)
        return SubjectTransform(source, _number_wildcards(local, remote)).apply(subject) or remote
    except BadInput:
        return remote


def _number_wildcards(local: str, remote: str) -> str:
    """Return the exporter's subject with its wildcards numbered by their positions in the local subject, in
    which `$2` is the second wildcard of the exporter's subject."""
    tokens = [
        token for token in local.split(".") if token == "*" or (token[:1] == "$" and token[1:].isdigit())
    ]
    stars = iter(range(1, len(tokens) + 1))
    places = {int(t[1:]) if t != "*" else number: number for number, t in zip(stars, tokens, strict=True)}
    count, parts = 0, []
    for token in remote.split("."):
        count += token == "*"
        parts.append(f"${places.get(count, count)}" if token == "*" else token)
    return ".".join(parts)
