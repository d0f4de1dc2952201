"""Regular expressions from users."""

import re
import warnings
from functools import lru_cache
from typing import Any, AnyStr

from jsctl.errors import BadInput


def compile_pattern(text: AnyStr, flags: int = 0, *, flag: str = "") -> re.Pattern[AnyStr]:
    """Compile a regular expression. flag: the flag that gave it, for the error.

    Raises BadInput for whatever is wrong with it, and no other error.
    """
    try:
        return _compile(text, flags)
    except re.error as error:
        reason = str(error)
    except RecursionError:
        reason = "nested too deeply"
    except OverflowError:
        reason = "a number in it is too large"
    pattern = text.decode(errors="backslashreplace") if isinstance(text, bytes) else text
    raise BadInput(f"{flag}{' ' * bool(flag)}{pattern!r} is not a valid regular expression: {reason}")


@lru_cache
def _compile(text: Any, flags: int) -> re.Pattern[Any]:
    """Compile without warnings of what a later Python may take for a set of sets, as in `[[a]`. Expressions
    ask for their patterns with each message."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return re.compile(text, flags)


_GO_TOKEN = re.compile(
    r"\\Q(?P<quoted>.*?)(?:\\E|$)|\\x\{(?P<code>[0-9a-fA-F]+)\}|(?P<end>\\z)|(?P<foreign>\\[pPCGZ])|(?P<escape>\\.)"
    r"|\(\?<(?P<name>[A-Za-z_])|\[:(?P<not>\^?)(?P<class>[a-z]+):\]|(?P<open>\[\^?\]?)|(?P<close>\])|(?P<dollar>\$)",
    re.DOTALL,
)
_GO_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}


def compile_go_pattern(text: str) -> re.Pattern[str]:
    """Compile a regular expression of Go's syntax (RE2), which scripts for the `nats` tool have, for text.

    What only Python has, such as backreferences, is accepted. Raises BadInput, also for classes of Unicode
    (`\\pL`).
    """
    is_multiline = bool(re.search(r"\(\?[a-zA-Z]*m", text))
    in_class = False

    def translate(match: re.Match[str]) -> str:
        nonlocal in_class
        groups = {name: value for name, value in match.groupdict().items() if value is not None}
        if "quoted" in groups:
            return re.escape(groups["quoted"])
        if "code" in groups:
            return re.escape(chr(min(int(groups["code"], 16), 0x10FFFF)))
        if "foreign" in groups:
            raise BadInput(f"{text!r} uses {match[0]}, which is not supported here")
        if "name" in groups:
            return match[0] if in_class else f"(?P<{groups['name']}"
        if "class" in groups:
            members = _GO_CLASSES.get(groups["class"])
            if not in_class or members is None or groups["not"]:
                raise BadInput(f"{text!r} uses {match[0]}, which is not supported here")
            return members
        if "open" in groups:
            opened, in_class = in_class, True
            return match[0].replace("[", r"\[") if opened else match[0]
        if "close" in groups:
            in_class = False
        if "end" in groups or ("dollar" in groups and not is_multiline and not in_class):
            return r"\Z"
        return match[0]

    return compile_pattern(_GO_TOKEN.sub(translate, text), re.ASCII)
