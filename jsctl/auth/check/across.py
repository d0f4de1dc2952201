"""What is wrong between accounts: imports against the exports of the accounts that they name.

The server's own rules (server/accounts.go: checkStreamExportApproved, checkServiceExportApproved,
checkAuth); neither
nats-io/jwt nor nsc looks at two accounts at once.
"""

from collections.abc import Iterator
from typing import NamedTuple

from jsctl.auth.check.activations import build_grant_line, find_activation_problem
from jsctl.auth.check.cycles import find_cycle
from jsctl.auth.check.fixes import build_export_line, build_import_line, build_line, get_import_name
from jsctl.auth.check.model import Finding, Owner, find_owner
from jsctl.auth.claims import Json, as_number, as_text, find_local_pattern, find_remote_subject
from jsctl.auth.environment import Account, Environment
from jsctl.nats.subjects import covers, overlaps


class Approval(NamedTuple):
    """Whether the exporting account accepts an import.

    code: the rule that refuses it; empty when none does. exporter: None when the store does not have it. at:
    the index of the export that decides, -1 for none. message: what is wrong, after "import X of ACCOUNT".
    fix: the command line that fixes it.
    """

    code: str
    exporter: Account | None
    at: int
    message: str = ""
    fix: str = ""


def check_across(environment: Environment, account: Account) -> Iterator[Finding]:
    """Yield the problems of an account's imports that show only beside the accounts that export."""
    owner = find_owner(environment.operator, account)
    for at, imported in enumerate(account.imports):
        subject, origin = as_text(imported.get("subject")), as_text(imported.get("account"))
        head = f"import {subject!r} of {environment.get_account_name(origin)}"
        approval = approve_import(environment, account, imported)
        if approval.code == "import-origin-unknown":
            yield owner.build_warning(
                approval.code, f"imports[{at}].account", f"{head} {approval.message}", approval.fix
            )
        elif approval.code:
            yield owner.build_error(
                approval.code, f"imports[{at}]", f"{head} {approval.message}", approval.fix
            )
        elif approval.exporter:
            export = approval.exporter.exports[approval.at]
            if imported.get("token") and not export.get("token_req"):
                why = f"{head} has an activation token, and the export is public"
                fix = build_import_line(owner, "edit", get_import_name(imported), "--token", "")
                yield owner.build_warning("import-token-unneeded", f"imports[{at}].token", why, fix)
            if circle := find_cycle(environment, account, imported):
                names = " -> ".join(environment.get_account_name(key) for key in circle)
                why = f"{head} is part of a cycle, which servers leave out: {names}"
                yield owner.build_error(
                    "import-cycle",
                    f"imports[{at}]",
                    why,
                    build_import_line(owner, "rm", get_import_name(imported)),
                )
    yield from _check_local_subjects(environment, account, owner)


def approve_import(environment: Environment, account: Account, imported: Json) -> Approval:
    """Return whether an import of an account works, by the first rule that refuses it."""
    owner = find_owner(environment.operator, account)
    origin = as_text(imported.get("account"))
    remove = build_import_line(owner, "rm", get_import_name(imported))
    if origin == account.public:
        return Approval("import-of-own", account, -1, "is of the account itself", remove)
    exporter = environment.get_account(origin)
    if exporter is None:
        why = "is of an account that is not in the store: whether it exports this is not known"
        fix = build_line("account", "query", origin, "--save", "--operator", owner.operator)
        return Approval("import-origin-unknown", None, -1, why, fix)
    at = find_export(exporter, imported)
    if at < 0:
        why, fix = _explain_missing(exporter, account, imported, owner)
        return Approval("import-not-exported", exporter, -1, why, fix)
    export = exporter.exports[at]
    position = as_number(export.get("account_token_position"))
    if position:
        why = _find_position_problem(
            find_remote_subject(imported), as_text(export.get("subject")), position, account
        )
        fix = _build_position_line(owner, exporter, imported, position, account)
        return Approval("import-account-token" if why else "", exporter, at, why, fix)
    if export.get("token_req"):
        grant = build_grant_line(exporter.name, export, imported, account.name, owner)
        if not as_text(imported.get("token")):
            why = "has no activation token, and the export is private"
            return Approval("import-without-token", exporter, at, why, grant)
        if problem := find_activation_problem(exporter, export, imported):
            why = f"has an activation token that {problem}"
            return Approval("import-token-refused", exporter, at, why, grant)
    return Approval("", exporter, at)


def find_export(exporter: Account, imported: Json) -> int:
    """Return the index of the export that decides on an import: the one with the same subject, else the first
    that covers it; -1 for none."""
    subject, kind = find_remote_subject(imported), imported.get("type")
    place = -1
    for at, export in enumerate(exporter.exports):
        if export.get("type") != kind:
            continue
        offered = as_text(export.get("subject"))
        if offered == subject:
            return at
        if place < 0 and covers(offered, subject):
            place = at
    return place


