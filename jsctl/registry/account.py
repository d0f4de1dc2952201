"""The verbs of `jsctl account`, in the order in which help shows them."""

from jsctl.registry.model import Entry, group, verb

VERBS: dict[str, Entry] = {
    "info": verb("Show the login, connection and JetStream limits of the account", "nfo"),
    "report": group("Report on the account across all servers", aliases=("rep",)),
    "report connections": verb("Report on the connections of the account", "conn", "connz", "conns"),
    "report statistics": verb("Report what each server does for the account", "stats", "statsz"),
    "tls": verb("Show the certificates of the connected server"),
    "backup": verb("Back up all streams of the account", "snapshot"),
    "restore": verb("Restore the streams of an account"),
}
