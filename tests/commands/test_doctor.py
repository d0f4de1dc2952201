"""`doctor` on networks that are broken in one way each: it names that, and nothing else.

This file is long because each of these networks is described where it is asked about.
"""

import re
import shlex
import signal
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from jsctl.monitor.doctor.diagnosis import diagnose
from jsctl.monitor.doctor.snapshot import ServerView, Snapshot
from tests.support import js
from tests.support.doctor import ALONE, CREATE, DELIVER, FLOW, INFO, REMOTE, Patient, hub, leaf, running
from tests.support.processes import suspend
from tests.support.servers import RealServer, free_port
from tests.support.waiting import wait_for

ACROSS = {"api": REMOTE, "deliver": "deliver.acc.hub.imp.copy"}
MESSAGES = [("orders", b"x" * 200)]


class Pair(Patient):
    """A hub and a leaf node, with contexts for both and for the system account."""

    def __init__(self, home: Path, servers: list[RealServer], port: int) -> None:
        super().__init__(home)
        self.hub, self.leaf = servers
        self.port = port  #: for leaf nodes
        self.context("hub", self.hub.url_for("acc"))
        self.context("imp", self.hub.url_for("imp"))
        self.context("leaf", self.leaf.url_for("acc"))
        self.context("system", self.hub.url_for("admin"))
        self.url = self.hub.url_for("acc")

    def join(self) -> None:
        """Wait until both see the other's domain."""
        wait_for(lambda: js.is_up(self.url, domain="leaf"), "the leaf node does not connect")
        wait_for(lambda: js.is_up(self.leaf.url_for("acc"), domain="hub"), "the leaf node is alone")
        wait_for(self.sees_both, "the system accounts do not connect")

    def sees_both(self) -> bool:
        """Whether the system account of the hub reaches the leaf node."""
        return len(self.cli("server list --json --context system").json or ()) == 2

    def reported(self, context: str) -> set[str]:
        """Return the codes in a report on a context, which are those of the exporter and of --fail-on."""
        place = f"--context {context}"
        (report,) = self.cli(f"report --json {place}").json["reports"]
        found = {code for row in [*report["streams"], *report["replication"]] for code in row["codes"]}
        text = self.cli(f"exporter --textfile - --count 1 {place}", status=0).out
        assert found == set(re.findall(r'^jsctl_problem\{.*code="(\w+)"', text, re.MULTILINE))
        assert self.cli(f"report --fail-on 'problems>0' {place}").status == bool(found)
        return found

    def clean(self) -> None:
        """Remove all streams."""
        for context, domain in (("hub", "hub"), ("hub", "leaf"), ("imp", "hub")):
            place = f"--context {context} --js-domain {domain}"
            for name in self.cli(f"stream ls --all --json {place}", status=0).json:
                self.cli(f"stream rm {name} --force {place}", status=0)


@pytest.fixture(scope="module")
def shared_pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    home, port = tmp_path_factory.mktemp("pair"), free_port()
    with running(home, hub(port=port, more=ALONE), leaf(port)) as servers:
        pair = Pair(home, servers, port)
        pair.join()
        yield pair


@pytest.fixture
def pair(shared_pair: Pair) -> Iterator[Pair]:
    """A network that is well; streams are removed afterwards."""
    yield shared_pair
    shared_pair.clean()


def mirror(pair: Pair, name: str, origin: str, api: str) -> None:
    """Make a mirror of another domain in domain leaf."""
    js.stream(pair.url, name, domain="leaf", mirror={"name": origin, "external": {"api": api}})


@pytest.mark.slow
def test_a_network_that_is_well(pair: Pair) -> None:
    js.stream(pair.url, "ORDERS", "orders.>")
    js.stream(pair.url, "LOCAL", "local.>", domain="leaf")
    js.publish(pair.url, "orders.new", count=5)
    mirror(pair, "COPY", "ORDERS", "$JS.hub.API")
    js.stream(pair.url, "ALL", sources=[{"name": "LOCAL", "external": {"api": "$JS.leaf.API"}}])
    js.stream(pair.hub.url_for("imp"), "ACROSS", mirror={"name": "ORDERS", "external": ACROSS})
    outcome = pair.cli("doctor --all-contexts", status=0)
    assert outcome.out == "Nothing is wrong with 4 contexts, 2 domains, 5 streams and 2 servers\n"
    assert [pair.reported(context) for context in ("hub", "leaf", "imp")] == [set(), set(), set()]
    assert pair.codes("--context hub") == []
    # The system account alone sees the streams of all accounts.
    outcome = pair.cli("doctor --context system", status=0)
    assert outcome.out == "Nothing is wrong with 1 context, 2 domains, 5 streams and 2 servers\n"


