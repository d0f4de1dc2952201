"""Editing, checking and describing a backup without a server, as ratios taken in one run:
`python tests/bench/backup_edit.py [--size 1GiB]`.

Each line is the best of N rounds, in turn with the peer, whose binary JSCTL_BENCH_NATS names. Messages of
1 KiB hold JSON, which compresses to a third, or random bytes, which do not compress.
"""

import argparse
import itertools
import json
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from jsctl.base.units import parse_bytes
from jsctl.jetstream.backup.archive import encode_entry, encode_state
from jsctl.jetstream.backup.archive_file import ArchiveWriter
from jsctl.jetstream.backup.files import DATA, META
from tests.bench.backup import JSCTL, Cost, run

MESSAGE = 1024
EDITS = {
    "sequence": ["--first-seq", "50000"],
    "subject": ["--subject", "orders.7.new"],
    "time": ["--after", "2026-01-01T00:10:00Z"],
    "all three": [
        "--first-seq",
        "50000",
        "--exclude-subject",
        "orders.7.new",
        "--after",
        "2026-01-01T00:01:00Z",
    ],
}
START = 1767225600 * 10**9  # 2026-01-01T00:00:00Z
WORDS = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", default="1GiB", help="bytes in the messages")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", help="where the backups are, instead of the temporary folder")
    args = parser.parse_args()
    tools = {"jsctl": JSCTL}
    if peer := os.environ.get("JSCTL_BENCH_NATS"):
        tools["nats"] = peer
    with tempfile.TemporaryDirectory(dir=args.folder) as name:
        folder = Path(name)
        for kind in ("json", "random"):
            write_backup(folder / kind, kind, parse_bytes(args.size) // MESSAGE)
            best = measure(tools, folder, kind, args.rounds)
            report(best, f"{args.size} of {kind}")
            shutil.rmtree(folder / kind)


def write_backup(folder: Path, kind: str, count: int) -> None:
    folder.mkdir()
    state = {
        "messages": count,
        "bytes": count * MESSAGE,
        "first_seq": 1,
        "last_seq": count,
        "consumer_count": 0,
    }
    bodies = itertools.islice(
        compose_json() if kind == "json" else iter(lambda: os.urandom(MESSAGE), b""), count
    )
    with (folder / DATA).open("wb") as file, ArchiveWriter(file.write) as writer:
        writer.add(encode_state(state))
        for n, body in enumerate(bodies, 1):
            writer.add(encode_entry(b"orders.%d.new" % (n % 100), START + n * 10**6, n, b"", body))
        writer.finish()
    config = {"name": "ORDERS", "subjects": ["orders.>"], "storage": "file", "retention": "limits"}
    (folder / META).write_text(json.dumps({"config": config, "state": state}))


def compose_json() -> Iterator[bytes]:
    chosen = random.Random(7)
    for n in itertools.count(1):
        items = (
            f'{{"sku":"{chosen.choice(WORDS)}-{chosen.randrange(10**5)}","qty":{chosen.randrange(20)}}}'
            for _ in range(MESSAGE // 24)
        )
        yield f'{{"id":{n},"items":[{",".join(items)}]}}'.encode()[:MESSAGE]


def measure(tools: dict[str, str], folder: Path, kind: str, rounds: int) -> dict[str, Cost]:
    """The best costs of each tool and verb."""
    best: dict[str, Cost] = {}
    for _ in range(rounds):
        for name, flags in {**EDITS, "validate": []}.items():
            for tool, binary in tools.items():
                target = folder / "edited"
                shutil.rmtree(target, ignore_errors=True)
                verb = ["validate", str(folder / kind)]
                if name != "validate":
                    verb = ["edit", str(folder / kind), str(target), *flags]
                cost = run([binary, "backup", *verb, "--no-progress"], folder)
                key = f"{tool} {name}"
                best[key] = cost.least(best.get(key, cost))
    return best


def report(best: dict[str, Cost], title: str) -> None:
    """Print the costs, and each edit's ratio to the peer with its aim."""
    print(f"{title:22} {'wall s':>8} {'cpu s':>8} {'MiB':>6}")
    for name, cost in best.items():
        print(f"{name:22} {cost.wall:8.2f} {cost.processor:8.2f} {cost.memory / 1024:6.0f}")
    for name in (*EDITS, "validate"):
        if peer := best.get(f"nats {name}"):
            print(f"aim: {name} / the peer's <= 0.5: {best[f'jsctl {name}'].wall / peer.wall:.2f}")


if __name__ == "__main__":
    main()
