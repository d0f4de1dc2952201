"""What is wrong with the imports of an account, as far as that account alone shows (nats-io/jwt:
v2/imports.go)."""

from collections.abc import Iterator

from jsctl.auth.check.activations import check_activation
from jsctl.auth.check.fixes import build_import_line, get_import_name
from jsctl.auth.check.model import Finding, Owner
from jsctl.auth.check.subjects import find_renaming_problem, find_subject_problem, is_contained
from jsctl.auth.claims import Json, as_text, find_local_pattern
from jsctl.auth.environment import Account
from jsctl.auth.keys import ACCOUNT, find_key_kind


def check_imports(account: Account, owner: Owner, now: float) -> Iterator[Finding]:
    """Yield the problems of each import, and of imports from one origin. now: seconds since 1970."""
    for at, imported in enumerate(account.imports):
        path = f"imports[{at}]"
        yield from _check_import(imported, path, owner)
        if as_text(imported.get("token")):
            yield from check_activation(account.public, imported, path, owner, now)
    yield from _check_same_origin(account, owner)


def _check_import(imported: Json, path: str, owner: Owner) -> Iterator[Finding]:
    subject, kind = as_text(imported.get("subject")), as_text(imported.get("type"))
    local = as_text(imported.get("local_subject"))
    name = get_import_name(imported)
    remove = build_import_line(owner, "rm", name)
    if kind not in ("stream", "service"):
        why = f"import {subject!r} is neither a stream nor a service"
        yield owner.build_error("import-type", f"{path}.type", why, remove)
    if kind == "service" and imported.get("allow_trace"):
        why = f"import {subject!r} allows traces, which only streams do"
        fix = build_import_line(owner, "edit", name, "--no-traceable")
        yield owner.build_error("import-trace", f"{path}.allow_trace", why, fix)
    if kind != "service" and imported.get("share"):
        why = f"import {subject!r} shares connection information, which only services do"
        fix = build_import_line(owner, "edit", name, "--no-share")
        yield owner.build_error("import-share", f"{path}.share", why, fix)
    origin = as_text(imported.get("account"))
    if find_key_kind(origin) != ACCOUNT:
        what = f"account {origin!r}, which is not a public key" if origin else "no account"
        yield owner.build_error(
            "import-account", f"{path}.account", f"import {subject!r} names {what}", remove
        )
    if problem := find_subject_problem(subject):
        why = f"import subject {subject!r} {problem}"
        yield owner.build_error("import-subject", f"{path}.subject", why, remove)
    elif local and (problem := find_renaming_problem(local, subject)):
        why = f"local subject {local!r} of import {subject!r} {problem}"
        fix = build_import_line(owner, "edit", name, "--local", "<subject>")
        yield owner.build_error("import-local-subject", f"{path}.local_subject", why, fix)
    if as_text(imported.get("to")):
        if local:
            why = f"import {subject!r} has both a local subject and the old `to`"
            yield owner.build_error("import-to", f"{path}.to", why, remove)
        else:
            why = f"import {subject!r} has the old `to`, in place of a local subject"
            fix = build_import_line(owner, "edit", name, "--local", find_local_pattern(imported))
            yield owner.build_warning("import-to", f"{path}.to", why, fix)


def _check_same_origin(account: Account, owner: Owner) -> Iterator[Finding]:
    """Yield the services of one origin whose local subjects overlap: servers refuse the account."""
    services = [
        (at, imported) for at, imported in enumerate(account.imports) if imported.get("type") == "service"
    ]
    for place, (at, imported) in enumerate(services):
        subject = find_local_pattern(imported)
        for _, other in services[:place]:
            earlier = find_local_pattern(other)
            same = imported.get("account") == other.get("account")
            if same and (is_contained(subject, earlier) or is_contained(earlier, subject)):
                yield owner.build_error(
                    "import-overlap",
                    f"imports[{at}]",
                    f"two services imported from one account overlap here: {earlier!r} and {subject!r}",
                    build_import_line(owner, "edit", get_import_name(imported), "--local", "<subject>"),
                )
                break
