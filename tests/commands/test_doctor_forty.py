"""`doctor --fix --yes` on over forty faults of real servers: each is fixed, or left with what a person has to
do; none becomes worse, no other comes, and no message is lost.

Faults that do not hide each other share a network. `-s` shows the result; the manual has its totals.
"""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from jsctl.base.units import HOUR
from tests.support import js
from tests.support.doctor import CREATE, DELIVER, FLOW, REMOTE, Patient, hub, leaf, running
from tests.support.servers import Cluster, free_port
from tests.support.waiting import wait_for

UNTIL = "2090-01-01T00:00:00Z"
MANUAL = Path(__file__).parents[2] / "jsctl" / "manual" / "doctor.md"

NEXT = "CONSUMER.MSG.NEXT.GONE.dur"
IMPORTED = f'{{service: {{account: ACC, subject: "$JS.hub.API.{NEXT}"}}, to: "{REMOTE}.{NEXT}"}}'
DENIED = '{user: den, password: den, permissions: { publish: { deny: "$JS.ACK.>" } }}'
MORE = f"""
  NOFLOW: {{ users: [{{user: noflow, password: noflow}}], jetstream: enabled,
    imports: [ {CREATE}, {DELIVER} ] }}
  DEN: {{ users: [{DENIED}], jetstream: enabled }}
  SMALL: {{ users: [{{user: small, password: small}}], jetstream: {{max_store: 1GB, max_streams: 1}} }}
"""
ACROSS = {"name": "ORDERS", "external": {"api": REMOTE, "deliver": "deliver.acc.hub.imp.copy"}}


class Site(Patient):
    """A hub with several accounts, a leaf node, and contexts for them."""

    def __init__(self, home: Path, address: Callable[[str], str]) -> None:
        super().__init__(home)
        self.address = address
        self.url = address("acc")
        for user in ("acc", "imp", "noflow", "den", "small", "admin"):
            self.context(user, address(user))

    def consumer(self, stream: str, name: str = "C", *, domain: str = "", **config: Any) -> None:
        wanted = {"durable_name": name, "ack_policy": "explicit", **config}
        subject = f"CONSUMER.CREATE.{stream}.{name}"
        js.ask(self.url, subject, {"stream_name": stream, "config": wanted}, domain=domain)

    def filled(self, name: str, count: int = 9, *, data: bytes = b"x", **config: Any) -> str:
        """A stream with messages, and its subject."""
        js.stream(self.url, name, f"{name.lower()}.*", **config)
        js.publish(self.url, f"{name.lower()}.1", data, count)
        return name

    def edit(self, name: str, **config: Any) -> None:
        js.ask(self.url, f"STREAM.UPDATE.{name}", {**js.info(self.url, name)["config"], **config})

    def fetch(self, stream: str, count: int = 1, *, ack: bool = False) -> None:
        words = f"consumer next {stream} C --count {count} --context acc"
        self.cli(f"{words}{'' if ack else ' --no-ack'}", status=0)


class Fault(NamedTuple):
    """make: makes it; the rest is how doctor calls it."""

    code: str
    about: str
    make: Callable[[Site], object]


def full(name: str, **config: Any) -> Fault:
    """A stream that is near a limit, or at it."""
    return Fault("LIMIT_NEAR", f"stream hub > {name}", lambda site: site.filled(name, **config))


def paused(name: str, **config: Any) -> Fault:
    def make(site: Site) -> None:
        site.filled(name, 0 if "deliver_subject" in config else 1)
        site.consumer(name, pause_until=UNTIL, filter_subject=f"{name.lower()}.none", **config)

    return Fault("CONSUMER_PAUSED", f"consumer hub > {name} > C", make)


def of_consumer(code: str, name: str, act: Callable[[Site, str], object], **config: Any) -> Fault:
    """A stream with messages, a consumer, and what its clients do."""

    def make(site: Site) -> None:
        site.filled(name, 3, retention=config.pop("retention", "limits"))
        site.consumer(name, **config)
        act(site, name)

    return Fault(code, f"consumer hub > {name} > C", make)


def of_copy(
    code: str, name: str, act: Callable[[Site, str], object] = lambda site, name: None, **config: Any
) -> Fault:
    """A copy, after what happens to its origin."""

    def make(site: Site) -> None:
        js.stream(site.url, name, **config)
        act(site, name)

    return Fault(code, f"stream hub > {name}", make)