def _explain_missing(exporter: Account, account: Account, imported: Json, owner: Owner) -> tuple[str, str]:
    """Return why an import has no matching export, and the command line that fixes it."""
    subject, kind = find_remote_subject(imported), as_text(imported.get("type"))
    other = {"stream": "service", "service": "stream"}.get(kind, "")
    for export in exporter.exports:
        offered = as_text(export.get("subject"))
        if export.get("type") == other and covers(offered, subject):
            flag = ("--service",) if other == "service" else ()
            again = build_readd_import_line(owner, imported, {"type": other}, flag)
            return f"is imported as a {kind}, and exported as a {other}", again
    for export in exporter.exports:
        offered = as_text(export.get("subject"))
        if export.get("type") == kind and covers(subject, offered):
            again = build_readd_import_line(owner, imported, {"subject": offered})
            if any(find_remote_subject(other) == offered for other in account.imports):
                again = build_import_line(owner, "rm", get_import_name(imported))
            return f"is wider than what is exported, {offered!r}", again
    flags = ["--service"] if kind == "service" else []
    name = as_text(imported.get("name")) or subject
    words = ["account", "exports", "add", name, subject, exporter.name, *flags, "--operator", owner.operator]
    return "is not exported there", build_line(*words)


def build_readd_import_line(owner: Owner, imported: Json, changes: Json, flags: tuple[str, ...] = ()) -> str:
    """Return the command lines that remove an import and add it with `changes`. flags: the import's kind,
    where it changes."""
    add = build_add_import_line(owner, {**imported, **changes}, flags)
    return f"{build_import_line(owner, 'rm', get_import_name(imported))} && {add}"


def build_add_import_line(owner: Owner, imported: Json, flags: tuple[str, ...] = ()) -> str:
    """Return the command line that adds an import. flags: its kind; taken from the import when empty."""
    subject = as_text(imported.get("subject"))
    name, local = as_text(imported.get("name")) or subject, as_text(imported.get("local_subject"))
    if not flags and imported.get("type") == "service":
        flags = ("--service",)
    if local:
        flags = (*flags, "--local", local)
    words = (
        "account",
        "imports",
        "add",
        name,
        subject,
        owner.account,
        "--source",
        as_text(imported.get("account")),
    )
    return build_line(*words, *flags, "--operator", owner.operator)


def _find_position_problem(subject: str, offered: str, position: int, account: Account) -> str:
    tokens = subject.split(".")
    if position <= len(tokens) and tokens[position - 1] == account.public and subject != offered:
        return ""
    token = tokens[position - 1] if position <= len(tokens) else "nothing"
    return (
        f"has {token!r} as token {position}, where export {offered!r} wants the importing account's key "
        f"{account.public}"
    )


def _build_position_line(
    owner: Owner, exporter: Account, imported: Json, position: int, account: Account
) -> str:
    tokens = find_remote_subject(imported).split(".")
    if position > len(tokens):
        return build_export_line(owner._replace(account=exporter.name), "info", find_remote_subject(imported))
    tokens[position - 1] = account.public
    return build_readd_import_line(owner, imported, {"subject": ".".join(tokens)})


def _check_local_subjects(environment: Environment, account: Account, owner: Owner) -> Iterator[Finding]:
    """Yield the imports whose local subjects overlap, except services of one origin, which the JWT library
    checks (check/imports.py)."""
    for at, imported in enumerate(account.imports):
        for earlier in account.imports[:at]:
            kind, same = imported.get("type"), imported.get("account") == earlier.get("account")
            if kind != earlier.get("type") or not overlaps(
                find_local_pattern(imported), find_local_pattern(earlier)
            ):
                continue
            subject, path = as_text(imported.get("subject")), f"imports[{at}]"
            local = find_local_pattern(imported)
            names = [
                environment.get_account_name(as_text(each.get("account"))) for each in (earlier, imported)
            ]
            fix = build_import_line(owner, "edit", get_import_name(imported), "--local", "<subject>")
            if kind == "stream" and same and subject == as_text(earlier.get("subject")):
                why = f"stream {subject!r} of {names[0]} is imported twice: servers take the first"
                yield owner.build_error(
                    "import-twice", path, why, build_import_line(owner, "rm", get_import_name(imported))
                )
            elif kind == "service" and not same:
                both = f"of {names[0]} and {names[1]} are both at {local!r} here"
                why = f"services {both}: each request goes to both"
                yield owner.build_error("import-same-local-subject", path, why, fix)
            elif kind == "stream":
                both = f"of {names[0]} and {names[1]} are both at {local!r} here"
                why = f"streams {both}: their messages mix"
                yield owner.build_warning("import-same-local-subject", path, why, fix)
            else:
                continue
            break
