"""The name that a misspelled one probably means."""

from collections.abc import Iterable


def find_nearest(name: str, names: Iterable[str], *, likeness: float = 0.6) -> str:
    """Return the one of `names` that is most like a misspelled name; empty when none is similar.

    Upper and lower case count as the same. likeness: how similar both must be at least, from 0 to 1.
    """
    import difflib  # takes a while, and is needed after an error only

    by_lower = {other.lower(): other for other in names}
    nearest = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=likeness)
    return by_lower[nearest[0]] if nearest else ""
