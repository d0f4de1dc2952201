"""The page of `incident --html` in a real browser: JSCTL_CHROMIUM, or chromium of PATH, first its shell
without windows, as the other may not lay out what nobody sees."""

import json
import os
import re
import shutil
import subprocess
from html import escape, unescape
from pathlib import Path
from typing import Any

import pytest

from tests.support import js
from tests.support.rounds import Change, with_lag, write_rounds
from tests.support.run import Cli

CHROMIUM = os.environ.get("JSCTL_CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium-headless-shell", "chromium"))), None
)
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run", "--enable-logging=stderr"),
    *("--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=2000", "--dump-dom"),
)
FRAME = """<!doctype html>
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<iframe id="frame" width="{width}" height="900" style="border: 0" srcdoc="{page}"></iframe>
<script>frame.onload = () => {{
  const page = frame.contentDocument, root = page.documentElement;
  for (const rule of {is_printed} ? page.styleSheets[0].cssRules : [])
    if (rule.media?.mediaText.includes("print")) rule.media.mediaText = "all";
  const size = part => part.getBoundingClientRect();
  document.title = JSON.stringify({{
    width: root.scrollWidth, room: root.clientWidth,
    requests: frame.contentWindow.performance.getEntriesByType("resource").map(one => one.name),
    drawn: [...page.querySelectorAll("figure svg")].map(
      svg => [...svg.querySelectorAll("polyline")].some(line => size(line).width && size(svg).height)),
    cut: [...page.querySelectorAll("h1, h2, p, figcaption, .ends span, .wide")].filter(
      part => part.scrollWidth > part.clientWidth && part.clientWidth
    ).map(part => part.outerHTML.slice(0, 80)),
  }})
}}</script>
"""
"""Measures a page in a frame, which may be narrower than a window, and may request nothing."""

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not CHROMIUM, reason="needs chromium")]


def look(page: str, folder: Path, width: int, *, is_printed: bool = False) -> tuple[dict[str, Any], str]:
    """Open a page; return what was measured, and what the browser wrote to its console."""
    folder.mkdir()
    frame = FRAME.format(width=width, page=escape(page), is_printed=json.dumps(is_printed))
    (folder / "frame.html").write_text(frame)
    words = [str(CHROMIUM), *FLAGS, f"--user-data-dir={folder / 'user'}", f"file://{folder / 'frame.html'}"]
    process = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
    title = re.search("<title>(.*?)</title>", process.stdout)
    assert title, process.stdout[:1000] + process.stderr
    console = [line for line in process.stderr.splitlines() if "CONSOLE" in line]
    return json.loads(unescape(title[1])), "\n".join(console)


def test_it_can_be_read_everywhere(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "ORDERS", "orders.>")
    js.publish(url, "orders.new", count=50)
    name = "a-consumer-with-a-long-name"
    js.ask(url, f"CONSUMER.CREATE.ORDERS.{name}", {"stream_name": "ORDERS", "config": {"durable_name": name}})
    cli(f"report --record {tmp_path / 'real'} --count 1", status=0)
    rounds: list[Change | None] = [*map(with_lag, (0, 0, 10, 20, 30, 40, 50)), None, None, with_lag(0)]
    file = write_rounds(tmp_path / "real", tmp_path / "rounds", rounds)
    page = cli(f"incident --from {file} --html -", status=0).out
    for width in (390, 700, 1280):  # paper is 700 wide
        measured, console = look(page, tmp_path / str(width), width, is_printed=width == 700)
        assert not console
        assert measured["drawn"] == [True] * page.count("<figure")
        assert measured["requests"] == [] and measured["cut"] == [], width
        assert measured["width"] <= measured["room"] <= width


def test_what_it_would_find(tmp_path: Path) -> None:
    """A request, an error and a page that is too wide are seen."""
    page = '<img src="https://example.com/x.png"><script>nothing()</script><p style="width: 600px">x</p>'
    measured, console = look(page, tmp_path / "page", 390)
    assert "violates" in console and "nothing is not defined" in console
    assert measured["width"] > measured["room"]
