"""Checks of subjects by the rules of nats-io/jwt (v2/types.go), which differ from those of servers, and of
the descriptions and URLs of accounts and exports (Info)."""

from urllib.parse import urlsplit

from jsctl.auth.claims import Json, as_text
from jsctl.base.units import pluralize
from jsctl.nats.subjects import is_subject

MAX_INFO = 8 * 1024
"""Maximum number of bytes of a description or URL."""


def find_subject_problem(subject: str) -> str:
    """Return what is wrong with a subject, such as "is empty"; an empty text when it is valid.

    The library accepts `>` anywhere, but servers ignore such subjects, so this function reports them.
    """
    if not subject:
        return "is empty"
    if any(letter.isspace() for letter in subject):
        return "has spaces"
    if "" in subject.split("."):
        return "has an empty token"
    return "" if is_subject(subject) else "has > before its end"


def has_wildcards(subject: str) -> bool:
    """Return whether a subject has a token `*` or `>`."""
    tokens = subject.split(".")
    return "*" in tokens or tokens[-1] == ">"


def is_contained(inner: str, outer: str) -> bool:
    """Return whether a subject is contained in another by the library's rule (IsContainedIn), in which `*`
    also covers `>`."""
    outers, inners = outer.split("."), inner.split(".")
    if len(inners) < len(outers) or (len(inners) > len(outers) and outers[-1] != ">"):
        return False
    for index, token in enumerate(outers):
        if index == len(outers) - 1 and token == ">":
            return True
        if token not in ("*", inners[index]):
            return False
    return True


def find_renaming_problem(renamed: str, subject: str) -> str:
    """Return what is wrong with the local subject of an import; empty for one that is valid
    (RenamingSubject.Validate)."""
    if problem := find_subject_problem(renamed):
        return problem
    tokens, stars = renamed.split("."), subject.split(".").count("*")
    if (tokens[-1] == ">") != (subject.split(".")[-1] == ">"):
        return "and the imported subject must both end with >, or neither"
    used = 0
    for token in tokens:
        if token == "*":
            used += 1
        elif token.startswith("$") and token[1:].isdigit():
            if int(token[1:]) > stars:
                return f"has {token}, but the imported subject has only {pluralize(stars, 'wildcard')}"
            used += 1
    return "" if used == stars else f"has {pluralize(used, 'wildcard')}, but the imported subject has {stars}"


def find_info_problem(claims: Json) -> str:
    """Return what is wrong with `description` or `info_url`; empty when both are valid."""
    description, url = as_text(claims.get("description")), as_text(claims.get("info_url"))
    if len(description.encode()) > MAX_INFO:
        return f"the description has more than {MAX_INFO:,} bytes"
    if len(url.encode()) > MAX_INFO:
        return f"the URL has more than {MAX_INFO:,} bytes"
    try:
        parts = urlsplit(url)
        valid = bool(parts.scheme and parts.hostname)
    except ValueError:
        valid = False
    return f"the URL {url!r} has no host or no protocol" if url and not valid else ""
