"""Names of servers without what all of them share."""

from collections.abc import Sequence


def short_names(names: Sequence[str]) -> list[str]:
    """Return host names without the domain that all of them end in: `n1.example.net` is `n1`. Addresses and
    single names stay whole."""
    parts = [name.split(".") for name in names]
    if len(names) < 2 or any(len(labels) < 2 or labels[-1].isdigit() for labels in parts):
        return list(names)
    shared = 0
    while shared < min(map(len, parts)) - 1 and len({labels[-1 - shared] for labels in parts}) == 1:
        shared += 1
    return [".".join(labels[: len(labels) - shared]) for labels in parts]
