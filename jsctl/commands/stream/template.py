"""`jsctl stream template`."""

from jsctl.commands.cli import argument, command
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.views.result import Result
from jsctl.views.stream import template as view


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
    return view.replacement(name, _find_subjects(words))


def _find_subjects(words: tuple[str, ...]) -> str:
    """Return the value of --subjects among words; empty without it."""
    for index, word in enumerate(words):
        name, sign, value = word.partition("=")
        if name == "--subjects":
            return value if sign else "".join(words[index + 1 : index + 2])
    return ""
