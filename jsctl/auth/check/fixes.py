"""The jsctl command line that fixes a finding. A test parses each of them."""

import shlex

from jsctl.auth.check.model import Owner
from jsctl.auth.claims import Json, as_text


def build_line(*words: str) -> str:
    """Return a `jsctl auth` command line, quoted for a shell; words in <> are for the reader to fill in."""
    return "jsctl auth " + " ".join(word if word.startswith("<") else shlex.quote(word) for word in words)


def build_operator_line(owner: Owner, *words: str) -> str:
    """Return a command line of `jsctl auth operator` for the owner's operator."""
    return build_line("operator", *words[:1], owner.operator, *words[1:])


def build_account_line(owner: Owner, *words: str) -> str:
    """Return a command line of `jsctl auth account` for the owner's account; the flags come last."""
    return build_line("account", *words[:1], owner.account, *words[1:], "--operator", owner.operator)


def build_user_line(owner: Owner, *words: str) -> str:
    """Return a command line of `jsctl auth user` for the owner's user."""
    return build_line("user", *words[:1], owner.user, owner.account, *words[1:], "--operator", owner.operator)


def build_signing_line(owner: Owner) -> str:
    """Return the command line that signs an owner's claims again, unchanged."""
    if owner.user:
        return build_user_line(owner, "edit")
    return build_account_line(owner, "edit") if owner.account else build_operator_line(owner, "edit")


def build_export_line(owner: Owner, verb: str, subject: str, *flags: str) -> str:
    """Return `jsctl auth account exports edit|rm SUBJECT ACCOUNT`."""
    words = ("account", "exports", verb, subject, owner.account, *flags, "--operator", owner.operator)
    return build_line(*words)


def build_readd_export_line(owner: Owner, export: Json) -> str:
    """Return the command lines that remove an export and add it again without its settings."""
    subject = as_text(export.get("subject"))
    flags = [flag for flag, key in (("--private", "token_req"),) if export.get(key)]
    flags += ["--service"] if export.get("type") == "service" else []
    words = (
        "account",
        "exports",
        "add",
        as_text(export.get("name")) or subject,
        subject,
        owner.account,
        *flags,
    )
    return f"{build_export_line(owner, 'rm', subject)} && {build_line(*words, '--operator', owner.operator)}"


def build_import_line(owner: Owner, verb: str, subject: str, *flags: str) -> str:
    """Return `jsctl auth account imports edit|rm SUBJECT ACCOUNT`. subject: see `get_import_name`."""
    words = ("account", "imports", verb, subject, owner.account, *flags, "--operator", owner.operator)
    return build_line(*words)


def get_import_name(imported: Json) -> str:
    """Return the subject by which commands find an import: its local subject, or else the exporter's."""
    return as_text(imported.get("local_subject")) or as_text(imported.get("subject"))
