"""`stream template`."""

import json

from jsctl.errors import ExitStatus
from jsctl.nats.subjects import is_subject
from jsctl.views.result import Result, Text

_SENTENCE = (
    "nats-server no longer has stream templates: declare a stream for each client, for example, in a file,"
    " and create them with jsctl apply."
)
_LINES = ("jsctl diff -f clients.yaml", "jsctl apply -f clients.yaml")
_VALUES = ("acme", "globex")


def replacement(name: str, subject: str) -> Result:
    """Show a declared file that does what a template did, with its name and subject where they are given; the
    document holds it as text.
    """
    name = name if name and name.isprintable() and not any(c in name for c in " .*>/\\{}") else "CLIENTS"
    subject = (
        subject if is_subject(subject) and "*" in subject.split(".") and "{" not in subject else "CLIENT.*"
    )
    tokens = subject.split(".")
    tokens[tokens.index("*")] = "{{client}}"
    file = "\n".join(
        [
            f"label: {json.dumps(name.lower(), ensure_ascii=False)}",
            "streams:",
            f"  - for: {{client: [{', '.join(_VALUES)}]}}",
            f"    name: {json.dumps(name + '_{{client}}', ensure_ascii=False)}",
            f"    subjects: [{json.dumps('.'.join(tokens), ensure_ascii=False)}]",
            "    max_age: 1y",
        ]
    )
    text = "\n".join(["clients.yaml:", "", *(f"  {line}" for line in file.split("\n")), "", *_LINES])
    data = {"supported": False, "file": file}
    return Result([Text(_SENTENCE), Text(text, whole=True)], data=data, status=ExitStatus.FAILURE)
