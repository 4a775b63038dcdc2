#!/usr/bin/env bash
# Follow the guide's section on servers, in a fresh Debian 12 with systemd (a virtual machine or a container), as root.
#
#   deploy/check-server.sh
#
# Runs the commands of docs/board-server.md as they are written, with a self-signed certificate; then submits through
# nginx and scores. Set PIP_FIND_LINKS and PIP_NO_INDEX to install a wheel of this checkout. Changes the machine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
guide=$here/../docs/board-server.md
section=$(sed -n '/^## On a server/,/^## A container/p' "$guide")
block() { awk -v wanted="$1" '/^```bash$/ {n++; on = n == wanted; next} /^```$/ {on = 0} on' <<<"$section"; }

echo "== accounts, package and database"
eval "$(block 1)"
echo "== board"
eval "$(block 2)" > /tmp/created && head -n 2 /tmp/created
token=$(tail -n 1 /tmp/created)

echo "== unit and proxy"
install -m 644 "$here/isogloss-board.service" /etc/systemd/system/
if [ "$(ulimit -Hn)" != unlimited ] && [ "$(ulimit -Hn)" -lt 65536 ]; then # no permission to raise it, as in some containers
    install -d /etc/systemd/system/isogloss-board.service.d
    printf '[Service]\nLimitNOFILE=%s\n' "$(ulimit -Hn)" > /etc/systemd/system/isogloss-board.service.d/limit.conf
fi
systemctl daemon-reload
live=/etc/letsencrypt/live/board.example.org
install -d -m 700 $live
openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=board.example.org -addext subjectAltName=DNS:board.example.org \
    -days 2 -keyout $live/privkey.pem -out $live/fullchain.pem 2>/dev/null
rm -f /etc/nginx/sites-enabled/default
install -m 644 "$here/nginx.conf" /etc/nginx/sites-enabled/isogloss-board.conf
grep -q board.example.org /etc/hosts || echo 127.0.0.1 board.example.org >> /etc/hosts

eval "$(block 3 | sed 's/^board doctor/sleep 8; &/')"

echo "== submit"
systemctl show isogloss-board --property=ActiveState,NRestarts,User,LimitNOFILE,UMask
cat $live/fullchain.pem >> "$(/opt/isogloss/bin/python -m certifi)" # the client trusts only this list
export ISOGLOSS_BOARD_TOKEN=$token ISOGLOSS_CACHE=/tmp/cache
/opt/isogloss/bin/python - <<'PYTHON'
import json, pathlib

from isogloss.tasks.loading import load

folder = pathlib.Path("/tmp/predictions")
examples = load("mini-xnli", "en")
(folder / "mini-xnli").mkdir(parents=True, exist_ok=True)
lines = [json.dumps({"id": id_, "prediction": label}) for id_, label in zip(examples.ids, examples["label"])]
(folder / "mini-xnli/en.jsonl").write_text("\n".join(lines))
unknown = ("parameters", "parameters_active", "pretraining_tokens", "paper", "fine_tuning_data")
facts = {name: "not disclosed" for name in unknown} | {"name": "Gold", "kind": "other", "regime": "zero-shot"}
facts |= {"parallel_data": False, "translated_data": False, "year": 2026, "authors": "check", "contact": "a@example.org"}
(folder / "system.toml").write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in facts.items()))
PYTHON
/opt/isogloss/bin/isogloss board submit https://board.example.org /tmp/predictions --publish
curl --silent --fail --cacert $live/fullchain.pem https://board.example.org/api/v1/systems
echo
board doctor /var/lib/isogloss/board --deep
systemd-analyze security isogloss-board.service --no-pager | tail -n 1
if journalctl --unit isogloss-board --no-pager | grep --extended-regexp 'Traceback|denied|not permitted'; then exit 1; fi
echo "== done"
