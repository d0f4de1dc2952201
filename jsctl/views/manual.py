"""`manual`."""

from collections.abc import Mapping, Sequence

from jsctl.views.result import Column, Markdown, Result, Table

_TOPICS = (Column("Topic", "topic"), Column("About", "about", "prose"))
_MATCHES = (Column("Topic", "topic"), Column("Line", "line", "number"), Column("Text", "text", "prose"))


def topics(about: Mapping[str, str]) -> Result:
    """Return the list of topics, each with what it is about."""
    return Result([Table("Manual", _TOPICS, list(about.items()))])


def matches(word: str, lines: Sequence[tuple[str, int, str]]) -> Result:
    """Return the lines that contain a word: topic, number and text."""
    return Result([Table(f"Lines with {word}", _MATCHES, lines)])


def page(topic: str, text: str) -> Result:
    """Return the page of a topic, as Markdown."""
    return Result([Markdown(text)], data={"topic": topic, "text": text}, paged=True)