def wait_for_last(site: Site, name: str, sequence: int) -> None:
    wait_for(lambda: js.info(site.url, name)["state"]["last_seq"] == sequence, f"{name} is not there")


def copied(site: Site, name: str) -> None:
    wait_for_last(site, name, 3)


def crowd(site: Site) -> None:
    """Four consumers where one is allowed."""
    js.stream(site.url, "CROWD", "crowd")
    for number in range(4):
        site.consumer("CROWD", f"C{number}")
    site.edit("CROWD", max_consumers=1)


def fill_bytes(site: Site) -> None:
    site.filled("BYTES", 5, data=b"x" * 500)
    site.edit("BYTES", discard="new", max_bytes=js.info(site.url, "BYTES")["state"]["bytes"] + 9)


def make_anew(site: Site, name: str) -> None:
    wait_for_last(site, name, 6)
    js.ask(site.url, "STREAM.DELETE.AHEAD_O")
    site.filled("AHEAD_O", 2)


def pause_in_leaf(site: Site) -> None:
    js.stream(site.url, "FAR", "far", domain="leaf", max_consumers=1)
    site.consumer("FAR", domain="leaf", pause_until=UNTIL)


def share_subject(site: Site) -> None:
    js.stream(site.url, "HERE", "twice.*")
    js.stream(site.url, "THERE", "twice.new", domain="leaf")


def loop(site: Site) -> None:
    js.stream(site.url, "RING", "ring.>", max_msgs=50)
    source = {"name": "RING", "external": {"api": "$JS.hub.API", "deliver": ""}}
    js.stream(site.url, "ROUND", "round.>", sources=[source], max_msgs=50, domain="leaf")
    site.edit("RING", sources=[{"name": "ROUND", "external": {"api": "$JS.leaf.API", "deliver": ""}}])


def deny_acks(site: Site) -> None:
    url = site.address("den")
    js.stream(url, "S", "s")
    config = {"durable_name": "C", "ack_policy": "explicit"}
    js.ask(url, "CONSUMER.CREATE.S.C", {"stream_name": "S", "config": config})


def deliver_to_nobody(site: Site) -> None:
    site.consumer("ORDERS", "out", deliver_subject="deliver.acc.hub.imp.gone", ack_policy="none")


def stop(site: Site, name: str) -> None:
    """Nobody comes for the messages."""


def add_context(name: str, address: str, flags: str = "") -> Callable[[Site], object]:
    return lambda site: site.cli(f"context add {name} --server {address} {flags}", status=0)


def break_context(site: Site) -> None:
    (site.cli.home / "nats" / "context" / "broken.json").write_text("{")


def copy_to(account: str, name: str) -> Callable[[Site], object]:
    return lambda site: js.stream(site.address(account), name, mirror=ACROSS)


def nothing(site: Site) -> None:
    """The configuration of a server has it."""


