"""The manual: a page of Markdown for each topic, in the order in which a reader would take them."""

import re
from importlib import resources

TOPICS = (
    *(
        "start",
        "contexts",
        "streams",
        "messages",
        "consumers",
        "dead-letters",
        "kv",
        "objects",
        "counters",
        "services",
        "bench",
        "performance",
    ),
    *(
        "report",
        "alerts",
        "doctor",
        "servers",
        "networks",
        "testing",
        "python",
        "assistants",
        "accounts",
        "domains",
        "backup",
        "apply",
    ),
    *(
        "export",
        "backfills",
        "import",
        "spark",
        "kafka",
        "clusters",
        "scripts",
        "permissions",
        "shell",
        "configuration",
        "stability",
        "contributing",
    ),
)
_NOTE = re.compile(r"^<!-- .*? -->\n", re.MULTILINE)
"""A line that is for those who write the page, such as the mark of a part that is generated."""
_COMMANDS = re.compile(r"^<!-- commands (.*?): generated -->$", re.MULTILINE)


def read_topic(topic: str) -> str:
    """Return the page of a topic."""
    return _NOTE.sub("", _read(topic))


def list_topics() -> dict[str, str]:
    """Return what each topic is about: the sentence below the title of its page."""
    return {topic: " ".join(_read(topic).split("\n\n")[1].split()) for topic in TOPICS}


def find_topic(command: str) -> str:
    """Return the topic whose page lists a command of the top level; empty if there is none."""
    for topic in TOPICS:
        mark = _COMMANDS.search(_read(topic))
        if mark and command in mark[1].split(", "):
            return topic
    return ""


def search(word: str, topic: str = "") -> list[tuple[str, int, str]]:
    """Return the lines with words that begin like this, of all pages or one: topic, number, text.

    Case does not matter.
    """
    pattern = re.compile(r"(?<!\w)" + re.escape(word), re.IGNORECASE)
    return [
        (name, number, line.strip())
        for name in ([topic] if topic else TOPICS)
        for number, line in enumerate(read_topic(name).splitlines(), 1)
        if pattern.search(line)
    ]


def _read(topic: str) -> str:
    return resources.files(__name__).joinpath(f"{topic}.md").read_text(encoding="utf-8")
