"""All rules, and their findings on a snapshot. No I/O."""

from collections.abc import Collection

from jsctl.monitor.doctor.finding import Finding, Rule
from jsctl.monitor.doctor.rules import (
    accounts,
    consumers,
    contexts,
    domains,
    leaf_links,
    limits,
    origins,
    servers,
    subjects,
)
from jsctl.monitor.doctor.snapshot import Snapshot

_MALFORMED = "ANSWER_MALFORMED"

RULES = (
    Rule("CONTEXT_FAILED", "a context cannot be used", contexts.context_failed),
    Rule("DOMAIN_MISSING", "nobody answers in a domain that a context names", contexts.domain_missing),
    Rule("META_NO_LEADER", "the servers of a domain have no majority", servers.meta_no_leader),
    Rule(
        "JETSTREAM_SILENT", "a domain does not answer in time", contexts.jetstream_silent, ("META_NO_LEADER",)
    ),
    Rule("DOMAIN_TWICE", "two JetStreams have one domain", domains.domain_twice),
    Rule("DOMAIN_UNNAMED", "JetStream behind a leaf node has no domain", domains.domain_unnamed),
    Rule(
        "SYSTEM_NOT_LINKED", "a leaf node does not connect the system account", leaf_links.system_not_linked
    ),
    Rule("IMPORT_INVALID", "an account imports what is not exported", accounts.import_invalid),
    Rule("IMPORT_DEAD", "a reload left a service import dead", accounts.import_dead),
    Rule("ORIGIN_MISSING", "a mirror or source of a stream that does not exist", origins.origin_missing),
    Rule(
        "ORIGIN_SILENT",
        "nobody answers where mirrors and sources copy from",
        origins.origin_silent,
        ("IMPORT_DEAD", "DOMAIN_MISSING", "META_NO_LEADER", "JETSTREAM_SILENT"),
    ),
    Rule(
        "DELIVERY_NOT_IMPORTED",
        "the delivery prefix of a mirror or source is not imported",
        accounts.delivery_not_imported,
        ("ORIGIN_SILENT", "IMPORT_DEAD", "ORIGIN_MISSING"),
    ),
    Rule(
        "FLOW_CONTROL_MISSING",
        "flow control of a mirror or source does not pass between accounts",
        accounts.flow_control_missing,
        ("ORIGIN_SILENT", "IMPORT_DEAD", "ORIGIN_MISSING", "DELIVERY_NOT_IMPORTED"),
    ),
    Rule("CONSUMER_ORPHANED", "a consumer between accounts has lost one side", consumers.consumer_orphaned),
    Rule(
        "LINK_IDLE",
        "a mirror or source looks active and copies nothing",
        origins.link_idle,
        (
            "DELIVERY_NOT_IMPORTED",
            "FLOW_CONTROL_MISSING",
            "CONSUMER_ORPHANED",
            "ORIGIN_SILENT",
            "IMPORT_DEAD",
        ),
    ),
    Rule(
        "LINK_FAILED",
        "a mirror or source does not reach its origin",
        origins.link_failed,
        (
            *("DELIVERY_NOT_IMPORTED", "FLOW_CONTROL_MISSING", "CONSUMER_ORPHANED", "ORIGIN_SILENT"),
            *("IMPORT_DEAD", "ORIGIN_MISSING", "LINK_IDLE", "META_NO_LEADER", "JETSTREAM_SILENT"),
        ),
    ),
    Rule("SUBJECT_TWICE", "streams of several domains store one subject", subjects.subject_twice),
    Rule("REPLICA_OFFLINE", "a server with replicas is away", servers.replica_offline, ("META_NO_LEADER",)),
    Rule("REPLICAS_FEW", "a stream has fewer replicas than it should", servers.replicas_few),
    Rule("STREAM_NO_LEADER", "a stream has no leader", servers.stream_without_leader, ("META_NO_LEADER",)),
    Rule("API_LEVEL_DIFFERS", "servers of a cluster have different API levels", servers.api_level_differs),
    Rule("CLOCKS_APART", "clocks of servers differ", servers.clocks_apart),
    Rule("LIMIT_NEAR", "a limit is nearly reached", limits.limit_near),
    Rule("MESSAGES_LOST", "a stream lost messages", limits.messages_lost),
    Rule(_MALFORMED, "a server's answer is malformed", lambda _: ()),
)
"""The rules, in the order in which findings are shown: causes before their effects."""

CODES = tuple(rule.code for rule in RULES)


def _run_rule(rule: Rule, snapshot: Snapshot) -> list[Finding]:
    """Return a rule's findings. What servers report to the system account is not checked, and may have any
    shape.
    """
    try:
        return list(rule.check(snapshot))
    except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        return [
            Finding(
                _MALFORMED,
                f"rule {rule.code}",
                f"a server's answer is malformed: {type(error).__name__} {error}",
                "this rule could not be checked",
                "see what the servers answer: jsctl server request jetstream; perhaps another program than"
                " nats-server answers",
            )
        ]


def diagnose(snapshot: Snapshot, ignore: Collection[str] = ()) -> list[Finding]:
    """Return what is wrong, the causes first, without what other findings explain.

    ignore: codes to leave out; what such findings explain is left out, too.
    """
    findings: list[Finding] = []
    explained: dict[str, set[str]] = {}
    for rule in RULES:
        explained_objects = {name for code in rule.causes for name in explained.get(code, ())}
        for finding in _run_rule(rule, snapshot):
            if explained_objects and set(finding.objects) <= explained_objects:
                continue
            explained.setdefault(rule.code, set()).update(finding.objects)
            findings.append(finding)
    return [finding for finding in findings if finding.code not in ignore]
