"""Checks between accounts: imports against the exports of the accounts that they name.

The rules are the server's own (server/accounts.go: checkStreamExportApproved, checkServiceExportApproved,
checkAuth, checkServiceImportsForCycles, checkStreamImportsForCycles); neither nats-io/jwt nor nsc compares
two accounts.
"""

import time
from collections.abc import Iterator
from typing import NamedTuple

from jsctl.auth.check.activations import build_grant_line, find_activation_problem
from jsctl.auth.check.fixes import build_import_line, build_owner_line
from jsctl.auth.check.imports import build_local_line
from jsctl.auth.check.model import Finding, Owner, find_owner
from jsctl.auth.claims import (
    Json,
    as_number,
    as_text,
    find_local_pattern,
    find_remote_subject,
    find_revocation,
)
from jsctl.auth.environment import Environment
from jsctl.auth.records import Account
from jsctl.base.command_lines import build_flag
from jsctl.nats.subjects import covers, overlaps


class Approval(NamedTuple):
    """Whether the exporting account accepts an import.

    code: the rule that refuses it; empty when none does. exporter: None when the store does not have it.
    export_index: the index of the export that decides; -1 for none. message: what is wrong, to follow "import
    X of ACCOUNT". fix: the command line that fixes it.
    """

    code: str
    exporter: Account | None
    export_index: int
    message: str = ""
    fix: str = ""


def check_across(environment: Environment, account: Account) -> Iterator[Finding]:
    """Yield the problems of an account's imports that only the exporting accounts reveal."""
    owner = find_owner(environment.operator, account)
    for index, imported in enumerate(account.imports):
        subject, origin = as_text(imported.get("subject")), as_text(imported.get("account"))
        label = f"import {subject!r} of {environment.get_account_name(origin)}"
        approval = approve_import(environment, account, imported)
        if approval.code == "import-origin-unknown":
            yield owner.build_warning(
                approval.code, f"imports[{index}].account", f"{label} {approval.message}", approval.fix
            )
        elif approval.code:
            yield owner.build_error(
                approval.code, f"imports[{index}]", f"{label} {approval.message}", approval.fix
            )
        elif approval.exporter:
            export = approval.exporter.exports[approval.export_index]
            if imported.get("token") and not export.get("token_req"):
                reason = f"{label} has an activation token, but the export is public"
                fix = build_import_line(account, owner, "edit", imported, "--token", "")
                yield owner.build_warning("import-token-unneeded", f"imports[{index}].token", reason, fix)
            if cycle := _find_cycle(environment, account, imported):
                names = " -> ".join(environment.get_account_name(key) for key in cycle)
                reason = f"{label} is part of a cycle, and servers ignore it: {names}"
                yield owner.build_error(
                    "import-cycle",
                    f"imports[{index}]",
                    reason,
                    build_import_line(account, owner, "rm", imported),
                )
    yield from _check_local_subjects(environment, account, owner)


def approve_import(environment: Environment, account: Account, imported: Json) -> Approval:
    """Return whether an import of an account works; if not, the first rule that refuses it."""
    owner = find_owner(environment.operator, account)
    origin = as_text(imported.get("account"))
    remove = build_import_line(account, owner, "rm", imported)
    if origin == account.public:
        return Approval("import-of-own", account, -1, "names the importing account itself", remove)
    exporter = environment.get_account(origin)
    if exporter is None:
        reason = "is from an account that is not in the store, so whether it is exported is unknown"
        fix = build_owner_line(owner, "account query", origin, flags=["--save"]) if origin else remove
        return Approval("import-origin-unknown", None, -1, reason, fix)
    index = find_export(exporter, imported)
    if index < 0:
        reason, fix = _explain_missing(exporter, account, imported, owner)
        return Approval("import-not-exported", exporter, -1, reason, fix)
    export = exporter.exports[index]
    position = as_number(export.get("account_token_position"))
    if position:
        reason = _find_position_problem(
            find_remote_subject(imported), as_text(export.get("subject")), position, account
        )
        fix = _build_position_line(owner, imported, position, account)
        return Approval("import-account-token" if reason else "", exporter, index, reason, fix)
    if export.get("token_req"):
        grant = build_grant_line(account, imported, owner)
        if not as_text(imported.get("token")):
            reason = "has no activation token, but the export is private"
            return Approval("import-without-token", exporter, index, reason, grant)
        if problem := find_activation_problem(exporter, export, imported):
            reason = f"has an activation token that {problem}"
            if find_revocation(export.get("revocations"), account.public, int(time.time())):
                return Approval("import-token-refused", exporter, index, f"{reason}, and will be if renewed")
            return Approval("import-token-refused", exporter, index, reason, grant)
    return Approval("", exporter, index)


