"""The verbs of `jsctl server`, in the order in which help shows them."""

from jsctl.registry.model import Entry, group, verb
from jsctl.registry.noun_record import Noun

NOUN = Noun(
    name="network",
    argument="NETWORK",
    label="Network",
    lister="jsctl.localserver.networks:list_names",
    not_found="there is no network {name!r}",
    hint=("server network ls", "lists them"),
    create=("server network up hub-leaf", "starts one"),
    offline=True,
)

VERBS: dict[str, Entry] = {
    "run": verb("Run real nats-servers with JetStream on this machine until ctrl-C", "server.run:run"),
    "stop": verb("Stop nats-servers that jsctl started on this machine", "server.stop:stop"),
    "list": verb("List all servers of the network", "server.list_:list_", "ls"),
    "info": verb("Show a server", "server.info:info", "i"),
    "ping": verb("Show how fast all servers respond", "server.ping:ping"),
    "graph": verb("Draw charts of a server", "server.graph:graph"),
    "passwd": verb(
        "Hash a password for a server configuration", "server.passwd:passwd", "mkpasswd", "pass", "password"
    ),
    "generate": verb("Write server configurations from a few answers", "server.generate:generate", "gen"),
    "account": group("Show and purge accounts, with the system account", aliases=("acct",)),
    "account info": verb("Show what servers know of an account", "server.account.info:info", "i"),
    "account purge": verb("Remove all streams and consumers of an account", "server.account.purge:purge"),
    "cluster": group("Manage the servers of a JetStream domain", aliases=("r", "raft")),
    "cluster balance": verb(
        "Spread connections over the servers of a cluster", "server.cluster.balance:balance"
    ),
    "cluster evacuate": verb(
        "Move all streams and consumers of a server to others", "server.cluster.evacuate:evacuate"
    ),
    "cluster rescue": verb(
        "Restore a leader after most servers are lost for good", "server.cluster.rescue:rescue"
    ),
    "cluster step-down": verb(
        "Elect another leader of a JetStream domain",
        "server.cluster.step_down:step_down",
        "stepdown",
        "sd",
        "elect",
        "down",
        "d",
    ),
    "cluster peer-remove": verb(
        "Remove a server from a JetStream domain", "server.cluster.peer_remove:peer_remove", "rm", "pr"
    ),
    "config": group("Manage the configuration of servers", aliases=("cfg",)),
    "config reload": verb("Reload the configuration of a server", "server.config.reload:reload"),
    "check": group(
        "Check servers, streams and more for monitoring systems", target="server.check.group:check"
    ),
    "check connection": verb(
        "Check the connection to a server", "server.check.connection:connection", "conn"
    ),
    "check stream": verb("Check a stream, its origins and replicas", "server.check.stream:stream"),
    "check consumer": verb("Check a consumer", "server.check.consumer:consumer"),
    "check message": verb("Check the last message on a subject", "server.check.message:message"),
    "check meta": verb("Check the meta group of a JetStream domain", "server.check.meta:meta", "raft"),
    "check request": verb("Check that a service answers", "server.check.request:request", "req"),
    "check jetstream": verb("Check an account's use of JetStream", "server.check.jetstream:jetstream", "js"),
    "check server": verb("Check a server", "server.check.server:server"),
    "check kv": verb("Check a key-value bucket", "server.check.kv:kv"),
    "check credential": verb("Check a credentials file", "server.check.credential:credential"),
    "report": group("Report on servers", target="server.report.group:report", aliases=("rep",)),
    "report jetstream": verb(
        "Report on JetStream across all servers of the network",
        "server.report.jetstream:jetstream",
        "jsz",
        "js",
    ),
    "report accounts": verb("Report on accounts", "server.report.accounts:accounts", "acct"),
    "report connections": verb(
        "Report on connections", "server.report.connections:connections", "conn", "connz", "conns"
    ),
    "report cpu": verb("Compare the CPU use of servers", "server.report.cpu:cpu"),
    "report downgrade": verb(
        "List streams and consumers that need a higher API level", "server.report.downgrade:downgrade"
    ),
    "report gateways": verb("Report on gateways", "server.report.gateways:gateways", "super", "gateway"),
    "report health": verb("Report on the health of servers", "server.report.health:health"),
    "report leafnodes": verb(
        "Report on leaf node connections", "server.report.leafnodes:leafnodes", "leaf", "leafz"
    ),
    "report mem": verb("Compare the memory use of servers", "server.report.mem:mem"),
    "report routes": verb("Report on the routes of clusters", "server.report.routes:routes", "route"),
    "request": group(
        "Request monitoring data from servers", target="server.request.group:request", aliases=("req",)
    ),
    "request accounts": verb("Show accounts", "server.request.accounts:accounts", "accountz", "acct"),
    "request connections": verb(
        "Show connections", "server.request.connections:connections", "conn", "connz"
    ),
    "request gateways": verb(
        "Show gateways", "server.request.gateways:gateways", "gateway", "gwy", "gatewayz"
    ),
    "request ipqueue": verb("Show internal queues", "server.request.ipqueue:ipqueue", "ipq", "ipqueuesz"),
    "request jetstream-health": verb(
        "Show whether servers are healthy", "server.request.jetstream_health:jetstream_health", "healthz"
    ),
    "request jetstream": verb("Show JetStream", "server.request.jetstream:jetstream", "jsz", "js"),
    "request kick": verb("Disconnect a client at once", "server.request.kick:kick"),
    "request leafnodes": verb(
        "Show leaf node connections", "server.request.leafnodes:leafnodes", "leaf", "leafz"
    ),
    "request profile": verb("Write profiles of servers to files", "server.request.profile:profile"),
    "request raft": verb("Show the state of Raft groups", "server.request.raft:raft", "raftz"),
    "request routes": verb("Show the routes of clusters", "server.request.routes:routes", "route", "routez"),
    "request subscriptions": verb(
        "Show subscriptions", "server.request.subscriptions:subscriptions", "sub", "subsz"
    ),
    "request variables": verb("Show runtime variables", "server.request.variables:variables", "var", "varz"),
    "stream-check": verb("Compare the replicas of streams", "server.stream_check:stream_check"),
    "consumer-check": verb("Compare the replicas of consumers", "server.consumer_check:consumer_check"),
    "watch": group("Watch servers, accounts, JetStream and its API"),
    "watch servers": verb("Watch servers", "server.watch.servers:servers", "server", "srv"),
    "watch accounts": verb("Watch accounts", "server.watch.accounts:accounts", "account", "acct"),
    "watch jetstream": verb("Watch JetStream on servers", "server.watch.jetstream:jetstream", "js", "jsz"),
    "watch api": group("Watch the JetStream API"),
    "watch api requests": verb(
        "Watch requests to the JetStream API", "server.watch.api.requests:requests", "req"
    ),
    "mappings": verb("Test which subjects a mapping leads to", "server.mappings:mappings", "mapping"),
    "network": group("Run, break and repair whole networks on this machine", aliases=("net",)),
    "network up": verb("Start a network and wait until it is ready", "server.network.up:up"),
    "network ls": verb("List the networks on this machine", "server.network.ls:ls", "list"),
    "network status": verb(
        "Show the servers, links and streams of a network", "server.network.status:status"
    ),
    "network wait": verb(
        "Wait until a network is ready and its mirrors have caught up", "server.network.wait:wait"
    ),
    "network start": verb("Start servers that are not running", "server.network.nodes:start"),
    "network stop": verb("Shut servers down gracefully", "server.network.nodes:stop"),
    "network restart": verb("Stop servers and start them again", "server.network.nodes:restart"),
    "network kill": verb("Kill servers at once, as a power failure would", "server.network.nodes:kill"),
    "network pause": verb("Suspend servers with their connections open", "server.network.nodes:pause"),
    "network resume": verb("Let paused servers continue", "server.network.nodes:resume"),
    "network lame-duck": verb("Shut servers down in lame duck mode", "server.network.nodes:lame_duck"),
    "network add": verb("Add a server to a cluster", "server.network.scale:add"),
    "network scale": verb("Change the number of servers of a cluster", "server.network.scale:scale"),
    "network link": verb("Show or disturb the links between clusters", "server.network.link:link"),
    "network isolate": verb("Cut clusters off from all others", "server.network.isolate:isolate"),
    "network logs": verb("Show the logs of servers", "server.network.logs:logs"),
    "network shell": verb("Open a shell with the contexts of a network", "server.network.shell:shell"),
    "network env": verb("Print shell variables for the contexts of a network", "server.network.shell:env_"),
    "network topology": verb(
        "Print the description of a network to start from", "server.network.topology:topology"
    ),
    "network down": verb("Stop a network and remove its data", "server.network.down:down"),
}
