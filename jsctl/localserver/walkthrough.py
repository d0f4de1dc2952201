"""The walkthroughs of `jsctl demo guide` and `hub-spokes`. They are data, in `walkthroughs/NAME.yaml`.

    about: ...                       # one line
    places:                          # where checks look: global flags by a name that people read
      hub: --server nats://acc:acc@{hub} --js-domain hub
    parts:
      - name: domains                # for --only and --from
        title: Two JetStream domains
        steps:
          - say: One sentence.
            run: --server nats://acc:acc@{hub} stream add    # or a list of command lines
            answers: {Stream Name: test}                     # to its questions; the others take the default
            checks:
              - hub: {test: 1, copy: {messages: 1, lag: 0}}  # streams and how many messages they hold
              - hub: {aggregate/DUR: {pending: 1, acked: 0}} # a consumer
              - hub: {copy: 1}
                only: true                                   # and no other stream
              - says: leaf-server +leaf                      # the output, as a regular expression
                so: both servers answer

`{hub}` stands for the address of the server `hub`. Of a step, too: `note`, what the document has otherwise;
`write` (`{file, text}`) or `edit` (`{file, changes: [{old, new}]}`), files that it writes first; `to`, the
file that takes its output; `status`, the exit status that it is to have; `silent`, when its output is not
worth showing; `steady`, when its checks must hold for a while; `seconds`, how long they may take.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from jsctl.errors import BadInput
from jsctl.jetstream.config.documents import parse_document

Json = dict[str, Any]

NAMES = ("guide", "hub-spokes")

_AS_IT_IS = ("note", "answers", "to", "status", "silent", "steady", "seconds")
"""What the file says of a step in the words of `Step`."""

CHECK_SECONDS = 60.0
"""How long a check may take until it holds. Mirrors try again after up to 50 s."""


@dataclass(frozen=True, slots=True)
class Check:
    """A condition that must hold after a step. place: where; empty for `says`. streams: what is expected of
    them."""

    place: str = ""
    streams: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    only: bool = False
    says: str = ""
    so: str = ""


@dataclass(frozen=True, slots=True)
class File:
    """A file that a step writes. text: the whole file; empty for one of which `changes` replace texts."""

    name: str
    text: str = ""
    changes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """A step; see the module. number: from 1. part: its part's name. lines: of `run`."""

    number: int
    part: str
    say: str
    lines: tuple[str, ...] = ()
    note: str = ""
    answers: Mapping[str, Any] = field(default_factory=dict)
    file: File | None = None
    to: str = ""
    status: int = 0
    silent: bool = False
    steady: bool = False
    seconds: float = CHECK_SECONDS
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True)
class Walkthrough:
    """A walkthrough. parts: titles by name. places: global flags by name."""

    name: str
    about: str
    places: Mapping[str, str]
    parts: Mapping[str, str]
    steps: tuple[Step, ...]

    def find(self, part: str) -> tuple[int, int]:
        """Return the first and the last step of a part, or twice the number of one step. Raises BadInput."""
        numbers = [step.number for step in self.steps if part in (step.part, str(step.number))]
        if not numbers:
            raise BadInput(
                f"walkthrough {self.name} has no part and no step {part!r}",
                f"its parts are {', '.join(self.parts)}; --list shows its {len(self.steps)} steps",
            )
        return numbers[0], numbers[-1]


def load_walkthrough(name: str) -> Walkthrough:
    """Return the walkthrough with this name that comes with jsctl."""
    text = (files("jsctl.localserver") / "walkthroughs" / f"{name}.yaml").read_text(encoding="utf-8")
    document: Json = parse_document(text, f"{name}.yaml").to_json()
    steps: list[Step] = []
    for part in document["parts"]:
        for step in part["steps"]:
            steps.append(_read_step(step, len(steps) + 1, part["name"]))
    return Walkthrough(
        name,
        document["about"],
        document["places"],
        {part["name"]: part["title"] for part in document["parts"]},
        tuple(steps),
    )


def _read_step(step: Json, number: int, part: str) -> Step:
    lines, file = step.get("run", ()), None
    if "write" in step:
        file = File(step["write"]["file"], step["write"]["text"])
    elif "edit" in step:
        changes = tuple((change["old"], change["new"]) for change in step["edit"]["changes"])
        file = File(step["edit"]["file"], changes=changes)
    return Step(
        number,
        part,
        step["say"],
        (lines,) if isinstance(lines, str) else tuple(lines),
        file=file,
        checks=tuple(_read_checks(step.get("checks", ()))),
        **{key: step[key] for key in _AS_IT_IS if key in step},
    )


def _read_checks(checks: Sequence[Json]) -> list[Check]:
    results = []
    for check in checks:
        if "says" in check:
            results.append(Check(says=check["says"], so=check["so"]))
            continue
        only = check.get("only", False)
        for place, streams in check.items():
            if place != "only":
                values = {
                    name: value if isinstance(value, dict) else {"messages": value}
                    for name, value in (streams or {}).items()
                }
                results.append(Check(place, values, only))
    return results