FAULTS = [
    full("FULL", discard="new", max_msgs=10),
    full("REACHED", discard="new", max_msgs=9),
    full("QUEUE", retention="workqueue", max_msgs=10),
    Fault("LIMIT_NEAR", "stream hub > BYTES", fill_bytes),
    Fault("LIMIT_NEAR", "stream hub > CROWD", crowd),
    Fault("LIMIT_NEAR", "account SMALL", lambda site: js.stream(site.address("small"), "ONLY", "only")),
    paused("PAUSED"),
    paused("PAUSED_PUSH", deliver_subject="to.pushed"),
    of_consumer("CONSUMER_PAUSED", "PAUSED_LATE", stop, pause_until=UNTIL),
    Fault("NOBODY_PULLS", "consumer hub > PAUSED_LATE > C", nothing),
    Fault("CONSUMER_PAUSED", "consumer leaf > FAR > C", pause_in_leaf),
    Fault("LIMIT_NEAR", "stream leaf > FAR", nothing),
    of_consumer("NOBODY_PULLS", "PULLED", stop),
    of_consumer("NO_SUBSCRIBER", "PUSHED", stop, deliver_subject="to.nobody"),
    of_consumer(
        "ACKS_FULL", "ACKS", lambda site, name: site.fetch(name, 2), max_ack_pending=2, ack_wait=HOUR
    ),
    of_consumer(
        "GIVEN_UP", "GIVEN", lambda site, name: site.fetch(name, 3), max_deliver=1, ack_wait=200_000_000
    ),
    of_consumer("STARTS_LATER", "LATER", stop, deliver_policy="by_start_sequence", opt_start_seq=99),
    of_consumer("FILTER_EMPTY", "FILTERED", stop, filter_subject="wrong.>"),
    of_consumer("NOT_CONSUMED", "LEFT", stop, retention="workqueue", filter_subject="left.none")._replace(
        about="stream hub > LEFT"
    ),
    Fault("NOT_CONSUMED", "stream hub > QUEUE", nothing),
    Fault(
        "INTEREST_MISSING",
        "stream hub > ONCE",
        lambda site: js.stream(site.url, "ONCE", "once", retention="interest"),
    ),
    Fault(
        "STREAM_UNFINISHED",
        "stream hub > HALF",
        lambda site: site.filled("HALF", 1, metadata={"jsctl.unfinished": f"restore {UNTIL}"}),
    ),
    of_copy("ORIGIN_MISSING", "LOST", mirror={"name": "ORDRES"}),
    of_copy("ORIGIN_MISSING", "HALF_LOST", sources=[{"name": "ORDERS"}, {"name": "ORDRES"}]),
    of_copy("FILTER_EMPTY", "NARROW", mirror={"name": "ORDERS", "filter_subject": "wrong.>"}),
    of_copy("FILTER_EMPTY", "NARROWED", sources=[{"name": "ORDERS", "filter_subject": "wrong.>"}]),
    of_copy("LINK_AHEAD", "AHEAD", make_anew, mirror={"name": "AHEAD_O"}),
    of_copy("MIRROR_FULL", "STUFFED", copied, mirror={"name": "ORDERS"}, discard="new", max_msgs=3),
    of_copy("LIMIT_NEAR", "GATHERED", copied, sources=[{"name": "ORDERS"}], discard="new", max_msgs=3),
    of_copy(
        "ORIGIN_SILENT", "CUT_OFF", mirror={"name": "ORDERS", "external": {"api": "$JS.nowhere.API"}}
    )._replace(about="domain nowhere"),
    Fault("SUBJECT_TWICE", "subject twice.*", share_subject),
    Fault("SOURCE_LOOP", "stream hub > RING", loop),
    Fault("SOURCE_LOOP", "stream leaf > ROUND", nothing),
    Fault("DELIVERY_NOT_IMPORTED", "stream hub > HERS", copy_to("imp", "HERS")),
    Fault("FLOW_CONTROL_MISSING", "stream hub > HIS", copy_to("noflow", "HIS")),
    Fault("CONSUMER_ORPHANED", "consumer GONE > dur", nothing),
    Fault("CONSUMER_ORPHANED", "consumer hub > ORDERS > out", deliver_to_nobody),
    Fault("ACK_DENIED", "context den", deny_acks),
    Fault("CONTEXT_FAILED", "context down", lambda site: site.context("down", "nats://127.0.0.1:1")),
    Fault(
        "CONTEXT_FAILED", "context stranger", lambda site: site.context("stranger", site.address("nobody"))
    ),
    Fault("CONTEXT_FAILED", "context broken", break_context),
    Fault(
        "DOMAIN_MISSING",
        "domain away",
        lambda site: site.cli(f"context add away --server {site.url} --js-domain away", status=0),
    ),
]
"""In one network; those that nothing makes come with the one before, or with its configuration."""

UNLINKED = [
    ("DOMAIN_TWICE", "domain twin"),
    ("DOMAIN_UNNAMED", "server unnamed"),
    ("SYSTEM_NOT_LINKED", "leaf node apart"),
]
FEW = [("REPLICAS_FEW", "stream FEW")]

Key = tuple[str, str]
Place = tuple[str, str]  # the address of an account, and a domain


def count_messages(places: Sequence[Place]) -> dict[tuple[Place, str], int]:
    """The messages of all streams."""
    return {
        (place, info["config"]["name"]): info["state"]["messages"]
        for place in places
        for info in js.ask(place[0], "STREAM.LIST", domain=place[1])["streams"] or ()
    }


