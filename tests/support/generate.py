"""Write what is generated, and nothing else: `python -m tests.support.generate [VERB ...]`.

These are the lists of the README and of the manual, the scripts in `completions`, and what tests compare
with: golden outputs and the JSON of verbs. What is as it should be is not touched. Prints the files that
changed. Of verbs that are named ("stream purge"), the keys that each output has are found anew: of others,
new keys are left out, as servers may add them, and a key that was optional once stays so.
"""

import os
import subprocess
import sys
from collections.abc import Set

from jsctl import registry
from tests.support import changes, readme, verb_shapes
from tests.support.generated import rewrite
from tests.support.imports import ROOT, find_users

_WRITING = ("tests/support/golden.py", "tests/support/verb_shapes.py")
_SHAPELESS = {"server network shell"}  #: its status is that of the user's shell
_MARKS = ("not spark and not cluster", "spark or cluster")
"""Which of the tests write, first; the others, if verbs are still missing after that."""


def list_verbs() -> set[str]:
    """Return the verbs whose JSON is compared."""
    return {path for path, entry in registry.list_commands().items() if not entry.group} - _SHAPELESS


def write_pages() -> None:
    """Write the generated parts of the README and of the manual."""
    for page in readme.PAGES:
        rewrite(page, readme.rendered)


def write_completions() -> None:
    """Write the completion scripts."""
    from jsctl.commands.completing.shells import FILES

    for shell, name in FILES.items():
        words = [sys.executable, "-m", "jsctl", "completion", shell]
        script = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        rewrite(ROOT / "completions" / name, lambda _, script=script: script)  # type: ignore[misc]


def write_compared(anew: Set[str] = frozenset()) -> int:
    """Run the tests that write what they compare with; return pytest's status. anew: verbs whose required
    keys are found anew."""
    verbs = list_verbs()
    rewrite(verb_shapes.FILE, lambda text: verb_shapes.require_all(verb_shapes.keep(text, verbs), anew))
    users = find_users(changes.list_files())
    writing = {file for path in _WRITING for file in users[path] if "/test_" in file}
    tests = {path.relative_to(ROOT).as_posix(): path.read_text() for path in ROOT.glob("tests/**/test_*.py")}
    files = sorted(writing | {path for path, text in tests.items() if "outputs_are_valid" in text})
    for marks in _MARKS:
        words = [sys.executable, "-m", "pytest", "-n", "4", "--tb=line", "--long", "-m", marks, *files]
        environ = {**os.environ, "JSCTL_GOLDEN": "write", "JSCTL_GOLDEN_VERBS": ",".join(anew)}
        status = subprocess.run(words, cwd=ROOT, env=environ, check=False).returncode
        if status or verbs <= set(verb_shapes.read()):
            return status
    return 0


def main() -> int:
    """Write everything; return the status of the tests."""
    if unknown := sorted(set(sys.argv[1:]) - list_verbs()):
        print(f"no verb has the name {unknown[0]!r}; write it whole, such as 'stream purge'")
        return 64
    before = {path: (ROOT / path).read_bytes() for path in changes.list_files() if (ROOT / path).is_file()}
    status = write_compared(set(sys.argv[1:]))
    if status:
        print("the manual and the completions are written once these tests pass")
    else:
        write_pages()
        write_completions()
    for path in changes.list_files():
        if (ROOT / path).is_file() and before.get(path) != (ROOT / path).read_bytes():
            print(f"written: {path}")
    return status


if __name__ == "__main__":
    sys.exit(main())