def find_export(exporter: Account, imported: Json) -> int:
    """Return the index of the export that decides on an import: the one with the same subject, else the first
    that covers it; -1 for none."""
    subject, kind = find_remote_subject(imported), imported.get("type")
    covering_index = -1
    for index, export in enumerate(exporter.exports):
        if export.get("type") != kind:
            continue
        offered = as_text(export.get("subject"))
        if offered == subject:
            return index
        if covering_index < 0 and covers(offered, subject):
            covering_index = index
    return covering_index


def _explain_missing(exporter: Account, account: Account, imported: Json, owner: Owner) -> tuple[str, str]:
    """Return why an import has no matching export, and the command line that fixes it."""
    subject, kind = find_remote_subject(imported), as_text(imported.get("type"))
    other = {"stream": "service", "service": "stream"}.get(kind, "")
    for export in exporter.exports:
        offered = as_text(export.get("subject"))
        if export.get("type") == other and covers(offered, subject):
            flag = ("--service",) if other == "service" else ()
            fix = build_readd_import_line(account, owner, imported, {"type": other}, flag)
            if any(c.get("type") == other and find_remote_subject(c) == subject for c in account.imports):
                fix = build_import_line(account, owner, "rm", imported)
            return f"is imported as a {kind} but exported as a {other}", fix
    for export in exporter.exports:
        offered = as_text(export.get("subject"))
        if export.get("type") == kind and covers(subject, offered):
            fix = build_readd_import_line(account, owner, imported, {"subject": offered})
            if any(find_remote_subject(other) == offered for other in account.imports):
                fix = build_import_line(account, owner, "rm", imported)
            return f"covers more than the exported subject {offered!r}", fix
    flags = ["--service"] if kind == "service" else []
    name = as_text(imported.get("name")) or subject
    line = build_owner_line(owner, "account exports add", name, subject, exporter.name, flags=flags)
    return "is not exported by that account", line


def build_readd_import_line(
    account: Account, owner: Owner, imported: Json, changes: Json, flags: tuple[str, ...] = ()
) -> str:
    """Return the command lines that remove an import and add it again with `changes`. flags: the kind,
    where it changes."""
    add = build_add_import_line(owner, {**imported, **changes}, flags)
    remove = build_import_line(account, owner, "rm", imported)
    return f"{remove} && {add}" if remove else ""


def build_add_import_line(owner: Owner, imported: Json, flags: tuple[str, ...] = ()) -> str:
    """Return the command line that adds an import. flags: its kind; taken from the import when empty."""
    subject = as_text(imported.get("subject"))
    name, local = as_text(imported.get("name")) or subject, as_text(imported.get("local_subject"))
    if not flags and imported.get("type") == "service":
        flags = ("--service",)
    if local:
        flags = (*flags, *build_flag("--local", local))
    flags += ("--share",) if imported.get("share") and "--service" in flags else ()
    flags += ("--traceable",) if imported.get("allow_trace") and "--service" not in flags else ()
    flags = (*build_flag("--source", as_text(imported.get("account"))), *flags)
    return build_owner_line(owner, "account imports add", name, subject, owner.account, flags=flags)


