"""`server generate`: the files that were written."""

import shlex
from collections.abc import Sequence

from jsctl.localserver.templates import Template
from jsctl.views.result import Field, Result, Section, Sheet


def generated(template: Template, target: str, files: Sequence[str]) -> Result:
    """Show the files, and what to do with them."""
    fields = [
        Field("Folder", target),
        Field("Files", list(files)),
        Field("Next", f"cd {shlex.quote(target)} && {template.next_steps}"),
    ]
    document = {"template": template.name, "target": target, "files": list(files)}
    return Result([Sheet(f"Generated: {template.about}", [Section("", fields)])], data=document)
