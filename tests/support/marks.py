"""Which marks `slow` are wrong, by a report of durations: what takes a second or more is slow.

`pytest --junitxml=FILE && python -m tests.support.marks FILE` lists them; --write corrects the tests.
A mark is one of a test, so that its slowest case counts. What took a little more or less than a second stays
as it is: a busy machine is not a reason.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[2]
SLOW = 1.5
"""Seconds from which a test without the mark is listed."""
FAST = 0.7
"""Seconds below which a test with the mark is."""
MARK = "@pytest.mark.slow"


def read_durations(report: Path) -> dict[tuple[Path, str], float]:
    """Return the seconds of each test's slowest case, by file and function."""
    results: dict[tuple[Path, str], float] = defaultdict(float)
    for case in ElementTree.parse(report).iter("testcase"):
        if case.find("skipped") is None:
            # tests.nats.test_flush, or tests.nats.test_flush.TestClass
            module = re.sub(r"\.[A-Z]\w*$", "", case.attrib["classname"])
            key = ROOT / f"{module.replace('.', '/')}.py", case.attrib["name"].partition("[")[0]
            results[key] = max(results[key], float(case.attrib["time"]))
    return results


def find_test(lines: list[str], name: str) -> tuple[int, int]:
    """Return the index of a test's first decorator and that of its `def`; -1 twice if it is not there."""
    at = next((at for at, line in enumerate(lines) if re.match(rf" *(async )?def {name}\(", line)), -1)
    first = at
    while first > 0 and lines[first - 1].strip() and not lines[first - 1].startswith(("def ", "class ")):
        first -= 1
    return first, at


def is_wrong(lines: list[str], name: str, seconds: float) -> bool:
    """Return whether a test has the mark and should not have it, or the other way round."""
    first, at = find_test(lines, name)
    if at < 0 or any(word in line for line in lines[first:at] for word in ("mark.long", "mark.cluster")):
        return False
    if any(line.startswith("pytestmark = ") and "mark.usefixtures" not in line for line in lines):
        return False
    is_marked = any(line.strip() == MARK for line in lines[first:at])
    is_spark = any(line.strip() == "@pytest.mark.spark" for line in lines[first:at])
    return seconds < FAST if is_marked else seconds >= SLOW and not is_spark


def correct(lines: list[str], name: str) -> None:
    """Give a test the mark, or take it away."""
    first, at = find_test(lines, name)
    marked = [index for index in range(first, at) if lines[index].strip() == MARK]
    if marked:
        del lines[marked[0]]
    else:
        indent = re.match(" *", lines[at])
        lines.insert(first, f"{indent[0] if indent else ''}{MARK}")
        if "import pytest" not in lines:
            place = next(at for at, line in enumerate(lines) if line.startswith(("import ", "from ")))
            lines.insert(place, "import pytest")  # ruff sorts it


def main(report: str, write: bool) -> int:
    """List the wrong marks; return how many there are."""
    count = 0
    for (path, name), seconds in sorted(read_durations(Path(report)).items()):
        lines = path.read_text().split("\n") if path.exists() else []
        if not is_wrong(lines, name, seconds):
            continue
        count += 1
        print(f"{seconds:5.1f}s  {path.relative_to(ROOT)}::{name}")
        if write:
            correct(lines, name)
            path.write_text("\n".join(lines))
    return count


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1], "--write" in sys.argv)))
