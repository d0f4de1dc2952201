"""Checks of an account's imports that need no other account (nats-io/jwt: v2/imports.go)."""

from collections.abc import Iterator

from jsctl.auth.check.activations import check_activation
from jsctl.auth.check.fixes import build_import_line
from jsctl.auth.check.model import Finding, Owner
from jsctl.auth.check.repairs import find_free_subject
from jsctl.auth.check.subjects import find_renaming_problem, find_subject_problem, is_contained
from jsctl.auth.claims import Json, as_text, find_local_pattern
from jsctl.auth.keys import ACCOUNT, find_key_kind
from jsctl.auth.records import Account
from jsctl.base.command_lines import build_flag


def check_imports(account: Account, owner: Owner, now: float) -> Iterator[Finding]:
    """Yield the problems of each import, and of imports from the same account. now: seconds since 1970."""
    for index, imported in enumerate(account.imports):
        path = f"imports[{index}]"
        yield from _check_import(account, imported, path, owner)
        if as_text(imported.get("token")):
            yield from check_activation(account, imported, path, owner, now)
    yield from _check_same_origin(account, owner)


def _check_import(account: Account, imported: Json, path: str, owner: Owner) -> Iterator[Finding]:
    subject, kind = as_text(imported.get("subject")), as_text(imported.get("type"))
    local = as_text(imported.get("local_subject"))
    remove = build_import_line(account, owner, "rm", imported)
    if kind not in ("stream", "service"):
        reason = f"import {subject!r} is neither a stream nor a service"
        yield owner.build_error("import-type", f"{path}.type", reason, remove)
    if kind == "service" and imported.get("allow_trace"):
        reason = f"import {subject!r} is a service and cannot allow traces"
        fix = build_import_line(account, owner, "edit", imported, "--no-traceable")
        yield owner.build_error("import-trace", f"{path}.allow_trace", reason, fix)
    if kind != "service" and imported.get("share"):
        reason = f"import {subject!r} is a stream and cannot share connection information"
        fix = build_import_line(account, owner, "edit", imported, "--no-share")
        yield owner.build_error("import-share", f"{path}.share", reason, fix)
    origin = as_text(imported.get("account"))
    if find_key_kind(origin) != ACCOUNT:
        description = f"account {origin!r}, which is not a public key" if origin else "no account"
        yield owner.build_error(
            "import-account", f"{path}.account", f"import {subject!r} names {description}", remove
        )
    if problem := find_subject_problem(subject):
        reason = f"import subject {subject!r} {problem}"
        yield owner.build_error("import-subject", f"{path}.subject", reason, remove)
    elif local and (problem := find_renaming_problem(local, subject)):
        reason = f"local subject {local!r} of import {subject!r} {problem}"
        fix = build_local_line(account, imported, owner)
        yield owner.build_error("import-local-subject", f"{path}.local_subject", reason, fix)
    if as_text(imported.get("to")):
        if local:
            reason = f"import {subject!r} has both a local subject and the deprecated `to`"
            fix = build_import_line(account, owner, "edit", imported, *build_flag("--local", local))
            yield owner.build_error("import-to", f"{path}.to", reason, fix)
        else:
            reason = f"import {subject!r} has the deprecated `to` instead of a local subject"
            fix = build_import_line(
                account, owner, "edit", imported, *build_flag("--local", find_local_pattern(imported))
            )
            yield owner.build_warning("import-to", f"{path}.to", reason, fix)


def build_local_line(account: Account, imported: Json, owner: Owner) -> str:
    """Return the command line that gives an import a local subject that no other import has."""
    others = [find_local_pattern(other) for other in account.imports if other is not imported]
    local = find_free_subject(imported, others)
    return build_import_line(account, owner, "edit", imported, *build_flag("--local", local))


def _check_same_origin(account: Account, owner: Owner) -> Iterator[Finding]:
    """Yield the services from the same account whose local subjects overlap: servers refuse the account."""
    services = [
        (index, imported)
        for index, imported in enumerate(account.imports)
        if imported.get("type") == "service"
    ]
    for position, (index, imported) in enumerate(services):
        subject = find_local_pattern(imported)
        for _, other in services[:position]:
            earlier = find_local_pattern(other)
            same = imported.get("account") == other.get("account")
            if same and (is_contained(subject, earlier) or is_contained(earlier, subject)):
                yield owner.build_error(
                    "import-overlap",
                    f"imports[{index}]",
                    f"two services imported from the same account overlap: {earlier!r} and {subject!r}",
                    build_local_line(account, imported, owner),
                )
                break
