"""What `jsctl demo` does: the leaf node guide's commands, up to its Replication Report, and the report
in Spark. `{hub}` and `{system}` are contexts, `{reports}` is a folder."""

from typing import NamedTuple


class Step(NamedTuple):
    """A command line of jsctl, and what is to be seen.

    copied: streams in the domain hub that must hold a message before the command is run.
    gentle: ctrl-C ends the command in its own way, as it has files to remove.
    """

    note: str
    args: tuple[str, ...]
    copied: tuple[str, ...] = ()
    gentle: bool = False


_HUB = ("--context", "{hub}")
_BOTH = (*_HUB, "--js-domain", "hub", "--js-domain", "leaf")
_COPIES = ("backup-test-leaf", "aggregate-test-leaf")

GUIDE = (
    Step(
        "The system accounts are connected, so one report covers both servers.",
        ("server", "report", "jetstream", "--context", "{system}"),
    ),
    Step(
        "A stream in the domain that we are connected to: hub.",
        ("stream", "add", "test", "--subjects", "test", "--defaults", *_HUB),
    ),
    Step(
        "The same in the domain leaf, through the same connection.",
        ("stream", "add", "test", "--subjects", "test", "--defaults", *_HUB, "--js-domain", "leaf"),
    ),
    Step("One message.", ("pub", "test", "hello world", *_HUB)),
    Step(
        "Both streams listen on its subject, so each domain has it.",
        ("stream", "report", *_HUB, "--js-domain", "leaf"),
    ),
    Step("", ("stream", "report", *_HUB, "--js-domain", "hub")),
    Step(
        "A mirror in the hub of the leaf node's stream.",
        (
            "stream",
            "add",
            "backup-test-leaf",
            "--mirror",
            "test@leaf",
            "--defaults",
            *_HUB,
            "--js-domain",
            "hub",
        ),
    ),
    Step(
        "A stream in the hub that gathers from the leaf node, and could from many.",
        (
            "stream",
            "add",
            "aggregate-test-leaf",
            "--source",
            "test@leaf",
            "--defaults",
            *_HUB,
            "--js-domain",
            "hub",
        ),
    ),
    Step("Both have copied the message.", ("stream", "report", *_HUB, "--js-domain", "hub"), _COPIES),
    Step("Both domains on one screen; --watch keeps it up to date.", ("report", *_BOTH)),
)

SQL = (
    "SELECT domain, stream, messages, bytes, kind, origin, lag"
    " FROM streams LEFT JOIN replication USING (domain, stream) ORDER BY domain, stream"
)

SPARK = (
    Step(
        "The same report as Spark tables, in Parquet.",
        ("export", "reports", "--to", "{reports}", *_BOTH),
        gentle=True,
    ),
    Step("Read back with SQL.", ("export", "query", "--from", "{reports}", SQL), gentle=True),
)
