"""The checksum of S2 frames and of the messages of objects, CRC-32C."""

import sys
from types import SimpleNamespace
from typing import Any

# Its import takes 8 ms without its own command line and the look-up of its version, and 30 ms with them.
_unneeded: dict[str, Any] = {"crc32c._cli": SimpleNamespace(main=None)}
_unneeded["importlib.metadata"] = SimpleNamespace(version=lambda name: "")
_unneeded = {name: module for name, module in _unneeded.items() if name not in sys.modules}
sys.modules.update(_unneeded)
try:
    from crc32c import crc32c as crc32c
finally:
    for _name in _unneeded:
        del sys.modules[_name]
