"""What a report says of servers, by the rules that doctor has, too."""

from typing import Any

from jsctl.monitor.report.tracking import Tracker


def test_storage_and_slow_connections() -> None:
    server = {"id": "N", "name": "n1"}
    tracker = Tracker()

    def add(at: float, slow: int, storage: int) -> list[tuple[str, str]]:
        stats: dict[str, Any] = {"server": server, "statsz": {"start": "s", "slow_consumers": slow}}
        use = {"server": server, "data": {"storage": storage, "config": {"max_storage": 100}}}
        tracker.add_servers(at, [stats], [use])
        assert tracker.servers is not None
        return [(trouble.code, trouble.words) for trouble in tracker.servers[0].troubles]

    assert add(1, 7, 50) == []  # those before the first round are not news
    assert add(2, 7, 95) == [("LIMIT_NEAR", "95% of its file storage")]
    assert add(3, 8, 50) == [("SLOW_CONSUMERS", "closed connections that read too slowly")]
    assert add(4, 8, 50) == []
