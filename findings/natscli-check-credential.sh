#!/bin/sh
# natscli 0.5.0: `nats server check credential` compares the seconds that credentials are still valid with thresholds in
# nanoseconds, and without a threshold not at all. Seen: credentials that expired an hour ago are OK, with status 0 ("expires
# in" a time in the past); those that are valid for a year are critical with --validity-critical 1h.
# Exits non-zero where that is different.
set -eu
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
GOBIN="$folder" go install github.com/nats-io/natscli/nats@v0.5.0
python3 -m venv venv
venv/bin/pip install -q nkeys==0.2.1
cat > write.py <<'EOF'
"""Write credentials of a user that expires after a number of seconds."""
import base64, json, os, sys, time
import nkeys

def encode(data): return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
def create(prefix): return nkeys.from_seed(nkeys.encode_seed(os.urandom(32), prefix))

account, user, now = create(nkeys.PREFIX_BYTE_ACCOUNT), create(nkeys.PREFIX_BYTE_USER), int(time.time())
claims = {"exp": now + int(sys.argv[1]), "iat": now - 7200, "iss": account.public_key.decode(), "name": "u", "jti": "x"}
claims |= {"sub": user.public_key.decode(), "nats": {"pub": {}, "sub": {}, "type": "user", "version": 2}}
parts = ({"typ": "JWT", "alg": "ed25519-nkey"}, claims)
text = ".".join(encode(json.dumps(part).encode()) for part in parts)
signed = f"{text}.{encode(account.sign(text.encode()))}"
print(f"-----BEGIN NATS USER JWT-----\n{signed}\n------END NATS USER JWT------\n")
print(f"-----BEGIN USER NKEY SEED-----\n{user.seed.decode()}\n------END USER NKEY SEED------")
EOF
venv/bin/python write.py -3600 > expired.creds
venv/bin/python write.py 31536000 > year.creds
export XDG_CONFIG_HOME="$folder/config"
./nats server check credential --credential expired.creds | tee shown
grep -q '^OK .*expires in ' shown
status=0
./nats server check credential --credential year.creds --validity-critical 1h || status=$?
test "$status" = 2
