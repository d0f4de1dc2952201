"""The project's language: plain English in what people read, names that say what things hold.

`jsctl/manual/contributing.md` has the glossary.
"""

import re
from collections import Counter

import pytest

from tests.support.sources import PACKAGE, Use, comments, uses

PHRASES = {
    r"(?<!there )\b(is|are) no (?!longer\b|more\b)": 'say "is not a ..."',
    r"\bfrom [01] on\b": 'say "1 or more"',
    r"\bso many\b": 'say "at most", "up to" or the number',
    r"\b(laid|lays?|laying) over\b": 'say "applied to" or "merged into"',
    r"\bparted by\b": 'say "separated by"',
    r"\btold\b": "say what happens: shown, reported, known from",
    r"\b(messages|msgs|bytes|acks|requests|replies|rows|events|reads) a second\b": 'say "per second"',
    r"\(repeatable\)|; several times\b|\bgiven (several times|more than once)\b": 'say "may be repeated"',
    r"\bexclude each other\b": 'say "cannot be used together"',
    r"\bagain and again\b|\bthis far apart\b": 'say "repeatedly", "at this interval"',
    r"\bgo(es)? on with\b": 'say "continue with", "keep showing"',
    r"\brights to [a-z]+ and [a-z]+ alone": "name the subjects that need permission",
    r"\btakes? (a key|it) away\b": 'say "removes"',
    r"\b(bad|trouble), .*to watch\b|\{\w+(:,)?\} (bad|to watch)\b": 'say "2 problems, 1 warning"',
    r"\blaid key by key\b|\bor so often\b|\bso and so many\b": "say it plainly",
    r"\bcome along\b": 'say "are copied, too"',
    r"\banew\b|\bgone on with\b|\bgoes? on (with|until|after)\b": 'say "again", "continues"',
    r"\bin every way out\b|\bwhat tells\b": 'say "however it ends", "what distinguishes"',
    r"(?<!\w)\A\s*Returns\b": 'begin with "Return"',
    r"(?-i:\Agive )": 'say "use --flag" or "specify NAME"',
    r"\b(empty|None|0|-1) (where\b|without one\b)|\bwhere there (is|are) (none|any)\b": 'say "if ..."',
    r"\bstand(s|ing)? down\b": 'say "step down"',
    r"\bwhat has a default takes it\b": 'say "takes the defaults"',
}
"""Phrases that help, prompts, errors, docstrings and comments do without, and what to write instead."""

LOCALS = frozenset({"found", "made", "told", "kept", "laid", "gone", "came", "asked", "said", "given"})
"""Names that say what happened to a value and not what it is."""

DEFINITIONS = frozenset(
    {"Taker", "Each", "Picture", "Found", "Taken", "Kept", "NotPossible", "AT_BIRTH", "by_pain", "carried"}
    | {"lay", "settled", "told", "judged", "obstacle", "misshapen", "is_no", "of_purge", "_said", "_reckoned"}
)
"""Names of functions, classes and constants that nobody would guess."""

NO_VERBS = frozenset(
    {
        "Whether",
        "What",
        "How",
        "Which",
        "Who",
        "Where",
        "Local",
        "UTC",
        "Like",
        "Nothing",
        "Each",
        "It",
        "All",
    }
)
"""Words that a function's docstring does not begin with, and that D401 of ruff takes for verbs."""

_WORDS = """
    analyze approve arrange backup balance bring build choose consume decide decompress deduplicate
    defer diagnose divide elect emit estimate evacuate explain extend extract fill finish fit fix flatten fold
    follow forgive generate group hash infer isolate launch link listen load negate pack paint pair pause plan
    plot pluralize poll preload press preview provide pull rebuild refuse remember rename render require
    rescue roll seal search seek serve settle ship shorten simplify space squeeze stack step strip sweep
    sync tick tidy translate truncate try unpin watch
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
    "spark/decoding/frames.py": "`decoded` is for frames, as Spark's own functions of columns are named",
    "registry/model.py": "entries of the registry are declared with their kind: verb(...), group(...)",
    "jetstream/shapes.py": "shapes are declared with their kind: fields(...)",
    "app.py": "`root` is the root command",
    "pytest_plugin.py": "pytest gives the names",
}
"""Files whose public functions do not begin with a verb, and why."""

MODULES = frozenset({"plain", "sealed", "visible", "wire", "carried", "closed"})
"""Names of modules that do not say what is in them."""


def report(violations: list[Use], advice: str) -> None:
    """Fail with every use."""
    lines = "\n".join(f"{use.place}: {' '.join(use.text.split())[:100]}" for use in violations)
    assert not violations, f"{advice}:\n{lines}"


@pytest.mark.parametrize("phrase", PHRASES)
def test_people_read_plain_english(phrase: str) -> None:
    pattern = re.compile(phrase, re.IGNORECASE)
    texts = [*uses()["string"], *comments()]
    report([use for use in texts if pattern.search(use.text)], PHRASES[phrase])


def test_names_say_what_they_hold() -> None:
    names = [use for use in [*uses()["stored name"], *uses()["parameter"]] if use.text in LOCALS]
    counts = Counter(use.text for use in names)
    report(names, f"name what it holds (infos, config, rows), not {dict(counts)}")


def test_definitions_can_be_guessed() -> None:
    names = [use for use in uses()["definition"] if use.text in DEFINITIONS]
    report(names, "give it a name that a newcomer would guess")


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
    report(nouns, "begin with a verb (fetch, list, find, read, build, format, ...)")
    assert not OTHER_VERBS - {use.text.split("_")[0] for use in public}


def test_docstrings_begin_with_a_verb() -> None:
    """Ruff's D401 finds most that do not; properties may be noun phrases."""
    texts = [use for use in uses()["docstring"] if use.text]
    first = [(use, use.text.split()[0]) for use in texts]
    bad = [use for use, word in first if word in NO_VERBS or not word[0].isupper() or word.endswith(":")]
    report(bad, "begin with what the function does, a verb in the imperative")


def test_modules_say_what_is_in_them() -> None:
    modules = [Use(path, 1, path.stem) for path in PACKAGE.rglob("*.py") if path.stem in MODULES]
    report(modules, "name the module after what is in it")
