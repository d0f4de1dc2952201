"""The verbs of `jsctl server`, in the order in which help shows them."""

from jsctl.registry.model import Entry, group, verb

VERBS: dict[str, Entry] = {
    "run": verb("Run real nats-servers with JetStream on this machine until ctrl-C", "server.run:run"),
    "stop": verb("Stop nats-servers that jsctl started on this machine", "server.stop:stop"),
    "list": verb("List all servers of the network", "server.list_:list_", "ls"),
    "report": group("Report on servers", target="server.report.group:report", aliases=("rep",)),
    "report jetstream": verb(
        "Report on JetStream across all servers of the network",
        "server.report.jetstream:jetstream",
        "jsz",
        "js",
    ),
}
