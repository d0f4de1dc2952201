"""Regular expressions from users."""

import re
from typing import AnyStr

from jsctl.errors import BadInput


def compile_pattern(text: AnyStr, flags: int = 0, *, flag: str = "") -> re.Pattern[AnyStr]:
    """Compile a regular expression. flag: the flag that gave it, for the error.

    Raises BadInput for whatever is wrong with it, and no other error.
    """
    try:
        return re.compile(text, flags)
    except re.error as error:
        reason = str(error)
    except RecursionError:
        reason = "nested too deeply"
    except OverflowError:
        reason = "a number in it is too large"
    pattern = text.decode(errors="backslashreplace") if isinstance(text, bytes) else text
    raise BadInput(f"{flag}{' ' * bool(flag)}{pattern!r} is not a valid regular expression: {reason}")
