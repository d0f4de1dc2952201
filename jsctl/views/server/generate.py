"""`server generate`: the files that were written."""

import shlex
from collections.abc import Sequence

from jsctl.localserver.templates import Template
from jsctl.views.result import Field, Result, Section, Sheet, Text


def generated(template: Template, target: str, files: Sequence[str], message: str) -> Result:
    """Show the files, and what to do with them. message: of the template."""
    fields = [Field("Folder", target), Field("Files", list(files))]
    if template.next_steps:
        fields.append(Field("Next", f"cd {shlex.quote(target)} && {template.next_steps}"))
    document = {"template": template.name, "target": target, "files": list(files)}
    sheet = Sheet(f"Generated: {template.about}", [Section("", fields)])
    return Result([sheet, *([Text(message, whole=True)] if message else [])], data=document)
