"""Draws a terminal's screen for the README.

tmux capture-pane -e -p | python -m tests.support.picture "jsctl report --watch" > .readme/report.svg
"""

import io
import re
import sys

from rich.console import Console
from rich.text import Text


def draw(screen: str, title: str) -> str:
    """Return a screen with its colors as SVG; it is as wide as its longest line."""
    lines = [Text.from_ansi(line) for line in screen.rstrip().split("\n")]
    width = max(line.cell_len for line in lines)
    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True, legacy_windows=False)
    for line in lines:
        console.print(line, soft_wrap=True)
    svg = console.export_svg(title=title, unique_id="jsctl")
    # No fonts from elsewhere: the page that shows it may not load them.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return re.sub(r"<!--.*?-->", "", svg).replace("Fira Code,", "ui-monospace,Menlo,Consolas,")


if __name__ == "__main__":
    sys.stdout.write(draw(sys.stdin.read(), sys.argv[1]))
