"""`jsctl manual`."""

import click

from jsctl import manual as pages
from jsctl import registry
from jsctl.base.similar_names import find_nearest
from jsctl.commands.cli import argument, command, option
from jsctl.env import Env
from jsctl.errors import NotFound
from jsctl.views import manual as view
from jsctl.views.result import Result


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return [topic for topic in pages.TOPICS if topic.startswith(incomplete)]


@command("manual", examples=["jsctl manual", "jsctl manual streams", "jsctl manual --search lag"])
@argument("topic", required=False, shell_complete=_complete)
@option("--search", "word", metavar="WORD", help="List the lines with words that begin like this")
def manual(env: Env, topic: str | None, word: str | None) -> Result:
    """Show the topics if none is named. The name of a command stands for the topic that explains it.

    On a terminal, a page is shown with PAGER; in a pipe it is plain Markdown.
    """
    name = _resolve(topic) if topic else ""
    if word:
        matches = pages.search(word, name)
        if not matches:
            raise NotFound(f"the manual does not contain {word!r}", "'jsctl manual' lists its topics")
        return view.matches(word, matches)
    return view.page(name, pages.read_topic(name)) if name else view.topics(pages.list_topics())


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
