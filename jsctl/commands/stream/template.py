"""`jsctl stream template`."""

import json

from jsctl.commands.cli import argument, command
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus
from jsctl.nats.subjects import is_subject
from jsctl.views.result import Result, Text

_SENTENCE = (
    "nats-server no longer has stream templates: declare a stream for each client, for example, in a file,"
    " and create them with jsctl apply."
)
_LINES = ("jsctl diff -f clients.yaml", "jsctl apply -f clients.yaml")
_VALUES = ("acme", "globex")


def _show_replacement(name: str, subject: str) -> Result:
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


@command(
    "template",
    examples=["jsctl stream template", "jsctl str template add CLIENTS --subjects 'CLIENT.*'"],
    context_settings={"ignore_unknown_options": True, "help_option_names": ["--help", "-h"]},
)
@argument("words", metavar="[WORDS]", nargs=-1)
def template(env: Env, words: tuple[str, ...]) -> Result:
    """Show a file for jsctl apply that declares the same streams: servers no longer have stream templates.
    The exit status is 1, as nothing is created.
    """
    if words and words[0].startswith("-"):
        raise BadInput(f"no such option: {words[0]}", "jsctl stream template --help")
    name = words[1] if len(words) > 1 and not words[1].startswith("-") else ""
    return _show_replacement(name, _find_subjects(words))


def _find_subjects(words: tuple[str, ...]) -> str:
    """Return the value of --subjects among words; empty without it."""
    for index, word in enumerate(words):
        name, sign, value = word.partition("=")
        if name == "--subjects":
            return value if sign else "".join(words[index + 1 : index + 2])
    return ""
