"""The histogram of latencies, and the format of HDR histograms, as their own reader reads it."""

import random

from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from jsctl.bench.histogram import Histogram

SPANS = st.lists(st.integers(0, 10**12), min_size=1, max_size=300)


@given(SPANS)
def test_percentiles_are_exact_to_a_percent(spans: list[int]) -> None:
    histogram = Histogram()
    histogram.add_many(spans)
    ordered = sorted(spans)
    assert len(histogram) == len(spans)
    assert (histogram.smallest, histogram.largest) == (ordered[0], ordered[-1])
    assert histogram.mean == sum(spans) // len(spans)
    for share in (50, 90, 99.99):
        exact = ordered[max(-(-len(ordered) * share // 100), 1).__int__() - 1]
        assert abs(histogram.compute_percentile(share) - exact) <= exact * 0.01
    assert histogram.compute_percentile(100) == ordered[-1]
    assert sum(count for _, count in histogram.list_buckets()) == len(spans)


def test_histograms_add_up() -> None:
    numbers = random.Random(1)
    spans = [numbers.randrange(1, 10**9) for _ in range(20_000)]
    whole, one, other = Histogram(), Histogram(), Histogram()
    whole.add_many(spans)
    for span in spans[:7_000]:
        one.add(span)
    other.add_many(spans[7_000:])
    one.merge(other)
    assert one.record() == whole.record()
    assert len(Histogram()) == Histogram().compute_percentile(50) == 0


@given(st.one_of(SPANS, st.lists(st.integers(0, 600), min_size=1)))
def test_a_reader_of_hdr_histograms_finds_the_same(spans: list[int]) -> None:
    histogram = Histogram()
    histogram.add_many(spans)
    read = HdrHistogram.decode(histogram.encode())
    assert read.get_total_count() == len(spans)
    assert read.significant_figures == 2
    for span in spans:
        assert read.get_count_at_value(span) > 0
    for rank in range(1, len(spans)):  # shares between two ranks are rounded in different ways
        value = read.get_value_at_percentile(100 * rank / len(spans))
        assert min(value, histogram.largest) == histogram.compute_percentile(100 * rank / len(spans))
    assert read.get_max_value() == read.get_highest_equivalent_value(histogram.largest)
    theirs = HdrHistogram(1, max(3600 * 10**9, *spans, 2), 2)
    for span in spans:
        theirs.record_value(span)
    assert list(theirs.counts) == list(read.counts)


def test_an_empty_histogram_is_read_as_empty() -> None:
    assert HdrHistogram.decode(Histogram().encode()).get_total_count() == 0


def test_many_spans_take_few_bytes() -> None:
    histogram, numbers = Histogram(), random.Random(1)
    histogram.add_many(int(numbers.lognormvariate(12, 1)) for _ in range(100_000))
    assert len(histogram.encode()) < 2_000