@pytest.mark.slow
def test_a_login_whose_account_is_unknown(pair: Pair) -> None:
    js.stream(pair.url, "ORDERS", "orders.>")
    js.stream(pair.hub.url_for("imp"), "ACROSS", mirror={"name": "ORDERS", "external": ACROSS})
    pair.context("mute", pair.hub.url_for("mute"))
    outcome = pair.cli("doctor --context mute --context system", status=0)
    assert "not checked: mute: the server did not say of which account it is" in outcome.out, outcome
    pair.cli("context rm mute --force", status=0)


@pytest.mark.slow
def test_missing_origins(pair: Pair) -> None:
    js.stream(pair.url, "ORDERS", "orders.>")
    mirror(pair, "LOST", "ORDERS", "$JS.nowhere.API")
    [silent] = pair.findings()
    assert (silent["code"], silent["about"]) == ("ORIGIN_SILENT", "domain nowhere")
    assert silent["objects"] == ["stream leaf > LOST from $JS.nowhere.API.ORDERS"]
    assert "nobody answers on $JS.nowhere.API" in silent["seen"]
    assert pair.codes("--context system") == ["ORIGIN_SILENT"]
    assert pair.reported("leaf") == {"ORIGIN_SILENT"}
    pair.cli("stream rm LOST --force --context hub --js-domain leaf", status=0)
    mirror(pair, "WRONG", "ORDRES", "$JS.hub.API")
    assert [(one["code"], one["about"]) for one in pair.findings("--context leaf")] == [
        ("ORIGIN_MISSING", "stream leaf > WRONG")
    ]
    assert pair.codes("--context system") == ["ORIGIN_MISSING"]
    assert pair.reported("leaf") == {"ORIGIN_MISSING"}


@pytest.mark.slow
def test_a_subject_stored_twice(pair: Pair) -> None:
    js.stream(pair.url, "HERE", "orders.*")
    js.stream(pair.url, "THERE", "orders.new", domain="leaf")
    [twice] = pair.findings("--context hub")
    assert twice["code"] == "SUBJECT_TWICE"
    assert twice["objects"] == ["stream hub > HERE", "stream leaf > THERE"]
    assert twice["fix"].endswith(
        "a mirror: jsctl stream add HERE-COPY --mirror HERE@hub --context hub --js-domain leaf"
    )
    [same] = pair.findings("--context system")
    assert same["fix"].startswith("give account ACC a context with jsctl context add ACC; then ")
    assert same["fix"].endswith(" --context ACC --js-domain leaf"), "the system account has no streams"
    assert {**same, "fix": twice["fix"]} == twice
    assert pair.codes("--context hub --ignore subject_twice") == []


@pytest.mark.slow
def test_a_loop_of_sources(pair: Pair) -> None:
    """One message would become thousands: the server looks for loops within a domain alone."""
    js.stream(pair.url, "A", "a.>", max_msgs=50)
    from_a = {"name": "A", "external": {"api": "$JS.hub.API", "deliver": ""}}
    js.stream(pair.url, "B", "b.>", sources=[from_a], max_msgs=50, domain="leaf")
    from_b = {"name": "B", "external": {"api": "$JS.leaf.API", "deliver": ""}}
    assert pair.codes() == []
    js.ask(pair.url, "STREAM.UPDATE.A", {**js.info(pair.url, "A")["config"], "sources": [from_b]})
    found = pair.findings("--context hub")
    assert {finding["code"] for finding in found} == {"SOURCE_LOOP"}
    assert {finding["about"] for finding in found} == {"stream hub > A", "stream leaf > B"}
    assert "hub > A, which takes them from leaf > B, which takes them from hub > A" in str(found)
    assert set(pair.codes("--context system")) == {"SOURCE_LOOP"}
    for context in ("hub", "leaf"):
        assert pair.reported(context) == {"SOURCE_LOOP"}
    for finding in found:
        line = finding["fix"].partition(": jsctl ")[2]
        pair.cli([*shlex.split(line), "--force"], status=0)
    assert pair.codes() == []
    js.publish(pair.url, "a.1")
    wait_for(lambda: js.ask(pair.url, "STREAM.INFO.B", domain="leaf")["state"]["messages"] == 1, "no copy")
    assert js.info(pair.url, "A")["state"]["messages"] == 1


