"""The import of click without the standard modules that it needs only in some cases: a seventh of the time of
`stream ls`.

`inspect` cleans help of several lines, `uuid` is for a type of parameter, and `gettext` looks for
translations of click's words, which jsctl does not have of its own.
"""

import importlib
import sys
from typing import Any

from jsctl.base.later import Later


def import_click() -> None:
    """Import click and dataclasses, unless click is imported already."""
    if "click" in sys.modules:
        return
    names: dict[str, dict[str, Any]] = {
        "inspect": {"cleandoc": _clean_line, "get_annotations": _get_annotations},
        "uuid": {"UUID": object},  # the base class of a class in click names it
        "copy": {},  # as it does for this
        "gettext": {"gettext": _keep, "ngettext": _choose},
    }
    stand_ins = {name: Later(name, values) for name, values in names.items() if name not in sys.modules}
    sys.modules.update(stand_ins)
    try:
        importlib.import_module("click")
        importlib.import_module("dataclasses")
    finally:
        for name, stand_in in stand_ins.items():
            if sys.modules.get(name) is stand_in:
                del sys.modules[name]
    if "uuid" in stand_ins:
        vars(stand_ins["uuid"]).pop("UUID")


_inspect = Later("inspect")


def _clean_line(text: str) -> str:
    """Return what inspect.cleandoc does; import it for several lines only."""
    return _inspect.cleandoc(text) if "\n" in text or "\t" in text else text.lstrip()


def _get_annotations(kind: Any) -> dict[str, Any]:
    """Return what inspect.get_annotations does; import it for all but classes with annotations. Dataclasses
    of Python 3.12 and 3.13 call it."""
    known = vars(kind).get("__annotations__") if isinstance(kind, type) else None
    return dict(known) if isinstance(known, dict) else _inspect.get_annotations(kind)


def _keep(message: str) -> str:
    return message


def _choose(one: str, several: str, count: int) -> str:
    return one if count == 1 else several