def _find_position_problem(subject: str, offered: str, position: int, account: Account) -> str:
    tokens = subject.split(".")
    if position <= len(tokens) and tokens[position - 1] == account.public and subject != offered:
        return ""
    token = tokens[position - 1] if position <= len(tokens) else "nothing"
    return (
        f"has {token!r} as token {position}, where export {offered!r} requires the importing account's key "
        f"{account.public}"
    )


def _build_position_line(owner: Owner, imported: Json, position: int, account: Account) -> str:
    tokens = find_remote_subject(imported).split(".")
    if position > len(tokens):
        return ""
    tokens[position - 1] = account.public
    return build_readd_import_line(account, owner, imported, {"subject": ".".join(tokens)})


def _check_local_subjects(environment: Environment, account: Account, owner: Owner) -> Iterator[Finding]:
    """Yield the imports whose local subjects overlap, except services from one account, which the JWT library
    checks (check/imports.py)."""
    for index, imported in enumerate(account.imports):
        for earlier in account.imports[:index]:
            kind, same = imported.get("type"), imported.get("account") == earlier.get("account")
            if kind != earlier.get("type") or not overlaps(
                find_local_pattern(imported), find_local_pattern(earlier)
            ):
                continue
            subject, path = as_text(imported.get("subject")), f"imports[{index}]"
            local = find_local_pattern(imported)
            names = [
                environment.get_account_name(as_text(claims.get("account"))) for claims in (earlier, imported)
            ]
            fix = build_local_line(account, imported, owner)
            if kind == "stream" and same and subject == as_text(earlier.get("subject")):
                reason = f"stream {subject!r} of {names[0]} is imported twice; servers use the first import"
                yield owner.build_error(
                    "import-twice", path, reason, build_import_line(account, owner, "rm", imported)
                )
            elif kind == "service" and not same:
                both = f"of {names[0]} and {names[1]} are both imported as {local!r}"
                reason = f"services {both}: each request goes to both"
                yield owner.build_error("import-same-local-subject", path, reason, fix)
            elif kind == "stream":
                both = f"of {names[0]} and {names[1]} are both imported as {local!r}"
                reason = f"streams {both}: their messages mix"
                yield owner.build_warning("import-same-local-subject", path, reason, fix)
            else:
                continue
            break


def _find_cycle(environment: Environment, account: Account, imported: Json) -> list[str]:
    """Return the keys of the accounts through which an import returns to its own account; empty when it does
    not."""
    exporter = environment.get_account(as_text(imported.get("account")))
    if exporter is None:
        return []
    kind, subjects = "service", [find_local_pattern(imported)]
    if imported.get("type") != kind:
        kind, subjects = "stream", [*subjects, find_remote_subject(imported)]
    cycles = (_follow(environment, exporter, kind, subject, [account.public]) for subject in subjects)
    return next(filter(None, cycles), [])


def _follow(
    environment: Environment, account: Account, kind: str, subject: str, path: list[str]
) -> list[str]:
    """Return the keys in `path`, and those after it, when an import of a subject returns to one of them."""
    if kind == "stream" and not any(
        export.get("type") == kind and covers(as_text(export.get("subject")), subject)
        for export in account.exports
    ):
        return []
    for imported in account.imports:
        local, origin = find_local_pattern(imported), as_text(imported.get("account"))
        passing = local if kind == "stream" else find_remote_subject(imported)
        if imported.get("type") != kind or not overlaps(subject, passing):
            continue
        if origin in path:
            return [*path, account.public, origin]
        next_account = environment.get_account(origin)
        if next_account is None or account.public in path:
            continue
        next_subject = local if covers(local, subject) else subject
        if cycle := _follow(environment, next_account, kind, next_subject, [*path, account.public]):
            return cycle
    return []
