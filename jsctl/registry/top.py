"""The top level of the command line, in the order in which help shows it."""

from jsctl.registry.model import CHANGES, SYSTEM, Entry, changes, destroys, group, old_name, reads

NOUNS = {
    "stream": "stream:NOUN",
    "consumer": "consumer:NOUN",
    "pcgroup": "consumer:PCGROUP",
    "object bucket": "object:BUCKET",
    "object": "object:NOUN",
    "service": "service:NOUN",
    "schema": "schema:NOUN",
    "context": "context:NOUN",
    "bucket": "kv:NOUN",
    "key": "kv:KEY",
    "network": "server:NOUN",
    "counter": "counter:NOUN",
}
"""Each noun, and the file beside this one that describes it, with the name of its record there."""

GROUPS: dict[str, tuple[str, ...]] = {
    "Streams and messages": (
        *("stream", "consumer", "publish", "subscribe", "request", "reply", "counter", "schema"),
        *("redrive", "schedule", "apply", "diff", "backup"),
    ),
    "Buckets and Spark": ("kv", "object", "export", "import", "spark"),
    "Live and reports": (
        *("report", "watch", "alert", "incident", "doctor", "rehearse", "top", "bench", "exporter"),
    ),
    "Network and accounts": (
        *("server", "account", "auth", "context", "events", "trace", "rtt", "latency", "service", "audit"),
        "mcp",
    ),
    "This tool": (
        *("demo", "shell", "agent", "compat", "lint", "manual", "errors", "cheat", "completion", "help"),
        "version",
    ),
}
"""The commands of the top level, in the groups in which help shows them."""

FIRST = frozenset(
    {
        *("stream", "consumer", "publish", "subscribe", "apply", "kv", "object", "export"),
        *("report", "doctor", "server", "auth", "context", "demo", "manual"),
    }
)
"""The commands that `jsctl --help` describes; it names the others, and `jsctl --help --all` describes all."""

VERBS: dict[str, Entry] = {
    "demo": group(
        "Run a demo: two servers and domains, mirrors, a report, Spark",
        target="demo.demo:demo",
        runs=True,
        impact=CHANGES,
        own=True,
    ),
    "stream": group(
        "Create, inspect, change and remove streams",
        target="stream.group:stream",
        aliases=("str", "st", "ms", "s"),
    ),
    "publish": changes("Publish messages", "pub"),
    "subscribe": changes("Subscribe to subjects or to a stream", "sub"),
    "request": changes("Send a request and show the replies", "req"),
    "reply": changes("Answer requests"),
    "events": reads("Show server and JetStream events as they happen", "event", "e"),
    "bench": group("Measure how fast servers and clients are"),
    "redrive": destroys("Publish messages again that a consumer gave up, or others", own=True),
    "rtt": reads("Measure the round-trip time to each server address"),
    "latency": changes("Measure the latency between two connections", "lat"),
    "service": group(
        "Find and use services of the micro protocol", target="service.group:", aliases=("micro",)
    ),
    "schema": group("Look up JSON schemas of messages, and validate against them", target="schema.group:"),
    "trace": changes("Show the path of a message through the network"),
    "errors": group(
        "Look up errors of the JetStream API", target="errors.group:errors", aliases=("err", "error")
    ),
    "account": group("Show and report on the account", aliases=("a",)),
    "backup": group("Back up, restore, check and edit streams", default="account"),
    "restore": old_name("backup restore account"),
    "consumer": group(
        "Create, inspect, change, pull from and remove consumers",
        target="consumer.group:consumer",
        aliases=("con", "obs", "c"),
    ),
    "counter": group(
        "Count in streams, and see what each source contributes", target="counter.group:", aliases=("ctr",)
    ),
    "schedule": group(
        "Schedule messages in streams, and see when they are published", target="schedule.group:", own=True
    ),
    "kv": group("Store, read, watch and compare values in key-value buckets"),
    "object": group("Store files of any size in buckets, and get them back", aliases=("obj",)),
    "apply": destroys("Create and change streams and consumers as files declare them", own=True),
    "diff": reads("Show what apply would change; exits with 2 for a difference", own=True),
    "export": group("Write streams and reports to Spark tables", own=True),
    "import": changes(
        "Publish the rows of Parquet, JSON, CSV or ORC files to a stream", target="import_:import_", own=True
    ),
    "spark": group("Prepare this machine for Spark", own=True),
    "report": group(
        "Report on streams, consumers and copies of several domains",
        target="report.report:report",
        runs=True,
        own=True,
    ),
    "watch": reads("Watch for alerts of a file without a screen, and tell its receivers", own=True),
    "alert": group("Try changes of alerts on a recording, and print some to begin with", own=True),
    "incident": reads("Tell from a recording what went wrong, and what changed before", own=True),
    "rehearse": reads("Try a change on a copy of the account on this machine", own=True),
    "doctor": reads("Find what is wrong with a network, and how to fix it", own=True, changes_with="--fix"),
    "exporter": group(
        "Export metrics of several contexts and domains to Prometheus",
        target="exporter.exporter:exporter",
        runs=True,
        own=True,
    ),
    "context": group("Manage contexts: named ways to reach a network", aliases=("ctx",)),
    "server": group(
        "Run servers on this machine, and inspect those of a network",
        aliases=("srv", "sys", "system"),
        scope=SYSTEM,
    ),
    "auth": group(
        "Manage operators, accounts and users in the store of nsc", target="auth.group:auth", scope=SYSTEM
    ),
    "top": reads("Show what the connections of servers send and receive", scope=SYSTEM),
    "audit": group("Gather data from all servers, and check it for problems", scope=SYSTEM),
    "shell": changes("Run command lines at a prompt that keeps its connections", own=True),
    "agent": group("Serve the calls of a script from a process that is warm", own=True),
    "compat": changes("Run a line with the outcome that nats has", own=True),
    "lint": reads("Find lines of scripts that have another outcome than with nats", own=True),
    "mcp": changes("Serve tools to an assistant over stdin and stdout (MCP)", own=True),
    "manual": reads("Read the manual, by topic", own=True),
    "cheat": reads("Show worked examples by topic"),
    "completion": group("Let a shell complete commands, flags and names", own=True),
    "version": reads("Show the versions of jsctl and of what it runs with", own=True),
}
