"""The command lines of the documents that jsctl is made from, with `jsctl` in place of `nats`.

In document order, each once; loops are written out for one round, and pipes end at the first `|`. What has no
command here has its reason. Prompts (`$`, `>`) and outputs are left out.
"""

ORDERS = (
    'jsctl str add ORDERS --subjects "ORDERS.*" --ack --max-msgs=-1 --max-bytes=-1 --max-age=1y --storage'
    " file --retention limits --max-msg-size=-1"
)

TOUR = (
    f"{ORDERS} --discard=old",
    "jsctl con add ORDERS NEW --filter ORDERS.received --ack explicit --pull --deliver all --max-deliver=-1"
    " --sample 100",
    "jsctl con add ORDERS DISPATCH --filter ORDERS.processed --ack explicit --pull --deliver all"
    " --max-deliver=-1 --sample 100",
    "jsctl con add ORDERS MONITOR --filter '' --ack none --target monitor.ORDERS --deliver last"
    " --replay instant",
    "jsctl account info",
    "jsctl str add ORDERS",
    f"{ORDERS} --discard old",
    "jsctl str info ORDERS -j",
    "jsctl str add ORDERS --config orders.json",
    "jsctl str ls",
    "jsctl str info ORDERS",
    'jsctl str cp ORDERS ARCHIVE --subjects "ORDERS_ARCVHIVE.*" --max-age 2y',
    'jsctl str edit ORDERS --subjects "ORDERS.*"',
    "jsctl str edit ORDERS --config orders.json",
    "jsctl pub ORDERS.scratch hello",
    "jsctl pub ORDERS.scratch hello --wait",
    "jsctl req ORDERS.scratch hello",
    "jsctl str purge ORDERS -f",
    "jsctl str rmm ORDERS 1 -f",
    "jsctl str rm ORDERS -f",
    ORDERS,
    "jsctl con ls ORDERS",
    "jsctl con add --sample 100",
    "jsctl con add ORDERS DISPATCH --filter ORDERS.processed --ack explicit --pull --deliver all --sample 100"
    " --max-deliver 20",
    "jsctl con info ORDERS DISPATCH -j",
    "jsctl con add ORDERS MONITOR --config monitor.json",
    "jsctl con add",
    "jsctl con add ORDERS MONITOR --ack none --target monitor.ORDERS --deliver last --replay instant"
    " --filter ''",
    "jsctl con info ORDERS MONITOR -j",
    "jsctl con add ORDERS --config monitor.json",
    "jsctl con info ORDERS DISPATCH",
    'jsctl pub ORDERS.processed "order 1"',
    "jsctl con next ORDERS DISPATCH",
    "jsctl req '$JS.NEXT.ORDERS.DISPATCH' ''",
    "jsctl con info ORDERS MONITOR",
    "jsctl sub monitor.ORDERS",
    "jsctl con add ORDERS NEW --config orders_new.json",
    "jsctl stream backup ORDERS /data/js-backup/ORDERS.tgz",
    "jsctl str restore ORDERS /data/js-backup/ORDERS.tgz",
    "jsctl backup /data/js-backup",
    "jsctl restore /tmp/backup --update-streams",
    "jsctl con next ORDERS DISPATCH --no-ack",
    "jsctl con add ORDERS ALL --pull --filter ORDERS.processed --ack none --replay instant --deliver all",
    "jsctl con next ORDERS ALL",
    "jsctl con add ORDERS LAST --pull --filter ORDERS.processed --ack none --replay instant --deliver last",
    "jsctl con next ORDERS LAST",
    "jsctl con add ORDERS TEN --pull --filter ORDERS.processed --ack none --replay instant --deliver 10",
    "jsctl con next ORDERS TEN",
    "jsctl str purge ORDERS",
    "jsctl con add ORDERS 2MIN --pull --filter ORDERS.processed --ack none --replay instant --deliver 2m",
    "jsctl con next ORDERS 2MIN",
    "jsctl sub my.monitor",
    "jsctl con add ORDERS --filter '' --ack none --target 'my.monitor' --deliver last --replay instant"
    " --ephemeral",
    "jsctl con add ORDERS REPLAY --target out.original --filter ORDERS.processed --ack none --deliver all"
    " --sample 100 --replay original",
    "jsctl sub -t out.original",
    "jsctl pub CLIENT.acme hello",
    "jsctl con info ORDERS NEW",
    "jsctl con events ORDERS NEW",
    "jsctl con events ORDERS NEW --json",
    "jsctl req '$JS.API.STREAM.INFO.nonexisting' ''",
    "jsctl req '$JS.STREAM.INFO.ORDERS' ''",
    "jsctl req '$JS.API.CONSUMER.MSG.NEXT.ORDERS.test' '1'",
    "jsctl req '$JS.API.STREAM.MSG.GET.ORDERS' '{\"seq\": 1}'",
)