def test_sources_in_both_directions_that_are_no_loop(pair: Pair) -> None:
    api = {"api": "$JS.hub.API", "deliver": ""}
    js.stream(pair.url, "A", "a.>")
    source = {"name": "A", "filter_subject": "a.>", "external": api}
    js.stream(pair.url, "B", "b.>", sources=[source], domain="leaf")
    around = {"name": "B", "filter_subject": "b.>", "external": {"api": "$JS.leaf.API", "deliver": ""}}
    js.ask(pair.url, "STREAM.UPDATE.A", {**js.info(pair.url, "A")["config"], "sources": [around]})
    assert pair.codes() == []


@pytest.mark.slow
def test_a_filter_that_the_origin_of_another_domain_never_matches(pair: Pair) -> None:
    js.stream(pair.url, "ORDERS", "orders.>")
    source = {"name": "ORDERS", "filter_subject": "ordres.>", "external": {"api": "$JS.hub.API"}}
    js.stream(pair.url, "COPY", "own", sources=[source], domain="leaf")
    for line in ("--context hub", "--context system"):
        [finding] = pair.findings(line)
        assert (finding["code"], finding["about"]) == ("FILTER_EMPTY", "stream leaf > COPY")
    assert (pair.reported("leaf"), pair.reported("hub")) == ({"FILTER_EMPTY"}, set())


@pytest.mark.slow
def test_a_subject_of_domains_that_are_not_connected(pair: Pair) -> None:
    servers = {"alone-hub": pair.hub, "alone-leaf": pair.leaf}
    for name, server in servers.items():
        pair.context(name, server.url_for("alone"))
        js.stream(server.url_for("alone"), "ORDERS", "orders")
    try:
        assert pair.codes() == []
        assert pair.codes("--context system") == []
    finally:
        for name, server in servers.items():
            js.ask(server.url_for("alone"), "STREAM.DELETE.ORDERS")
            pair.cli(f"context rm {name} --force", status=0)


def test_a_domain_that_is_missing(pair: Pair) -> None:
    place = "--context hub --js-domain nowhere"
    assert pair.codes(place) == ["DOMAIN_MISSING"]
    assert 'code="DOMAIN_MISSING"' in pair.cli(f"exporter --textfile - --count 1 {place}").out


@pytest.mark.slow
def test_contexts_that_fail_do_not_hold_up_the_others(pair: Pair) -> None:
    assert pair.cli("doctor --context hub --context nobodys").status == 3
    pair.context("down", f"nats://acc:acc@127.0.0.1:{free_port()}")
    pair.context("stranger", pair.hub.url_for("nobody"))
    broken = pair.cli.home / "nats" / "context" / "broken.json"
    try:
        assert [(one["code"], one["about"]) for one in pair.findings()] == [
            ("CONTEXT_FAILED", "context down"),
            ("CONTEXT_FAILED", "context stranger"),
        ]
        assert pair.cli("doctor --context down").status == 4
        broken.write_text("{")
        [unreadable] = pair.findings()[2:]
        assert unreadable["about"] == "context broken"
        assert unreadable["fix"] == "repair it with jsctl context edit broken"
    finally:
        broken.unlink(missing_ok=True)
        pair.cli("context rm down --force", status=0)
        pair.cli("context rm stranger --force", status=0)


ORIGIN = {"name": "ORDERS", "external": {"api": "$JS.hub.API"}}
NOBODY = "leaf-east has 1 leaf node connection of this account, and no server answers on the other side"


