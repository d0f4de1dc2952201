"""The search for tools by words, as an assistant puts them."""

import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from jsctl.commands.assistants.tools import Verb

_COMMON = frozenset(
    {
        *("a", "all", "an", "and", "are", "at", "by", "can", "do", "does", "for", "from", "have", "how", "i"),
        *("in", "is", "it", "its", "me", "my", "of", "on", "or", "that", "the", "them", "they", "to", "was"),
        *("what", "which", "who", "whose", "with"),
    }
)
"""Words of a query that say nothing about a verb."""


def search(verbs: Mapping[str, Verb], query: str) -> list[Verb]:
    """Return the verbs whose name, aliases or help have words of a query, the best first: a word counts the
    more, the fewer verbs have it, twice in the name, and half in the description."""
    asked = _split(query)
    words = {*asked} - _COMMON | _join_pairs(asked)
    if not words:
        return [*verbs.values()]
    places = {
        name: [
            frozenset(_split(text))
            for text in (
                " ".join([verb.path, verb.mode, *verb.entry.aliases]),
                verb.entry.help,
                verb.description,
            )
        ]
        for name, verb in verbs.items()
    }
    points = dict.fromkeys(verbs, 0.0)
    for word in words:
        found = {
            name: weight
            for name, texts in places.items()
            if (weight := max(w * _has(word, text) for w, text in zip((2.0, 1.0, 0.5), texts, strict=True)))
        }
        for name, weight in found.items():
            points[name] += weight * math.log(1 + len(verbs) / len(found))
    return [verbs[name] for name in sorted(verbs, key=lambda name: -points[name]) if points[name]]


def _split(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def _join_pairs(words: Sequence[str]) -> set[str]:
    """Return each word with the next one: "back up" is "backup"."""
    return {first + second for first, second in pairwise(words)}


def _has(word: str, words: frozenset[str]) -> bool:
    """Return whether a word is there, perhaps with another ending."""
    stem = word[: max(4, len(word) - 3)]
    return word in words or (len(word) > 3 and any(other.startswith(stem) for other in words))