_ACC = "--server nats://acc:acc@localhost:4222"
GUIDE = (
    "jsctl --server nats://admin:admin@localhost:4222 server report jetstream",
    f"jsctl {_ACC} stream add",
    f"jsctl {_ACC} stream add --js-domain leaf",
    f'jsctl {_ACC} pub test "hello world"',
    f"jsctl {_ACC} stream report --js-domain leaf",
    f"jsctl {_ACC} stream report --js-domain hub",
    f"jsctl {_ACC} stream add --js-domain hub --mirror test",
    f"jsctl {_ACC} stream add --js-domain hub --source test",
    "jsctl --server nats://import_mirror:import_mirror@localhost:4222 stream add --js-domain hub"
    " --mirror aggregate-test-leaf",
    "jsctl --server nats://import_mirror:import_mirror@localhost:4222 stream report --js-domain hub",
    f"jsctl {_ACC} consumer add --js-domain hub",
    f"jsctl {_ACC} consumer report --js-domain hub",
    "jsctl --server nats://import_client:import_client@localhost:4111 consumer next aggregate-test-leaf dur"
    " --js-api-prefix JS.acc@hub.API",
    f'jsctl {_ACC} pub test "hello world 2"',
)

PARTITIONS = (
    'jsctl str add "LOGS_4" --subjects "logs.p4.>" --storage file --retention limits --max-msgs=-1'
    " --max-bytes=-1 --max-age 1d",
    "jsctl str ls",
    'jsctl consumer add "LOGS_4" TAIL --target "out.logs.p4" --deliver all --replay instant --ack none'
    " --filter ''",
    "jsctl consumer info LOGS_4 TAIL",
    "jsctl str report -n",
    "jsctl sub out.logs.p4",
)

_CREDS = "./keys/creds/OP"
DEMO = (
    f"jsctl context save sys --creds {_CREDS}/SYS/sys.creds --server"
    ' "nats://127.0.0.1:4222,nats://127.0.0.1:4232,nats://127.0.0.1:4242,nats://127.0.0.1:4252,'
    "nats://127.0.0.1:4262,nats://127.0.0.1:4272,nats://127.0.0.1:4282,nats://127.0.0.1:4292,"
    'nats://127.0.0.1:4202"',
    f"jsctl context save hub --creds {_CREDS}/TEST/leaf.creds --server"
    ' "nats://127.0.0.1:4222,nats://127.0.0.1:4232,nats://127.0.0.1:4282"',
    f"jsctl context save spoke-1 --creds {_CREDS}/TEST/leaf.creds --server"
    ' "nats://127.0.0.1:4242,nats://127.0.0.1:4252,nats://127.0.0.1:4292"',
    f"jsctl context save spoke-2 --creds {_CREDS}/TEST/leaf.creds --server"
    ' "nats://127.0.0.1:4262,nats://127.0.0.1:4272,nats://127.0.0.1:4202"',
    "jsctl --context=hub s report",
    "jsctl --context=spoke-1 s report",
    "jsctl --context=spoke-2 s report",
    "jsctl --context=hub stream add cnc --subjects cnc --replicas 3",
    'jsctl --context=hub pub cnc "hello world" --count 10',
    "jsctl --context=hub stream add recv-cnc --mirror cnc --replicas 3 --output recv-cnc",
    "jsctl --context=hub stream add --config recv-cnc --js-domain spoke-1",
    "jsctl --context=hub stream add --config recv-cnc --js-domain spoke-2",
    "jsctl --context=hub stream add test --subjects test --replicas 3 --output test",
    "jsctl --context=hub stream add --config test --js-domain spoke-1",
    "jsctl --context=hub stream add --config test --js-domain spoke-2",
    'jsctl --context=hub pub test "hello world" --count 10',
    'jsctl --context=spoke-1 pub test "hello world" --count 10',
    "jsctl --context=hub stream add aggregate --replicas 3 --source test --source test",
    "jsctl --context=hub stream add backup-test-spoke-1 --replicas 3 --mirror test --js-domain spoke-2",
    "jsctl --context=hub --creds keys/creds/OP/IMPORTER/iuser.creds s add crossacc --mirror aggregate"
    " --replicas 3",
    "jsctl --context=hub s report --creds keys/creds/OP/IMPORTER/iuser.creds",
    "jsctl --context=hub c add aggregate DUR --pull --deliver all",
    "jsctl --context=hub --creds keys/creds/OP/IMPORTER/iuser.creds consumer next aggregate DUR"
    " --js-api-prefix=from.test.API",
    "jsctl --context=hub --creds keys/creds/OP/HUBACC/imp.creds s report",
    "jsctl --context=spoke-1 --creds keys/creds/OP/LEAFACC/exp.creds s report",
    "jsctl --context=hub --creds keys/creds/OP/HUBACC/imp.creds s add --config test"
    " --js-domain leafacc.spoke-1",
    "jsctl --context=spoke-2 --creds keys/creds/OP/LEAFACC/exp.creds s report",
    "jsctl --context=hub --creds keys/creds/OP/HUBACC/imp.creds s add --config test"
    " --js-domain leafacc.spoke-2",
    'jsctl --context=spoke-1 --creds keys/creds/OP/LEAFACC/exp.creds pub test "" --count 10',
    'jsctl --context=spoke-2 --creds keys/creds/OP/LEAFACC/exp.creds pub test "" --count 10',
    'jsctl --context=hub --creds keys/creds/OP/LEAFACC/exp.creds pub test "" --count 10',
    "jsctl --context=hub --creds keys/creds/OP/HUBACC/imp.creds s add aggregate --replicas 3 --source test"
    " --source test",
    "jsctl --context=sys server list 9",
)

LINES = {"tour": TOUR, "guide": GUIDE, "partitions": PARTITIONS, "demo": DEMO}

REPLACED = {
    'jsctl str template add CLIENTS --subjects "CLIENT.*"': "stream templates",
}
"""Lines of what servers no longer have, and what that is."""
