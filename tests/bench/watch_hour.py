"""An hour of a live report: `python tests/bench/watch_hour.py --help`.

`jsctl report --watch` in a pseudo-terminal, over accounts of 100 streams with consumers each, while messages
arrive and a stream is purged and made anew; its parts and pages are shown in turn. Prints the resident memory
of the process each minute. The aim is that the last three quarters add nothing.
"""

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.support import js
from tests.support.emulator import Watched
from tests.support.run import Cli
from tests.support.servers import RealServer, many_accounts

_PAGE = 20  #: seconds in which one part, or a page of it, is shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--every", default="1s", help="the interval of the watch")
    parser.add_argument("--accounts", type=int, default=3)
    parser.add_argument("--streams", type=int, default=100, help="of each account")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = RealServer(Path(folder), many_accounts()).start()
        try:
            watch(Path(folder), [server.url_for(f"t{one}") for one in range(args.accounts)], args)
        finally:
            server.stop()


def watch(folder: Path, urls: list[str], args: argparse.Namespace) -> None:
    """Watch for so many seconds, and print the memory."""
    cli, contexts = Cli(folder), []
    for number, url in enumerate(urls):
        cli(f"context add c{number} --server {url}", status=0)
        contexts += ["--context", f"c{number}"]
        for stream in range(args.streams):
            js.stream(url, f"s{stream}", f"s{stream}.>")
            config = {"durable_name": "work", "ack_policy": "explicit"}
            js.ask(url, f"CONSUMER.CREATE.s{stream}.work", {"stream_name": f"s{stream}", "config": config})
    watched = Watched(cli.terminal(["report", "--watch", args.every, *contexts]))
    watched.until(f"c{len(urls) - 1}")
    began, second, sizes = time.monotonic(), 0, [resident(watched.child.pid)]
    while (past := time.monotonic() - began) < args.seconds:
        watched.read(0.2)
        if past < second + 1:
            continue
        second = int(past)
        change(urls[second % len(urls)], second)
        if second % _PAGE == 0:
            part = second // _PAGE % 12
            watched.press(f"\x1b{part // 2 + 1}" + "\r" * (part % 2))
        if second % 60 == 0:
            sizes.append(resident(watched.child.pid))
            print(
                f"{second // 60:3} min  {sizes[-1]:6.1f} MiB  {cpu(watched.child.pid):6.1f} s of processor",
                flush=True,
            )
    quarter = sizes[max(1, len(sizes) // 4)]
    watched.press("q")
    status = watched.end()
    print(f"{quarter:.1f} MiB after a quarter, {sizes[-1]:.1f} at the end, {max(sizes):.1f} at most", status)


def change(url: str, second: int) -> None:
    """Messages for some streams; now and then one is purged, or made anew."""
    for stream in range(second % 10, 100, 10):
        js.publish(url, f"s{stream}.x", count=2)
    if second % 30 == 0:
        js.ask(url, f"STREAM.PURGE.s{second % 100}")
    if second % 45 == 0:
        js.ask(url, "STREAM.DELETE.s7")
        js.stream(url, "s7", "s7.>")


def resident(pid: int | None) -> float:
    """MiB of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def cpu(pid: int | None) -> float:
    """Seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


if __name__ == "__main__":
    main()