@pytest.mark.long
def test_a_hub_that_hangs(tmp_path: Path) -> None:
    """It is named once, not by each link that leads to it."""
    port = free_port()
    leaves = (leaf(port, name=f"leaf-{name}", domain=name) for name in ("east", "west"))
    with running(tmp_path, hub(port=port, more=ALONE), *leaves) as [center, east, west]:
        patient = Patient(tmp_path / "home")
        patient.context("east", east.url_for("acc"))
        patient.context("system", east.url_for("admin"))
        patient.context("hub", center.url_for("acc"))
        for server in (east, west):
            wait_for(partial(js.is_up, server.url_for("acc"), domain="hub"), "a leaf node is alone")
        wait_for(lambda: len(patient.cli("server list --json --context system").json) == 3, "one is alone")
        js.stream(center.url_for("acc"), "ORDERS", "orders")
        js.stream(east.url_for("acc"), "COPY", mirror=ORIGIN)
        wait_for(lambda: patient.codes() == [], "it is not well")
        assert NOBODY not in patient.cli("doctor --context east", status=0).out
        assert center.process
        suspend(center.process.pid)
        try:
            [silent] = patient.findings("--context system --timeout 2s")
            assert (silent["code"], silent["about"]) == ("SERVER_SILENT", "server hub-server")
            assert silent["seen"] == "leaf-east is connected with it, and it does not answer"
            # An account cannot see why nobody answers, even if nothing is copied from there.
            js.ask(east.url_for("acc"), "STREAM.DELETE.COPY")
            assert NOBODY in patient.cli("doctor --context east --timeout 2s", status=0).out
            js.stream(east.url_for("acc"), "COPY", mirror=ORIGIN)
            [origin] = patient.findings("--context east --timeout 2s")
            assert (origin["code"], origin["about"]) == ("ORIGIN_SILENT", "domain hub")
            place = "--context east --timeout 2s"
            (report,) = patient.cli(f"report --json {place}", status=0).json["reports"]
            assert report["replication"][0]["codes"] == ["ORIGIN_SILENT"]
            assert patient.cli(f"report {place} --fail-on 'problems>0'").status == 1
            assert 'code="ORIGIN_SILENT"' in patient.cli(f"exporter --textfile - --count 1 {place}").out
            assert patient.codes("--all-contexts --timeout 2s") == ["CONTEXT_FAILED", "SERVER_SILENT"]
        finally:
            center.process.send_signal(signal.SIGCONT)
        wait_for(lambda: patient.codes() == [], "it is not well again", 40)


@pytest.mark.slow
def test_two_leaf_nodes_of_one_domain(pair: Pair, tmp_path: Path) -> None:
    with running(tmp_path, leaf(pair.port, name="second")):
        wait_for(lambda: pair.codes("--context system") == ["DOMAIN_TWICE"], "no leaf node")
        [twice] = pair.findings()
        assert (twice["code"], twice["objects"]) == ("DOMAIN_TWICE", ["server leaf-server", "server second"])


@pytest.mark.slow
def test_leaf_nodes_without_domain_or_system_account(pair: Pair, tmp_path: Path) -> None:
    with running(tmp_path, leaf(pair.port, name="unnamed", domain="")):
        wait_for(lambda: pair.codes() == ["DOMAIN_UNNAMED"], "no leaf node")
    with running(tmp_path / "2", leaf(pair.port, name="apart", domain="far", system=False)):
        wait_for(lambda: pair.codes() == ["SYSTEM_NOT_LINKED"], "no leaf node")
        assert pair.findings()[0]["about"] == "leaf node apart"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("imports", "code"),
    [((CREATE, FLOW), "DELIVERY_NOT_IMPORTED"), ((CREATE, DELIVER), "FLOW_CONTROL_MISSING")],
)
def test_imports_that_a_mirror_lacks(tmp_path: Path, imports: tuple[str, ...], code: str) -> None:
    patient = Patient(tmp_path)
    with running(tmp_path, hub(imports)) as [server]:
        for name in ("acc", "imp", "admin"):
            patient.context(name, server.url_for(name))
        js.stream(server.url_for("acc"), "ORDERS", "orders")
        js.publish_all(server.url_for("acc"), MESSAGES * 10)
        js.stream(server.url_for("imp"), "COPY", mirror={"name": "ORDERS", "external": ACROSS})
        [finding] = patient.findings()
        assert (finding["code"], finding["about"]) == (code, "stream hub > COPY")
        assert patient.codes("--context admin") == [code]
        # What it says is put into the account as it stands.
        words = r"in account IMP: imports: \[ (.*) \]; then reload \(.*add -f\): jsctl (.*)"
        fix = re.fullmatch(words, finding["fix"])
        assert fix
        text = server.config.read_text()
        server.config.write_text(text.replace(", ".join(imports), ", ".join([*imports, fix[1]])))
        patient.cli(f"{fix[2]} --context admin --force", status=0)
        wait_for(lambda: patient.codes() == [], "the mending does not help")


