"""Half open ranges of sequences."""

import itertools


def split_range(start: int, end: int, count: int) -> list[tuple[int, int]]:
    """Split [start, end) into at most `count` ranges of nearly the same length, none of them empty."""
    total = max(0, end - start)
    count = min(count, total)
    edges = [start + total * number // count for number in range(count + 1)] if count else []
    return list(itertools.pairwise(edges))


def count_ranges(total: int, least: int, cores: int) -> int:
    """Return how many ranges to read `total` sequences in: one for each core, fewer for few messages, and at
    least `least`."""
    return max(least, min(cores, total // 10_000), 1)
