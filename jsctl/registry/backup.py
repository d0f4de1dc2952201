"""The verbs of `jsctl backup`, in the order in which help shows them."""

from jsctl.registry.model import Entry, changes, destroys, group, reads

VERBS: dict[str, Entry] = {
    "stream": reads("Back up a stream"),
    "account": reads("Back up all streams of the account"),
    "restore": group("Restore streams from their backups"),
    "restore stream": changes("Restore a stream from its backup"),
    "restore account": changes("Restore the streams of an account"),
    "edit": reads("Write an edited copy of a stream's backup"),
    "info": reads("Show what a stream's backup holds"),
    "validate": reads("Check that a stream's backup is complete and can be restored"),
    "drill": reads("Restore a stream's backup on a server of its own, and compare", own=True),
    "prune": destroys("Remove older backups of a folder, and none that another one needs", own=True),
    "lookup": reads("Show what the names in an obfuscated backup stand for"),
}
