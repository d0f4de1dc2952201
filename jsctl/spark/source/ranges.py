"""Half open ranges of sequences."""

import itertools


def split_range(start: int, end: int, parts: int) -> list[tuple[int, int]]:
    """Split [start, end) into at most `parts` ranges of nearly the same length, none of them empty."""
    total = max(0, end - start)
    parts = min(parts, total)
    edges = [start + total * part // parts for part in range(parts + 1)] if parts else []
    return list(itertools.pairwise(edges))


def count_ranges(total: int, least: int, cores: int) -> int:
    """Return how many ranges to read `total` sequences in: one for each core, fewer for few messages, and at
    least `least`."""
    return max(least, min(cores, total // 10_000), 1)
