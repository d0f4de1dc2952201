"""Every command: where it lives, one line of help, its aliases. Imports nothing of jsctl, so that
`jsctl --help` and completion stay fast; a test checks each line against the command it names."""

from typing import NamedTuple


class Entry(NamedTuple):
    """One command or group.

    target: "module:attribute" of a click command; for a group, of a command whose options (and, with
    `runs`, whose callback) the group takes over. Empty for a plain group.
    """

    help: str
    target: str = ""
    aliases: tuple[str, ...] = ()
    group: bool = False
    runs: bool = False  #: a group that does something without a subcommand


def _group(help: str, *aliases: str, target: str = "", runs: bool = False) -> Entry:
    return Entry(help, target, aliases, True, runs)


def _verb(help: str, target: str, *aliases: str) -> Entry:
    return Entry(help, "jsctl.commands." + target, aliases)


COMMANDS: dict[str, Entry] = {
    "demo": _verb("Two real servers, two domains, a report, and Spark", "demo.demo:demo"),
    "stream": _group(
        "JetStream streams", "str", "st", "ms", "s", target="jsctl.commands.stream.group:stream"
    ),
    "stream add": _verb("Create a stream", "stream.add:add", "create", "new"),
    "stream ls": _verb("List the streams", "stream.ls:ls", "list", "l"),
    "stream report": _verb("Streams in numbers, and how they replicate", "stream.report:report"),
    "stream info": _verb("Configuration and state of a stream", "stream.info:info", "nfo", "i"),
    "stream edit": _verb("Change a stream", "stream.edit:edit", "update"),
    "stream rm": _verb("Remove a stream", "stream.rm:rm", "delete", "del"),
    "stream find": _verb("Find the streams that fit all of the flags", "stream.find:find", "query"),
    "stream state": _verb("State of a stream", "stream.state:state"),
    "stream subjects": _verb("Subjects that a stream holds", "stream.subjects:subjects", "subj"),
    "stream purge": _verb("Remove messages from streams", "stream.purge:purge"),
    "stream rmm": _verb("Remove single messages from a stream", "stream.rmm:rmm"),
    "stream view": _verb("View the messages of a stream", "stream.view:view"),
    "stream get": _verb("One message of a stream", "stream.get:get"),
    "stream seal": _verb("Seal a stream for ever", "stream.seal:seal"),
    "stream gaps": _verb("Sequences that are missing in a stream", "stream.gaps:gaps"),
    "stream graph": _verb("Graph a stream's activity", "stream.graph:graph"),
    "stream cluster": _group("Leaders and peers of replicated streams", "c"),
    "stream cluster step-down": _verb(
        "Make a stream's leader stand down",
        "stream.cluster.step_down:step_down",
        "stepdown",
        "sd",
        "elect",
        "down",
        "d",
    ),
    "stream cluster balance": _verb("Balance the leaders of streams", "stream.cluster.balance:balance"),
    "stream cluster peer-remove": _verb(
        "Remove a server from a stream's group", "stream.cluster.peer_remove:peer_remove", "pr"
    ),
    "stream copy": _verb("Create a stream like another, with its messages too", "stream.copy:copy", "cp"),
    "stream backup": _verb("Back up a stream", "stream.backup:backup", "snapshot"),
    "stream restore": _verb("Restore a stream from its backup", "stream.restore:restore"),
    "publish": _verb("Publish messages", "publish:publish", "pub"),
    "subscribe": _verb("Subscribe to subjects or to a stream", "subscribe:subscribe", "sub"),
    "request": _verb("Send a request and show the replies", "request:request", "req"),
    "reply": _verb("Answer requests", "reply:reply"),
    "events": _verb("Show events of servers and of JetStream", "events:events", "event", "e"),
    "rtt": _verb("Round-trip time to each server address", "rtt:rtt"),
    "latency": _verb("Latency between two connections", "latency:latency", "lat"),
    "errors": _group(
        "Errors of the JetStream API", "err", "error", target="jsctl.commands.errors.group:errors"
    ),
    "errors ls": _verb("List the errors", "errors.ls:ls", "list"),
    "errors lookup": _verb(
        "Look an error up by its code", "errors.lookup:lookup", "find", "get", "l", "view", "show"
    ),
    "errors edit": _verb("Edit or add an error in a file", "errors.edit:edit", "vi", "add", "new"),
    "errors validate": _verb("Check a file of errors", "errors.validate:validate"),
    "account": _group("The account: what it has, backup and restore", "a"),
    "account info": _verb(
        "Login, connection and JetStream limits of the account", "account.info:info", "nfo"
    ),
    "account backup": _verb("Back up all streams of the account", "account.backup:backup", "snapshot"),
    "account restore": _verb("Restore the streams of an account", "account.restore:restore"),
    "backup": _verb("Back up all streams of the account", "account.backup:backup"),
    "restore": _verb("Restore the streams of an account", "account.restore:restore"),
    "consumer": _group(
        "JetStream consumers", "con", "obs", "c", target="jsctl.commands.consumer.group:consumer"
    ),
    "consumer add": _verb("Create a consumer", "consumer.add:add", "create", "new"),
    "consumer ls": _verb("List the consumers of a stream", "consumer.ls:ls", "list"),
    "consumer info": _verb("Configuration and state of a consumer", "consumer.info:info", "nfo"),
    "consumer state": _verb("State of a consumer", "consumer.info:state"),
    "consumer next": _verb("Retrieve messages from a pull consumer", "consumer.next:next_message"),
    "consumer sub": _verb("Receive the messages of a consumer", "consumer.sub:sub"),
    "consumer events": _verb("Show the advisories and samples of a consumer", "consumer.events:events"),
    "consumer graph": _verb("Graph what a consumer delivers", "consumer.graph:graph"),
    "consumer report": _verb("Consumers in numbers", "consumer.report:report"),
    "consumer why": _verb("Explain why a consumer does not move", "consumer.why:why"),
    "consumer find": _verb("Find the consumers of a stream", "consumer.find:find", "query"),
    "consumer edit": _verb("Change a consumer", "consumer.edit:edit", "update"),
    "consumer copy": _verb("Create a consumer from another", "consumer.copy:copy", "cp"),
    "consumer rm": _verb("Remove a consumer", "consumer.rm:rm", "delete", "del"),
    "consumer reset": _verb("Deliver again from a sequence on", "consumer.reset:reset"),
    "consumer pause": _verb("Pause a consumer", "consumer.pause:pause"),
    "consumer resume": _verb("Resume a paused consumer", "consumer.pause:resume"),
    "consumer unpin": _verb("Unpin the client of a priority group", "consumer.unpin:unpin"),
    "consumer cluster": _group("Leaders of replicated consumers", "c"),
    "consumer cluster step-down": _verb(
        "Make a consumer's leader stand down", "consumer.cluster.step_down:step_down", "elect", "down", "d"
    ),
    "consumer cluster balance": _verb("Balance leaders", "consumer.cluster.balance:balance"),
    "apply": _verb("Make streams and consumers as files declare them", "apply:apply"),
    "diff": _verb("Show what apply would change; exits 2 when something would", "diff:diff"),
    "export": _group("Streams and reports into Spark tables"),
    "export reports": _verb("Write the reports to Spark tables", "export.reports:reports", "report"),
    "export stream": _verb(
        "Write the messages of streams to Spark tables", "export.stream:stream", "streams"
    ),
    "export rollup": _verb("Make hourly and daily tables of exported reports", "export.rollup:rollup"),
    "export query": _verb("Ask exported tables with Spark SQL", "export.query:query", "sql"),
    "export config": _verb(
        "Write streams and consumers that exist as a file for jsctl apply", "export.config:config"
    ),
    "import": _verb("Publish Parquet, JSON, CSV or ORC files to a stream", "import_:import_"),
    "report": _group(
        "Streams, consumers and replication of several contexts and domains",
        target="jsctl.commands.report.report:report",
        runs=True,
    ),
    "report history": _verb(
        "How streams, consumers, replication and servers went over time", "report.history:history"
    ),
    "context": _group("Contexts: named ways to reach a network", "ctx"),
    "context add": _verb("Create or update a context", "context.add:add", "create", "save"),
    "context copy": _verb("Copy a context", "context.copy:copy", "cp"),
    "context edit": _verb("Edit a context in your EDITOR", "context.edit:edit", "vi"),
    "context ls": _verb("List the contexts", "context.ls:ls", "list", "l"),
    "context rm": _verb("Remove a context", "context.rm:rm", "remove"),
    "context select": _verb("Select the default context", "context.select:select", "switch", "set"),
    "context unselect": _verb("Select no context", "context.unselect:unselect"),
    "context info": _verb("Show a context", "context.info:info", "show", "v", "view"),
    "context validate": _verb("Check one context or all", "context.validate:validate"),
    "context previous": _verb(
        "Select the context that was selected before", "context.previous:previous", "-"
    ),
    "server": _group("Servers: run some here, look at all of them", "srv", "sys", "system"),
    "server run": _verb("Run nats-servers on this machine", "server.run:run"),
    "server stop": _verb("Stop nats-servers that jsctl started", "server.stop:stop"),
    "server list": _verb("List all servers of the network", "server.list_:list_", "ls"),
    "server report": _group("Reports on servers", "rep", target="jsctl.commands.server.report.group:report"),
    "server report jetstream": _verb(
        "JetStream on all servers", "server.report.jetstream:jetstream", "jsz", "js"
    ),
    "cheat": _verb("Worked examples, by topic", "cheat:cheat"),
    "completion": _verb("Print the completion script for a shell", "completion:completion"),
}
"""In the order in which help shows them."""


def children(path: str) -> dict[str, Entry]:
    """The commands directly below `path` ("" for the top level), by name, in order."""
    prefix = path + " " if path else ""
    return {
        name[len(prefix) :]: entry
        for name, entry in COMMANDS.items()
        if name.startswith(prefix) and " " not in name[len(prefix) :]
    }
