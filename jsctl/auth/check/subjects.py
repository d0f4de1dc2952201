"""Subjects as nats-io/jwt judges them (v2/types.go), which differs from what servers do with them."""

from jsctl.nats.subjects import is_subject


def find_subject_problem(subject: str) -> str:
    """Return what is wrong with a subject, "is empty"; empty for one that is valid.

    The library lets `>` stand anywhere, and servers then leave the subject out; here it is wrong too.
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
    """Return whether a subject is within another by the library's rule (IsContainedIn), where `*` stands for
    `>` too."""
    outers, inners = outer.split("."), inner.split(".")
    if len(inners) < len(outers) or (len(inners) > len(outers) and outers[-1] != ">"):
        return False
    for at, token in enumerate(outers):
        if at == len(outers) - 1 and token == ">":
            return True
        if token not in ("*", inners[at]):
            return False
    return True


def find_renaming_problem(renamed: str, subject: str) -> str:
    """Return what is wrong with the local subject of an import; empty for one that is valid
    (RenamingSubject.Validate)."""
    if problem := find_subject_problem(renamed):
        return problem
    tokens, stars = renamed.split("."), subject.split(".").count("*")
    if (tokens[-1] == ">") != (subject.split(".")[-1] == ">"):
        return "ends with > where the imported subject does not, or the other way round"
    used = 0
    for token in tokens:
        if token == "*":
            used += 1
        elif token.startswith("$") and token[1:].isdigit():
            if int(token[1:]) > stars:
                return f"has {token}, and the imported subject has {stars} wildcards *"
            used += 1
    return "" if used == stars else f"has {used} wildcards, and the imported subject has {stars}"
