"""`server cluster evacuate`; test_rescue.py empties a server."""

import pytest

from tests.support.run import Cli

pytestmark = pytest.mark.cluster


def test_what_is_refused(cluster_system: Cli) -> None:
    assert (
        "the meta group has no server 'none'"
        in cluster_system("server cluster evacuate none --force", status=3).err
    )
    asked = cluster_system("server cluster evacuate n2", answers=[False], status=0).asked
    (question,) = asked
    assert question.startswith("Really move all streams and consumers of server n2 to others (")
