"""Ranges of sequences, half open. Pure."""

import itertools


def split_range(start: int, end: int, parts: int) -> list[tuple[int, int]]:
    """[start, end) in at most `parts` ranges of nearly the same length, in order, none of them empty."""
    total = max(0, end - start)
    parts = min(parts, total)
    edges = [start + total * part // parts for part in range(parts + 1)] if parts else []
    return list(itertools.pairwise(edges))


def count_ranges(total: int, least: int, cores: int) -> int:
    """How many ranges: one a core, unless there is too little to share; `least` is what the user wants."""
    return max(least, min(cores, total // 10_000), 1)
