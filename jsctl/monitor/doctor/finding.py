"""What is wrong with a network."""

from collections.abc import Sequence
from typing import NamedTuple


class Repair(NamedTuple):
    """A command line that ends a finding and loses nothing.

    command, undo: words without `jsctl`; undo: makes it as it was, empty if nothing does.
    """

    command: Sequence[str]
    undo: Sequence[str] = ()


class Finding(NamedTuple):
    """A problem of a network.

    code: of its rule; stable, for scripts. about: what it concerns, for people: "domain spoke-1". seen: the
    observation. why: why it matters. fix: the command or configuration that fixes it. objects: the streams,
    consumers, accounts and servers that it concerns: "stream hub > ORDERS". repair: what `doctor --fix` runs;
    None if a person has to do or choose something.
    """

    code: str
    about: str
    seen: str
    why: str
    fix: str
    objects: Sequence[str] = ()
    repair: Repair | None = None
