"""`jsctl cheat`."""

from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

import click

from jsctl.base.command_lines import build_line
from jsctl.commands.cli import argument, command
from jsctl.env import Env
from jsctl.errors import NotFound
from jsctl.views.result import Column, Result, Table, Text

_ALIASES = {
    "auth": "operators",
    "backup": "streams",
    "consumer": "consumers",
    "context": "contexts",
    "kv": "buckets",
    "obj": "objects",
    "object": "objects",
    "pub": "messages",
    "publish": "messages",
    "reply": "messages",
    "request": "messages",
    "server": "servers",
    "service": "services",
    "stream": "streams",
    "sub": "messages",
    "subscribe": "messages",
}
"""Topics of the `nats` tool, and names of our nouns and verbs, with our topics."""


def _list_topics() -> dict[str, Traversable]:
    files = resources.files("jsctl.cheats").iterdir()
    return {file.name.removesuffix(".txt"): file for file in files if file.name.endswith(".txt")}


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return sorted(topic for topic in (*_list_topics(), *_ALIASES) if topic.startswith(incomplete))


@command("cheat", examples=["jsctl cheat", "jsctl cheat streams"])
@argument("topic", required=False, shell_complete=_complete)
def cheat(env: Env, topic: str | None) -> Result:
    """Show the topics if none is named."""
    topics = _list_topics()
    if topic is None:
        rows: list[Any] = [(name, build_line("cheat", name)) for name in sorted(topics)]
        return Result([Table("Cheat sheets", (Column("Topic", "topic"), Column("Show it", "command")), rows)])
    topic = _ALIASES.get(topic, topic)
    if topic not in topics:
        raise NotFound(f"there is no cheat sheet {topic!r}", f"choose one of {', '.join(sorted(topics))}")
    text = topics[topic].read_text().strip()
    return Result([Text(text, whole=True)], data={"topic": topic, "text": text})
