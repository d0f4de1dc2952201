"""The verbs of `jsctl server`, in the order in which help shows them."""

from jsctl.registry.model import USER, Entry, changes, destroys, group, reads
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

_CHECK_SERVER, _CHECK_STREAM = "server.check.server:", "server.check.stream:"
_NETWORK, _NODES = "server.network.group:", "server.network.nodes:"
_REQUEST, _LINKS = "server.request.group:", "server.report.routes:"

VERBS: dict[str, Entry] = {
    "run": changes("Run real nats-servers with JetStream on this machine until ctrl-C", scope=USER, own=True),
    "stop": changes("Stop nats-servers that jsctl started on this machine", scope=USER, own=True),
    "list": reads("List all servers of the network", "ls", target="server.list_:list_"),
    "info": reads("Show a server", "i"),
    "ping": reads("Show how fast all servers respond"),
    "graph": reads("Draw charts of a server"),
    "passwd": reads("Hash a password for a server configuration", "mkpasswd", "pass", "password", scope=USER),
    "generate": reads("Write server configurations from a few answers", "gen", scope=USER),
    "account": group(
        "Show and purge accounts, with the system account", target="server.account.group:", aliases=("acct",)
    ),
    "account info": reads("Show what servers know of an account", "i"),
    "account purge": destroys("Remove all streams and consumers of an account"),
    "cluster": group(
        "Manage the servers of a JetStream domain", target="server.cluster.group:", aliases=("r", "raft")
    ),
    "cluster balance": changes("Spread connections over the servers of a cluster"),
    "cluster evacuate": changes("Move all streams and consumers of a server to others"),
    "cluster rescue": changes("Restore a leader after most servers are lost for good"),
    "cluster step-down": changes(
        "Elect another leader of a JetStream domain", "stepdown", "sd", "elect", "down", "d"
    ),
    "cluster peer-remove": destroys("Remove a server from a JetStream domain", "rm", "pr"),
    "config": group("Manage the configuration of servers", aliases=("cfg",)),
    "config reload": changes("Reload the configuration of a server"),
    "check": group(
        "Check servers, streams and more for monitoring systems", target="server.check.group:check"
    ),
    "check connection": reads("Check the connection to a server", "conn", scope=USER, target=_CHECK_SERVER),
    "check stream": reads("Check a stream, its origins and replicas", scope=USER),
    "check consumer": reads("Check a consumer", scope=USER, target=_CHECK_STREAM),
    "check message": reads("Check the last message on a subject", scope=USER, target=_CHECK_STREAM),
    "check meta": reads(
        "Check the meta group of a JetStream domain", "raft", scope=USER, target=_CHECK_SERVER
    ),
    "check request": changes("Check that a service answers", "req", scope=USER, target=_CHECK_SERVER),
    "check jetstream": reads("Check an account's use of JetStream", "js", scope=USER, target=_CHECK_STREAM),
    "check server": reads("Check a server"),
    "check kv": reads("Check a key-value bucket", scope=USER, target=_CHECK_STREAM),
    "check credential": reads("Check a credentials file", scope=USER, target=_CHECK_SERVER),
    "report": group("Report on servers", target="server.report.group:report", aliases=("rep",)),
    "report jetstream": reads("Report on JetStream across all servers of the network", "jsz", "js"),
    "report accounts": reads("Report on accounts", "acct"),
    "report connections": reads("Report on connections", "conn", "connz", "conns"),
    "report cpu": reads("Compare the CPU use of servers"),
    "report downgrade": reads("List streams and consumers that need a higher API level"),
    "report gateways": reads("Report on gateways", "super", "gateway", target=_LINKS),
    "report health": reads("Report on the health of servers"),
    "report leafnodes": reads("Report on leaf node connections", "leaf", "leafz", target=_LINKS),
    "report mem": reads("Compare the memory use of servers", target="server.report.cpu:"),
    "report memory": reads("Show which streams and consumers hold the memory of servers", own=True),
    "report routes": reads("Report on the routes of clusters", "route"),
    "request": group(
        "Request monitoring data from servers", target="server.request.group:declare", aliases=("req",)
    ),
    "request accounts": reads("Show accounts", "accountz", "acct", target=_REQUEST),
    "request connections": reads("Show connections", "conn", "connz", target=_REQUEST),
    "request gateways": reads("Show gateways", "gateway", "gwy", "gatewayz", target=_REQUEST),
    "request ipqueue": reads("Show internal queues", "ipq", "ipqueuesz", target=_REQUEST),
    "request jetstream-health": reads("Show whether servers are healthy", "healthz", target=_REQUEST),
    "request jetstream": reads("Show JetStream", "jsz", "js", target=_REQUEST),
    "request kick": changes("Disconnect a client at once"),
    "request leafnodes": reads("Show leaf node connections", "leaf", "leafz", target=_REQUEST),
    "request profile": reads("Write profiles of servers to files"),
    "request raft": reads("Show the state of Raft groups", "raftz", target=_REQUEST),
    "request routes": reads("Show the routes of clusters", "route", "routez", target=_REQUEST),
    "request subscriptions": reads("Show subscriptions", "sub", "subsz", target=_REQUEST),
    "request variables": reads("Show runtime variables", "var", "varz", target=_REQUEST),
    "roll": reads("Show which server a rolling restart may restart now, or wait for it", own=True),
    "stream-check": reads("Compare the replicas of streams"),
    "consumer-check": reads("Compare the replicas of consumers", target="server.stream_check:"),
    "watch": group("Watch servers, accounts, JetStream and its API", "server.watch.group:"),
    "watch servers": reads("Watch servers", "server", "srv"),
    "watch accounts": reads("Watch accounts", "account", "acct"),
    "watch jetstream": reads("Watch JetStream on servers", "js", "jsz"),
    "watch api": group("Watch the JetStream API"),
    "watch api requests": reads("Watch requests to the JetStream API", "req"),
    "mappings": reads("Test which subjects a mapping leads to", "mapping", scope=USER),
    "network": group("Run, break and repair whole networks on this machine", aliases=("net",), own=True),
    "network up": changes("Start a network and wait until it is ready", scope=USER),
    "network ls": reads("List the networks on this machine", "list", scope=USER, target=_NETWORK),
    "network status": reads("Show the servers, links and streams of a network", scope=USER, target=_NETWORK),
    "network wait": reads(
        "Wait until a network is ready and its mirrors have caught up", scope=USER, target=_NETWORK
    ),
    "network start": changes("Start servers that are not running", target=_NODES, scope=USER),
    "network stop": changes("Shut servers down gracefully", target=_NODES, scope=USER),
    "network restart": changes("Stop servers and start them again", target=_NODES, scope=USER),
    "network kill": changes("Kill servers at once, as a power failure would", target=_NODES, scope=USER),
    "network pause": changes("Suspend servers with their connections open", target=_NODES, scope=USER),
    "network resume": changes("Let paused servers continue", target=_NODES, scope=USER),
    "network lame-duck": changes("Shut servers down in lame duck mode", target=_NODES, scope=USER),
    "network add": changes("Add a server to a cluster", target="server.network.scale:add", scope=USER),
    "network scale": changes("Change the number of servers of a cluster", scope=USER),
    "network link": changes("Show or disturb the links between clusters", scope=USER),
    "network isolate": changes("Cut clusters off from all others", scope=USER, target=_NETWORK),
    "network logs": reads("Show the logs of servers", scope=USER),
    "network shell": changes("Open a shell with the contexts of a network", scope=USER),
    "network env": reads(
        "Print shell variables for the contexts of a network", target="server.network.shell:env_", scope=USER
    ),
    "network topology": reads("Print the description of a network to start from", scope=USER),
    "network down": destroys("Stop a network and remove its data", scope=USER, target=_NETWORK),
}
