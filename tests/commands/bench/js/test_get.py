"""`bench js get`."""

from pathlib import Path

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from tests.support.benching import run
from tests.support.run import Cli


def test_getting(filled: Cli) -> None:
    document = run(filled, "js get sync --msgs 250")
    assert (document["messages"], document["message_bytes"]) == (250, 128)
    document = run(filled, "js get batch --msgs 250 --batch 60")
    assert (document["messages"], document["message_bytes"]) == (250, 128)
    assert run(filled, "js get batch --msgs 30 --filter events.03")["messages"] == 30
    err = filled("bench js get batch --filter nope --msgs 5", status=3).err
    assert "no message on nope" in err


def test_a_line_for_each_client(filled: Cli, tmp_path: Path) -> None:
    filled(f"bench js get sync --msgs 20 --clients 2 --processes 0 --csv {tmp_path}/out.csv", status=0)
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0].startswith("#RunID,ClientID,MsgCount,MsgBytes,MsgsPerSec") and len(lines) == 3
    assert lines[1].split(",")[1:4] == ["C1", "20", "2560"]
    table = filled("bench js get sync --msgs 20 --as csv", status=0).out.splitlines()
    assert table[0].startswith("client,messages,time_ns") and len(table) == 2


def test_latencies_as_hdr_histograms(filled: Cli, tmp_path: Path) -> None:
    """As the tools of HDR histograms read them: a log, and a text in the JSON."""
    log = tmp_path / "get.hlog"
    latency = run(filled, f"js get sync --msgs 40 --clients 2 --hdr {log}")["latency"]
    from_json = HdrHistogram.decode(latency["histogram_hdr"])
    from_log = HistogramLogReader(str(log), HdrHistogram(1, 3600 * 10**9, 2)).get_next_interval_histogram()
    for read in (from_json, from_log):
        assert read.get_total_count() == latency["count"] == 80
        assert read.get_value_at_percentile(50) == latency["percentiles_ns"]["50"]
        assert read.get_max_value() >= latency["max_ns"]


def test_a_log_needs_latencies(filled: Cli, tmp_path: Path) -> None:
    err = filled(f"bench js ordered --msgs 5 --hdr {tmp_path}/out.hlog", status=64).err
    assert "--hdr cannot be used with bench js ordered; it measures no latency" in err
