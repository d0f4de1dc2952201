"""YAML from values."""

from typing import Any


def format_yaml(value: Any) -> str:
    """Return a value as YAML, without control characters."""
    import yaml

    # libyaml's dumper is eight times as fast, but not in every build.
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text = str(yaml.dump(value, Dumper=dumper, allow_unicode=True, sort_keys=False, width=100))
    if text.replace("\n", "").isprintable():
        return text
    return str(yaml.dump(value, Dumper=dumper, allow_unicode=False, sort_keys=False, width=100))
