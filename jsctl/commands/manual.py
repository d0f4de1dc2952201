"""`jsctl manual`."""

from typing import cast

import click

from jsctl import manual as pages
from jsctl import registry
from jsctl.base.similar_names import find_nearest
from jsctl.base.units import pluralize
from jsctl.commands.cli import argument, command, option
from jsctl.env import Env
from jsctl.errors import BadInput, NotFound
from jsctl.views.result import Column, Markdown, Result, Table, Text

_TOPICS = (Column("Topic", "topic"), Column("About", "about", "prose"))
_MATCHES = (Column("Topic", "topic"), Column("Line", "line", "number"), Column("Text", "text", "prose"))


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return [topic for topic in pages.TOPICS if topic.startswith(incomplete)]


@command(
    "manual",
    examples=["jsctl manual", "jsctl manual streams", "jsctl manual --search lag", "jsctl manual --man"],
)
@argument("topic", required=False, shell_complete=_complete)
@option("--search", "word", metavar="WORD", help="List the lines with words that begin like this")
@option("--man", is_flag=True, help="Write a page for each command where man looks: man jsctl-stream-add")
@option("--remove", is_flag=True, help="Remove what --man has written")
def manual(env: Env, topic: str | None, word: str | None, man: bool, remove: bool) -> Result:
    """Show the topics if none is named. The name of a command stands for the topic that explains it.

    On a terminal, a page is shown with PAGER; in a pipe it is plain Markdown.
    """
    if man or remove:
        if topic or word:
            raise BadInput("--man and --remove are about all pages", "leave out the topic")
        return _remove_man_pages(env) if remove else _write_man_pages(env)
    name = _resolve(topic) if topic else ""
    if word:
        matches = pages.search(word, name)
        if not matches:
            raise NotFound(f"the manual does not contain {word!r}", "'jsctl manual' lists its topics")
        return Result([Table(f"Lines with {word}", _MATCHES, matches)])
    if not name:
        return Result([Table("Manual", _TOPICS, list(pages.list_topics().items()))])
    text = pages.read_topic(name)
    return Result([Markdown(text)], data={"topic": name, "text": text}, paged=True)


def _write_man_pages(env: Env) -> Result:
    from jsctl.commands.installing import man_pages

    folder = man_pages.find_folder(env.environ)
    count = man_pages.install(cast(click.Group, click.get_current_context().find_root().command), folder)
    text = f"{folder}: {pluralize(count, 'page')} written; man jsctl"
    is_searched = man_pages.is_searched(folder, env.environ)
    if not is_searched:
        text += f" finds them with this line in your shell's start-up file: export MANPATH='{folder.parent}:'"
    return Result([Text(text)], data={"folder": str(folder), "pages": count, "searched": is_searched})


def _remove_man_pages(env: Env) -> Result:
    from jsctl.commands.installing import man_pages

    folder = man_pages.find_folder(env.environ)
    count = man_pages.uninstall(folder)
    return Result(
        [Text(f"{folder}: {pluralize(count, 'page')} removed")], data={"folder": str(folder), "pages": count}
    )


def _resolve(name: str) -> str:
    """Return the topic of a name. Raises NotFound, which suggests the one that is probably meant."""
    if name in pages.TOPICS:
        return name
    commands = {
        word: command
        for command, entry in registry.list_children("").items()
        for word in (command, *entry.aliases)
    }
    if topic := pages.find_topic(commands.get(name, "")):
        return topic
    nearest = find_nearest(name, pages.TOPICS) or find_nearest(name, commands)
    hint = f"did you mean {nearest!r}?" if nearest else "'jsctl manual' lists all topics"
    raise NotFound(f"the manual has no topic {name!r}", hint)
