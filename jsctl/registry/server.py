"""The verbs of `jsctl server`, in the order in which help shows them."""

from jsctl.registry.model import Entry, group, verb
from jsctl.registry.noun_record import Noun

NOUN = Noun(
    name="network",
    argument="NETWORK",
    label="Network",
    lister="jsctl.localserver.networks:network_names",
    not_found="there is no network {name!r}",
    hint="jsctl server network ls lists them",
    create="jsctl server network up hub-leaf starts one",
    offline=True,
)

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
    "network": group("Run, break and mend whole networks on this machine", aliases=("net",)),
    "network up": verb("Start a network and wait until it is ready", "server.network.up:up"),
    "network ls": verb("List the networks on this machine", "server.network.ls:ls", "list"),
    "network status": verb(
        "Show the servers, links and streams of a network", "server.network.status:status"
    ),
    "network wait": verb(
        "Wait until a network is ready and its mirrors have caught up", "server.network.wait:wait"
    ),
    "network start": verb("Start servers that do not run", "server.network.nodes:start"),
    "network stop": verb("Stop servers in order", "server.network.nodes:stop"),
    "network restart": verb("Stop servers and start them again", "server.network.nodes:restart"),
    "network kill": verb("End servers at once, as a power failure does", "server.network.nodes:kill"),
    "network pause": verb("Hold servers with their connections open", "server.network.nodes:pause"),
    "network resume": verb("Let paused servers go on", "server.network.nodes:resume"),
    "network lame-duck": verb("Let servers end as before maintenance", "server.network.nodes:lame_duck"),
    "network add": verb("Add a server to a cluster", "server.network.scale:add"),
    "network scale": verb("Change the number of servers of a cluster", "server.network.scale:scale"),
    "network link": verb("Show or disturb the links between clusters", "server.network.link:link"),
    "network logs": verb("Show the logs of servers", "server.network.logs:logs"),
    "network shell": verb("Open a shell with the contexts of a network", "server.network.shell:shell"),
    "network env": verb("Print shell variables for the contexts of a network", "server.network.shell:env_"),
    "network topology": verb(
        "Print the description of a network to start from", "server.network.topology:topology"
    ),
    "network down": verb("Stop a network and remove its data", "server.network.down:down"),
}
