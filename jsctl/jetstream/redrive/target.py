"""Where messages are published again, and whether that leads back to the consumer that gave them up."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from jsctl.base.command_lines import build_flag, build_line
from jsctl.errors import BadInput, NotFound
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.config.origins import is_imported, list_origins
from jsctl.jetstream.paging import require_answers
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.waiting import PatientApi
from jsctl.nats.subjects import matches, overlaps, validate_subject


class Streams:
    """The configurations of all streams of the account, fetched once."""

    def __init__(self, configs: Mapping[str, Json]) -> None:
        self._configs = configs
        self._found: dict[str, str] = {}

    @classmethod
    async def fetch(cls, api: PatientApi) -> "Streams":
        """Fetch them. Raises RequestTimeout for one without a leader: it might store a target's
        subject, or lead back to the consumer."""

        async def collect(own: Api) -> Mapping[str, Json]:
            collected = await streams.collect(own, lambda info: info["config"])
            require_answers("stream", collected.missing)
            return collected.items

        return cls(await api.repeat(collect))

    def get(self, name: str) -> Json:
        """Return the configuration of a stream. Raises NotFound."""
        if name not in self._configs:
            raise NotFound(f"stream {name} not found", f"{build_line('stream ls')} lists the streams")
        return self._configs[name]

    def find(self, subject: str) -> str:
        """Return the stream that stores a subject. Raises BadInput without one."""
        if subject not in self._found:
            for name, config in self._configs.items():
                if any(matches(each, subject) for each in config.get("subjects") or []):
                    self._found[subject] = name
                    break
            else:
                line = build_line("stream add", "NAME", flags=build_flag("--subjects", subject))
                raise BadInput(
                    f"no stream stores {subject}, so that messages would be lost", f"{line} creates one"
                )
        return self._found[subject]

    def feeds(self, name: str, subject: str, stream: str, filters: Sequence[str]) -> bool:
        """Return whether a message on a subject of stream `name` reaches a consumer of `stream`, by mirrors,
        sources or republishing, too. filters: the consumer's; empty for all."""
        reached, waiting, is_renamed = {name}, [name], False
        while waiting:
            current = self._configs.get(waiting.pop(), {})
            for other, config in self._configs.items():
                if other not in reached and (way := _find_way(current, config)):
                    reached.add(other)
                    waiting.append(other)
                    is_renamed = is_renamed or way == "renamed"
        is_renamed = is_renamed or any("subject_transform" in self._configs.get(one, {}) for one in reached)
        return stream in reached and (
            is_renamed or not filters or any(matches(each, subject) for each in filters)
        )


def _find_way(source: Json, target: Json) -> str:
    """Return how messages of one stream come to another: "copied", "renamed", or empty if they do not."""
    for origin in list_origins(target):
        if origin.get("name") == source.get("name") and not is_imported(origin):
            return "renamed" if origin.get("subject_transforms") else "copied"
    destination = str((source.get("republish") or {}).get("dest") or "")
    pattern = destination.partition("{{")[0].rstrip(".") if "{{" in destination else destination
    if pattern and "{{" in destination:
        pattern += ".>"
    if pattern and any(overlaps(pattern, each) for each in target.get("subjects") or []):
        return "renamed"
    return ""


class Target(NamedTuple):
    """Where messages go. subject: `retry.x` for all, or `retry.>`, in which the message's own subject takes
    the place of `>`; empty for the message's own subject. stream: the one that must store them; empty for
    the one that does."""

    subject: str = ""
    stream: str = ""

    def name(self, own: str) -> str:
        """Return the subject for a message. own: the message's subject."""
        return self.subject[:-1] + own if self.subject.endswith(".>") else self.subject or own


def build_target(known: Streams, subject: str, stream: str) -> Target:
    """Return where messages go. subject: of the command line. Raises BadInput, NotFound."""
    if not subject and stream:
        subjects = list(known.get(stream).get("subjects") or [])
        if len(subjects) != 1 or "*" in subjects[0] or subjects[0] == ">":
            raise BadInput(
                f"stream {stream} stores {len(subjects)} subjects, so that there is a choice"
                if len(subjects) != 1
                else f"stream {stream} stores {subjects[0]}, so that there is a choice",
                "name one with --subject",
            )
        subject = subjects[0]
    if subject:
        validate_subject(subject[:-1] + "x" if subject.endswith(".>") else subject)
    return Target(subject, stream)


def find_streams(known: Streams, target: Target, subjects: Iterable[str]) -> dict[str, str]:
    """Return the stream of each target subject. subjects: of the messages. Raises BadInput."""
    found = {}
    for name in sorted({target.name(subject) for subject in subjects}):
        stream = known.find(name)
        if target.stream and stream != target.stream:
            raise BadInput(f"{name} is stored by stream {stream}, not by {target.stream}")
        if known.get(stream).get("sealed"):
            raise BadInput(f"stream {stream} is sealed, and stores no more messages")
        if known.get(stream).get("no_ack"):
            raise BadInput(
                f"stream {stream} does not acknowledge messages, so that nobody knows what it stored",
                "use another subject",
            )
        found[name] = stream
    return found
