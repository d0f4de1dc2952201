"""`audit gather`: what was gathered."""

from jsctl.monitor.audit.gather import Summary
from jsctl.views.result import Field, Result, Section, Sheet


def gathered(path: str, size: int, summary: Summary) -> Result:
    """Show what an archive holds. size: bytes of the file."""
    counts = {
        "servers": summary.servers,
        "accounts": summary.accounts,
        "streams": summary.streams,
        "answers": summary.endpoints,
        "profiles": summary.profiles,
        "refused": summary.failures,
    }
    fields = [Field("File", path), Field("Size", size, "bytes")]
    fields += [Field(name.capitalize(), count, "count") for name, count in counts.items()]
    document = {"archive": path, "bytes": size, **counts}
    return Result([Sheet("Archive", [Section("", fields)])], data=document)
