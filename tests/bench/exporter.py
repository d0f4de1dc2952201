"""The exporter's text beside that of prometheus_client: `python tests/bench/exporter.py [--streams N]`.

One round over so many streams with all metrics of streams: the processor time of the text, and what it adds
to the memory of the process at its peak. prometheus_client parses both texts, and finds the same in them.
"""

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from prometheus_client import Metric, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from jsctl.monitor.exporter.metrics import HELP
from jsctl.monitor.exporter.sample import Sample
from jsctl.monitor.exporter.text import format_samples
from tests.bench import environment


class Samples(Collector):
    """Samples as prometheus_client collects them."""

    def __init__(self, samples: list[Sample]) -> None:
        self._samples = samples

    def collect(self) -> Iterator[Metric]:
        metrics = {name: Metric(name, text, "gauge") for name, text in HELP.items()}
        seen = set()
        for sample in self._samples:
            labels = {name: value for name, value in sample.labels.items() if value}
            series = sample.metric, *labels.items()
            if series not in seen:
                seen.add(series)
                metrics[sample.metric].add_sample(sample.metric, labels, sample.value)
        return (metric for metric in metrics.values() if metric.samples)


WAYS: dict[str, Callable[[list[Sample]], str]] = {
    "jsctl": format_samples,
    "prometheus_client": lambda samples: generate_latest(Samples(samples)).decode(),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--way", choices=WAYS, help="measure this one in this process")
    args = parser.parse_args()
    samples = build_samples(args.streams)
    if args.way:
        print(*measure(WAYS[args.way], samples, args.rounds))
        return
    same = [parse(way(samples[: len(samples) // 50])) for way in WAYS.values()]
    if same[0] != same[1]:
        raise SystemExit("the texts differ")
    figures = {}
    for way in WAYS:
        command = [sys.executable, __file__, "--way", way, "--streams", str(args.streams)]
        done = subprocess.run(
            [*command, "--rounds", str(args.rounds)],
            env=environment(""),
            capture_output=True,
            text=True,
            check=True,
        )
        figures[way] = seconds, memory = [float(word) for word in done.stdout.split()]
        print(f"{way:18} {seconds * 1000:7.0f} ms of processor time, {memory:4.0f} MiB more at the peak")
    ratios = [theirs / ours for ours, theirs in zip(*figures.values(), strict=True)]
    print(
        f"{len(samples):,} samples: prometheus_client takes {ratios[0]:.1f} times the time,"
        f" {ratios[1]:.1f} times the memory"
    )


def build_samples(streams: int) -> list[Sample]:
    """Return what one round yields for so many streams."""
    metrics = [name for name in HELP if name.startswith(("jetstream_stream_", "jsctl_stream_"))]
    samples = []
    for number in range(streams):
        server = f"n{number % 3}"
        labels = {
            **{
                "context": "east",
                "domain": "hub",
                "server_id": server,
                "server_name": server,
                "cluster": "c",
            },
            **{"account": "A", "account_name": "A", "account_id": "AAAA", "stream_name": f"S{number}"},
            **{"stream_leader": server, "is_stream_leader": "true", "stream_raft_group": f"S-R3F-{number}"},
        }
        samples += [Sample(metric, labels, number * 1.5) for metric in metrics]
    return samples


def measure(way: Callable[[list[Sample]], str], samples: list[Sample], rounds: int) -> tuple[float, float]:
    """Return the least seconds of processor time of a round, and the MiB by which the peak grew."""
    before, best = peak(), float("inf")
    for _ in range(rounds):
        begin = time.process_time()
        way(samples)
        best = min(best, time.process_time() - begin)
    return best, peak() - before


def peak() -> float:
    """MiB of this process at its peak."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def parse(text: str) -> list[object]:
    """What Prometheus reads from a text."""
    return [
        (
            family.name,
            family.documentation,
            family.type,
            sample.name,
            sorted(sample.labels.items()),
            sample.value,
        )
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    ]


if __name__ == "__main__":
    main()