def treat(patient: Patient, expected: list[Key], *places: Place) -> Iterator[tuple[Key, str, str]]:
    """Run doctor --fix on what is wrong, and yield what came of each fault: its outcome, and what did it or
    is to be done."""

    def look() -> Counter[Key]:
        return Counter((one["code"], one["about"]) for one in patient.findings("--all-contexts"))

    wanted, seen = Counter(expected), Counter[Key]()

    def is_seen() -> bool:
        nonlocal seen
        seen = look()
        return seen == wanted

    with contextlib.suppress(AssertionError):
        wait_for(is_seen, "not yet", 40)
    assert seen == wanted, f"{seen - wanted} instead of {wanted - seen}"
    held = count_messages(places)
    document = patient.cli("doctor --all-contexts --fix --yes --json").json
    after = Counter((one["code"], one["about"]) for one in document["findings"])
    came = after - wanted
    assert not came, f"{came} came; {document['steps']}"
    now = count_messages(places)
    assert held.keys() == now.keys() and all(now[name] >= count for name, count in held.items()), (held, now)
    for step in document["steps"]:
        assert step["outcome"] == "fixed", step
    lines = {(step["code"], step["about"]): step["line"] for step in document["steps"]}
    advice = {(one["code"], one["about"]): one["fix"] for one in document["findings"]}
    for key in expected:
        assert (key in lines) != (key in advice), key
        yield key, "fixed" if key in lines else "left", lines.get(key) or advice[key]
    assert look() == after, "it does not stay so"


@pytest.mark.long
@pytest.mark.cluster
def test_forty_faults(shared_cluster: Cluster, tmp_path: Path) -> None:
    results = [*treat_network(tmp_path / "network"), *treat_unlinked(tmp_path / "unlinked")]
    results += treat_cluster(shared_cluster, tmp_path / "cluster")
    for (code, about), outcome, line in results:
        print(f"{outcome:6} {code:22} {about:32} {line}")
    fixed = sum(outcome == "fixed" for _, outcome, _ in results)
    left = len(results) - fixed
    totals = f"{len(results)} faults: {fixed} are fixed, {left} left to a person, none is made worse"
    print(totals)
    assert len(results) >= 40
    assert totals in " ".join(MANUAL.read_text().split())


def treat_network(folder: Path) -> Iterator[tuple[Key, str, str]]:
    port = free_port()
    export = f'{{service: "$JS.hub.API.{NEXT}", response_type: "stream"}}'
    with running(folder, hub((CREATE, FLOW, IMPORTED), exports=export, more=MORE, port=port), leaf(port)) as [
        center,
        spoke,
    ]:
        site = Site(folder / "home", center.url_for)
        wait_for(lambda: js.is_up(site.url, domain="leaf"), "the leaf node does not connect")
        wait_for(lambda: js.is_up(spoke.url_for("acc"), domain="hub"), "the leaf node is alone")
        site.filled("ORDERS", 9)
        site.filled("AHEAD_O", 6)
        for fault in FAULTS:
            fault.make(site)
        users = ("acc", "imp", "noflow", "den", "small")
        places = [*((center.url_for(user), "hub") for user in users), (site.url, "leaf")]
        yield from treat(site, [(fault.code, fault.about) for fault in FAULTS], *places)


def treat_unlinked(folder: Path) -> Iterator[tuple[Key, str, str]]:
    port = free_port()
    leaves = [leaf(port, name=name, domain="twin") for name in ("twin-1", "twin-2")]
    leaves += [leaf(port, name="unnamed", domain=""), leaf(port, name="apart", domain="far", system=False)]
    with running(folder, hub(port=port), *leaves) as [center, *_]:
        patient = Patient(folder / "home")
        patient.context("system", center.url_for("admin"))
        yield from treat(patient, UNLINKED)


def treat_cluster(cluster: Cluster, folder: Path) -> Iterator[tuple[Key, str, str]]:
    """An evacuation that was killed between its two requests."""
    patient = Patient(folder)
    patient.context("app", cluster.url)
    js.stream(cluster.url, "FEW", "few", num_replicas=2, metadata={"jsctl.replicas": "3"})
    try:
        yield from treat(patient, FEW, (cluster.url, ""))
    finally:
        js.ask(cluster.url, "STREAM.DELETE.FEW")
