"""What a service is, and the verbs of `jsctl service` in the order in which help shows them."""

from jsctl.registry.model import Entry, changes, reads
from jsctl.registry.noun_record import Noun

NOUN = Noun(
    name="service",
    argument="SERVICE",
    label="Service",
    lister="jsctl.services.discovery:list_names",
    not_found="service {name} not found",
    hint=("service list", "lists the services"),
    create=("service serve", "runs a small one"),
    any_text=True,
)

VERBS: dict[str, Entry] = {
    "list": reads("List the services, or the instances of one", "ls", "l", target="service.group:list_"),
    "info": reads("Show the instances and endpoints of a service", "i"),
    "stats": reads("Show the statistics of service endpoints"),
    "ping": reads("Ping all services, or the instances of one"),
    "request": changes("Send a request to an endpoint of a service", "req", target="service.request:"),
    "serve": changes("Run a small service that answers with the request", target="service.serve:"),
}
