"""Suggestions for misspelled names."""

from collections.abc import Iterable


def find_nearest(name: str, names: Iterable[str], *, likeness: float = 0.6) -> str:
    """Return the most similar of `names`; empty when none is similar.

    Case does not matter. likeness: how similar both must be at least, from 0 to 1.
    """
    import difflib  # slow to import, and needed only after an error

    by_lower = {other.lower(): other for other in names}
    nearest = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=likeness)
    return by_lower[nearest[0]] if nearest else ""
