"""Values of the data source's options, by name."""

from collections.abc import Callable, Mapping

from jsctl.base.units import parse_bytes, parse_duration
from jsctl.errors import BadInput


class OptionValues:
    """The values of options by name. Every method raises BadInput for an invalid value."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = options

    def get_text(self, name: str, default: str = "") -> str:
        """Return a value without surrounding white space."""
        return self._options.get(name.lower(), default).strip()

    def parse_count(self, name: str, default: int, *, least: int, most: int = 1 << 62) -> int:
        """Return a whole number between `least` and `most`."""
        text = self.get_text(name)
        if not text:
            return default
        if not text.isdigit() or not least <= int(text) <= most:
            limits = f"{least} or more" if most == 1 << 62 else f"from {least} to {most}"
            raise BadInput(f"{name} {text!r} is not a whole number", f"use a number, {limits}")
        return int(text)

    def parse_flag(self, name: str, default: bool) -> bool:
        """Return true or false."""
        text = self.get_text(name).lower()
        if text not in ("", "true", "false"):
            raise BadInput(f"{name} {text!r} is neither true nor false")
        return text == "true" if text else default

    def parse_size(self, name: str, default: int) -> int:
        """Return a size in bytes."""
        return self._parse_positive(name, default, parse_bytes)

    def parse_duration(self, name: str, default: int) -> int:
        """Return a duration in ns."""
        return self._parse_positive(name, default, parse_duration)

    def _parse_positive(self, name: str, default: int, parse: Callable[[str], int]) -> int:
        text = self.get_text(name)
        try:
            value = parse(text) if text else default
        except ValueError as error:
            raise BadInput(f"{name}: {error}") from None
        if text and value <= 0:
            raise BadInput(f"{name} must be more than 0")
        return value
