"""What is wrong with a network: a finding, and the rule that comes to it."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from jsctl.monitor.doctor.snapshot import Snapshot


class Finding(NamedTuple):
    """A problem of a network.

    code: of its rule; stable, for scripts. about: what it concerns, for people: "domain spoke-1". seen: the
    observation. why: why it matters. mend: the command or configuration that fixes it. objects: the streams,
    consumers, accounts and servers that it concerns: "stream hub > ORDERS".
    """

    code: str
    about: str
    seen: str
    why: str
    mend: str
    objects: Sequence[str] = ()


class Rule(NamedTuple):
    """A kind of problem and how to find it.

    means: its meaning in a few words. causes: codes of the rules whose findings explain this one: if they
    name all of the same objects, this one is only a symptom and is left out.
    """

    code: str
    means: str
    check: Callable[[Snapshot], Iterable[Finding]]
    causes: Sequence[str] = ()