@pytest.mark.parametrize(
    ("lacks", "code"), [("", ""), ("deliver", "DELIVERY_NOT_IMPORTED"), ("$JS.FC", "FLOW_CONTROL_MISSING")]
)
def test_imports_through_an_account_between(tmp_path: Path, lacks: str, code: str) -> None:
    """As the exchange accounts of the leaf node demo: the second of two imports is the one that lacks."""
    patient = Patient(tmp_path)

    def imported(account: str, kind: str, subject: str, to: str = "") -> str:
        renamed = f', to: "{to}"' if to else ""
        return f'{{{kind}: {{account: {account}, subject: "{subject}"}}{renamed}}}'

    between = [
        imported("ACC", "service", "$JS.hub.API.>", "$JS.acc.hub.API.>"),
        imported("ACC", "stream", "deliver.acc.hub.>"),
        imported("ACC", "service", "$JS.FC.>"),
    ]
    imports = [
        imported("EXC", "service", "$JS.acc.>"),
        imported("EXC", "stream", "deliver.acc.>"),
        imported("EXC", "service", "$JS.FC.>"),
    ]
    exports = '{service: "$JS.>", response_type: "stream"}, {stream: "deliver.>"}'
    kept = [one for one in between if not lacks or f'"{lacks}' not in one]
    more = f"EXC: {{ exports: [ {exports} ], imports: [ {', '.join(kept)} ] }}"
    config = hub(imports, exports='{service: "$JS.hub.API.>", response_type: "stream"}', more=more)
    with running(tmp_path, config) as [server]:
        for name in ("acc", "imp", "admin"):
            patient.context(name, server.url_for(name))
        js.stream(server.url_for("acc"), "ORDERS", "orders")
        external = {"api": "$JS.acc.hub.API", "deliver": "deliver.acc.hub.imp.copy"}
        js.stream(server.url_for("imp"), "COPY", mirror={"name": "ORDERS", "external": external})
        findings = patient.findings()
        assert [one["code"] for one in findings] == [code] * bool(code)
        assert not code or "account EXC" in findings[0]["seen"]


@pytest.mark.long
def test_a_mirror_that_looks_active_and_brings_nothing(tmp_path: Path) -> None:
    """Seen without the system account: the mirror is compared with its origin."""
    patient = Patient(tmp_path)
    with running(tmp_path, hub((CREATE, DELIVER, INFO))) as [server]:
        patient.context("imp", server.url_for("imp"))
        url = server.url_for("imp")
        js.stream(server.url_for("acc"), "ORDERS", "orders")
        js.publish_all(server.url_for("acc"), MESSAGES * 10)
        js.stream(url, "COPY", mirror={"name": "ORDERS", "external": {**ACROSS, "deliver": "nowhere"}})
        wait_for(lambda: js.info(url, "COPY")["mirror"]["active"] >= 0, "the mirror never looks active")
        [idle] = patient.findings("--context imp")
        assert (idle["code"], idle["about"]) == ("LINK_IDLE", "stream hub > COPY")


@pytest.mark.long
def test_a_mirror_that_stalls(tmp_path: Path) -> None:
    """Seen without the system account: the server says so after some seconds."""
    patient = Patient(tmp_path)
    with running(tmp_path, hub((CREATE, DELIVER))) as [server]:
        patient.context("imp", server.url_for("imp"))
        url = server.url_for("imp")
        js.stream(server.url_for("acc"), "ORDERS", "orders")
        js.publish_all(server.url_for("acc"), MESSAGES * 20_000)
        js.stream(url, "COPY", mirror={"name": "ORDERS", "external": ACROSS})
        wait_for(lambda: js.info(url, "COPY")["mirror"].get("error"), "the mirror does not stall", 30)
        assert patient.codes("--context imp") == ["FLOW_CONTROL_MISSING"]


@pytest.mark.slow
def test_a_reload_that_left_imports_dead(tmp_path: Path) -> None:
    patient = Patient(tmp_path)
    late = (
        "LATE: { users: [{user: late, password: late}], jetstream: enabled,"
        f" imports: [ {CREATE}, {FLOW}, {DELIVER} ] }}"
    )
    with running(tmp_path, hub()) as [server]:
        before = server.config.read_text()
        server.config.write_text(before.replace("IMP: {", late + "\n  IMP: {"))
        server.reload()
        patient.context("late", server.url_for("late"))
        patient.context("system", server.url_for("admin"))
        wait_for(lambda: js.is_up(server.url_for("late")), "the account is not there")
        js.stream(server.url_for("acc"), "ORDERS", "orders")
        js.stream(server.url_for("late"), "COPY", mirror={"name": "ORDERS", "external": ACROSS})
        [dead] = patient.findings()
        assert (dead["code"], dead["about"]) == ("IMPORT_DEAD", "account LATE")
        assert "jsctl server config reload hub-server" in dead["fix"]
        server.reload()
        wait_for(lambda: patient.codes() == [], "the second reload does not help")


