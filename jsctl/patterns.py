"""Regular expressions that people give."""

import re
from typing import AnyStr


def compile_pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Compile a regular expression. Raises re.error for anything that is wrong with it, and nothing else."""
    try:
        return re.compile(text, flags)
    except RecursionError:
        raise re.error("nested too deeply") from None
    except OverflowError:
        raise re.error("a number in it is too large") from None
