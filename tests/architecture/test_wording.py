"""Functions are named with verbs. Other rules of language are in `jsctl/manual/contributing.md`."""

import re

from tests.support.sources import PACKAGE, uses

_WORDS = """
    analyze approve arrange backup balance bring build choose consume decide decompress deduplicate
    diagnose divide elect emit estimate evacuate explain extend extract fill finish fit fix flatten fold
    follow forgive generate group hash infer isolate launch link listen load negate paint pair pause plan
    plot pluralize preload press preview provide pull rebuild refuse register remember rename render
    require rescue roll seal search seek serve settle ship shorten simplify squeeze stack step strip
    sweep sync tick tidy translate truncate try unpin watch
"""
OTHER_VERBS = frozenset(_WORDS.split())
"""Verbs with which functions begin, and no docstring."""

CONVERSION = re.compile(r"(from|to|with|without|as|is|has|may|can)_|\w+_to_|\w+_error$")
"""Names of other forms: `with_start` (a changed copy), `as_text`, `bucket_to_stream`, `is_pattern`, and
`build_missing_error` (what follows `raise`)."""

NAMED_OTHERWISE = {
    "commands/": "commands are named for their verbs, decorators for the flags that they add",
    "views/": "views are named for what they show",
    "monitor/doctor/rules/": "rules are named for what they find",
    "registry/model.py": "entries of the registry are declared with their kind: reads(...), group(...)",
    "jetstream/shapes.py": "shapes are declared with their kind: fields(...)",
    "app.py": "`root` is the root command",
    "pytest_plugin.py": "pytest gives the names",
}
"""Files whose public functions do not begin with a verb, and why."""


def test_public_functions_are_verbs() -> None:
    """A verb is what begins a docstring, or is listed; predicates say in which form they ask."""
    docstrings = [use.text.split()[0].strip(".,").lower() for use in uses()["docstring"] if use.text]
    verbs = OTHER_VERBS | set(docstrings)
    public = [use for use in uses()["public function"] if use.text != "main"]
    nouns = [
        use
        for use in public
        if use.text.split("_")[0] not in verbs
        and not CONVERSION.match(use.text)
        and not str(use.path.relative_to(PACKAGE)).startswith(tuple(NAMED_OTHERWISE))
    ]
    lines = "\n".join(f"{use.place}: {use.text}" for use in nouns)
    assert not nouns, f"begin with a verb (fetch, list, find, read, build, format, ...):\n{lines}"
    assert not OTHER_VERBS - {use.text.split("_")[0] for use in public}
