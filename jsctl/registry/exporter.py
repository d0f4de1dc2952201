"""The verbs of `jsctl exporter`, in the order in which help shows them."""

from jsctl.registry.model import Entry, reads

VERBS: dict[str, Entry] = {
    "dashboards": reads("Write dashboards of Grafana and alert rules of Prometheus"),
}
