"""The path of a message as a tree of servers, from their reports (ADR-41; nats-server: msgtrace.go).

Each server that a message reaches sends one document. A message that leaves a server for another has a
hop number, which the document of the other server repeats.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

Json = dict[str, Any]

CLIENT, ROUTER, GATEWAY, SYSTEM, LEAF, JETSTREAM, ACCOUNT = range(7)
"""Kinds of connections."""

KINDS = ("Client", "Router", "Gateway", "System", "Leafnode", "JetStream", "Account")

HOP = "Nats-Trace-Hop"


class Step(NamedTuple):
    """An action of a server on a message.

    kind: of the connection that the message went to. time: RFC 3339. next: the server that it went to, when
    that server answered.
    """

    type: str  #: in, sm (mapping), si (service import), se (stream export), js, eg (to a connection)
    time: str
    kind: int
    connection: int
    name: str
    account: str
    subject: str  #: where it went; of a subscription in `eg`
    origin: str  #: where it came from, of `si`
    queue: str
    stream: str
    no_interest: bool
    error: str
    hop: str
    next: "Hop | None" = None

    @property
    def is_delivery(self) -> bool:
        """Whether this step delivered the message to a subscriber or a stream."""
        return not self.error and (
            (self.type == "eg" and self.kind not in (ROUTER, GATEWAY, LEAF))
            or (self.type == "js" and not self.no_interest)
        )

    @property
    def is_silent(self) -> bool:
        """Whether the server that the message went to should have answered, but did not."""
        return bool(self.hop) and not self.error and self.next is None


class Hop(NamedTuple):
    """A server on the path. arrival: how the message arrived; None if the server does not report it."""

    server: str
    cluster: str
    version: str
    arrival: Step | None
    steps: Sequence[Step]

    def walk(self) -> Iterator[tuple["Hop", Step]]:
        """Yield all steps of this server and of the servers after it."""
        for step in self.steps:
            yield self, step
            if step.next is not None:
                yield from step.next.walk()

    @property
    def deliveries(self) -> list[tuple["Hop", Step]]:
        """The steps that delivered the message."""
        return [(hop, step) for hop, step in self.walk() if step.is_delivery]


def parse_document(document: Any) -> tuple[str, Json]:
    """Return the hop number under which a server received the message, and its document. Raises
    ValueError."""
    if not isinstance(document, dict) or not isinstance(document.get("events"), list):
        raise ValueError("it is not a trace")
    server, request = document.get("server") or {}, document.get("request") or {}
    if not isinstance(server, dict) or not isinstance(request, dict):
        raise ValueError("it is not a trace")
    if not all(isinstance(event, dict) for event in document["events"]):
        raise ValueError("its events are not objects")
    header = request.get("header") or {}
    if not isinstance(header, dict):
        raise ValueError("its headers are not an object")
    values = next((v for k, v in header.items() if k.lower() == HOP.lower()), None) or [""]
    return str(values[0]) if isinstance(values, list) else "", document


def find_expected_hops(documents: Mapping[str, Json]) -> set[str]:
    """Return the hop numbers under which servers received the message, according to the servers before
    them."""
    return {
        str(event["hop"])
        for document in documents.values()
        for event in document["events"]
        if event.get("hop") and not event.get("error")
    }


def build(documents: Mapping[str, Json]) -> Hop:
    """Return the first server, linked to all following ones.

    documents: by the hop number of `parse_document`, "" for the first. Raises ValueError without the first.
    """
    if "" not in documents:
        raise ValueError("the document of the first server is missing")
    return _build_hop("", documents, frozenset())


def _build_hop(number: str, documents: Mapping[str, Json], above: frozenset[str]) -> Hop:
    document = documents[number]
    server = document.get("server") or {}
    steps = [_build_step(event, documents, above | {number}) for event in document["events"]]
    arrivals = [step for step in steps if step.type == "in"]
    order = ("sm", "si", "se", "js", "eg")
    return Hop(
        _get_text(server, "name"),
        _get_text(server, "cluster"),
        _get_text(server, "ver"),
        arrivals[0] if arrivals else None,
        sorted((step for step in steps if step.type in order), key=lambda step: order.index(step.type)),
    )


def _build_step(event: Json, documents: Mapping[str, Json], above: frozenset[str]) -> Step:
    number = _get_text(event, "hop")
    follows = number and number in documents and number not in above
    kind = event.get("kind")
    connection = event.get("cid")
    return Step(
        type=_get_text(event, "type"),
        time=_get_text(event, "ts"),
        kind=kind if isinstance(kind, int) and 0 <= kind < len(KINDS) else SYSTEM,
        connection=connection if isinstance(connection, int) else 0,
        name=_get_text(event, "name"),
        account=_get_text(event, "acc"),
        subject=next(
            (_get_text(event, key) for key in ("to", "sub", "subj", "subject") if event.get(key)), ""
        ),
        origin=_get_text(event, "from"),
        queue=_get_text(event, "queue"),
        stream=_get_text(event, "stream"),
        no_interest=event.get("nointerest") is True,
        error=_get_text(event, "error"),
        hop=number,
        next=_build_hop(number, documents, above) if follows else None,
    )


def _get_text(document: Json, key: str) -> str:
    value = document.get(key)
    return value if isinstance(value, str) else ""


def list_reasons(root: Hop) -> list[str]:
    """Return why no subscriber received the message, one sentence each; empty if one did."""
    if root.deliveries:
        return []
    failures = list(_list_failures(root))
    return failures or [_explain_no_interest(root)]


def _list_failures(root: Hop) -> Iterator[str]:
    if root.arrival is not None and root.arrival.error:
        yield f"server {root.server} refused it: {root.arrival.error}"
    for hop, step in root.walk():
        if step.error:
            yield f"{_describe_target(step)} of server {hop.server}: {step.error}"
        elif step.type == "js" and step.no_interest:
            yield f"stream {step.stream} did not store it, as no consumer is interested in {step.subject}"
        elif step.is_silent:
            yield f"{_describe_target(step)} of server {hop.server} did not answer; it may be older than 2.11"
        elif step.next is not None and step.next.arrival is not None and step.next.arrival.error:
            yield f"server {step.next.server} refused it: {step.next.arrival.error}"


def _describe_target(step: Step) -> str:
    if step.type == "js":
        return f"stream {step.stream}"
    name = f" {step.name}" if step.name else ""
    return f"{KINDS[step.kind].lower()}{name}"


def _explain_no_interest(root: Hop) -> str:
    servers = sorted({root.server, *(step.next.server for _, step in root.walk() if step.next is not None)})
    subject = root.arrival.subject if root.arrival else ""
    account = root.arrival.account if root.arrival else ""
    for _, step in root.walk():
        if step.type in ("sm", "si", "se"):
            subject, account = step.subject or subject, step.account or account
    server_text = f"server {servers[0]}" if len(servers) == 1 else f"servers {', '.join(servers)}"
    account_text = f" in account {account}" if account else ""
    text = f"nobody subscribes to {subject}{account_text}, and no stream stores it, on {server_text}"
    if any(step.type == "si" for _, step in root.walk()):
        # Servers then end the trace, although the message continues.
        return (
            f"{text}; or account {account} does not let others trace its service (allow_trace of the export)"
        )
    return text


def count_hops(root: Hop) -> dict[str, int]:
    """Return how often the message left a server, by kind of connection."""
    return Counter(
        KINDS[JETSTREAM if step.type == "js" else step.kind]
        for _, step in root.walk()
        if step.type in ("eg", "js")
    )


def format_lines(hop: Hop, above: str = "") -> Iterator[tuple[str, str]]:
    """Yield place and action of each step, without details that differ between traces of the same path.
    above: the servers on the path before this one."""
    path = f"{above}{hop.server}"
    if hop.arrival is not None and hop.arrival.error:
        yield path, f"refused: {hop.arrival.error}"
    for step in hop.steps:
        match step.type:
            case "sm":
                description = f"mapping to {step.subject}"
            case "si":
                description = f"service import from {step.origin} to {step.subject} in account {step.account}"
            case "se":
                description = f"stream export to {step.subject} in account {step.account}"
            case "js":
                action = "no interest" if step.no_interest else "stored"
                description = f"stream {step.stream} {action}"
            case _:
                description = " ".join(
                    part for part in (KINDS[step.kind], step.name, step.subject, step.queue) if part
                )
        yield path, description + (f": {step.error}" if step.error else "")
        if step.next is not None:
            yield from format_lines(step.next, f"{path} > ")