@pytest.mark.slow
def test_a_consumer_whose_stream_is_gone(tmp_path: Path) -> None:
    patient = Patient(tmp_path)
    ask = "CONSUMER.MSG.NEXT.ORDERS.dur"
    needs = f'{{service: {{account: ACC, subject: "$JS.hub.API.{ask}"}}, to: "{REMOTE}.{ask}"}}'
    exports = f'{{service: "$JS.hub.API.{ask}", response_type: "stream"}}'
    with running(tmp_path, hub((needs,), exports=exports)) as [server]:
        for name in ("acc", "imp", "admin"):
            patient.context(name, server.url_for(name))
        [gone] = patient.findings()
        assert gone["code"] == "CONSUMER_ORPHANED" and "stream ORDERS does not exist" in gone["seen"]
        url = server.url_for("acc")
        js.stream(url, "ORDERS", "orders")
        assert "consumer ORDERS > dur does not exist" in patient.findings()[0]["seen"]
        config = {"durable_name": "dur", "ack_policy": "explicit"}
        js.ask(url, "CONSUMER.CREATE.ORDERS.dur", {"stream_name": "ORDERS", "config": config})
        assert patient.codes() == []
        # The other direction: what is delivered to a stream on the other side that is gone.
        push = {"durable_name": "out", "ack_policy": "none", "deliver_subject": "deliver.acc.hub.imp.copy"}
        js.ask(url, "CONSUMER.CREATE.ORDERS.out", {"stream_name": "ORDERS", "config": push})
        assert [(one["code"], one["about"]) for one in patient.findings()] == [
            ("CONSUMER_ORPHANED", "consumer hub > ORDERS > out")
        ]


@pytest.mark.slow
def test_limits_that_are_nearly_reached(tmp_path: Path) -> None:
    patient = Patient(tmp_path)
    small = "SMALL: { users: [{user: small, password: small}], jetstream: {max_store: 1GB, max_streams: 2} }"
    with running(tmp_path, hub(more=small)) as [server]:
        url = server.url_for("small")
        patient.context("small", url)
        patient.cli("context select small", status=0)
        js.stream(url, "FULL", "full", discard="new", max_msgs=10)
        js.publish(url, "full", count=9)
        wait_for(lambda: js.info(url, "FULL")["state"]["messages"] == 9, "messages are not stored")
        assert [one["about"] for one in patient.findings()] == ["stream hub > FULL"]
        js.ask(url, "STREAM.PURGE.FULL")
        js.stream(url, "SECOND", "second")
        [full] = patient.findings()
        assert (full["code"], full["about"]) == ("LIMIT_NEAR", "account SMALL")
        assert "100% of the account's streams" in full["seen"]
        for condition in ("problems > 0", "kind == 'account' and 'LIMIT_NEAR' in codes"):
            failed = patient.cli(["report", "--fail-on", condition], status=1)
            assert failed.err.endswith("holds for small hub: account\n")
        line = full["fix"].partition(": jsctl ")[2]
        assert "SECOND" in patient.cli(line, status=0).out  # who uses it


def test_rules_are_listed(pair: Pair) -> None:
    shown = pair.cli("doctor --rules --json", status=0).json
    assert {
        "code": "ORIGIN_SILENT",
        "means": "nobody answers where mirrors and sources copy from",
        "part": "links",
    } in shown


def test_answers_that_are_malformed() -> None:
    server = ServerView(
        "ID", "odd", jsz={"api": "none", "meta_cluster": []}, leafz={"leafs": [1]}, jetstream=True
    )
    snapshot = Snapshot(datetime.now(UTC), servers=[server._replace(cluster="east")])
    assert {finding.code for finding in diagnose(snapshot)} == {"ANSWER_MALFORMED"}
    assert diagnose(snapshot, ["ANSWER_MALFORMED"]) == []
