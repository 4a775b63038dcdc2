#!/usr/bin/env bash
# Build the container from this checkout and try it: serve, submit and score as nobody, with a read-only root.
#
#   deploy/check-container.sh [BASE-IMAGE]
#
# Needs buildah, podman and pip. BUILD_OPTIONS and RUN_OPTIONS are passed on to buildah bud and podman run.
set -euo pipefail
cd "$(dirname "$0")/.."
base=${1:-docker.io/library/python:3.12-slim}
scratch=$(mktemp -d)
name=isogloss-board-check-$$
trap 'podman rm --force --time 5 "$name" >/dev/null 2>&1 || true; podman volume rm --force "$name" >/dev/null 2>&1 || true; rm -rf "$scratch"' EXIT

python3 -m pip wheel --quiet --no-deps --wheel-dir "$scratch/wheels" .
chmod -R a+rX "$scratch"
wheel=$(basename "$scratch"/wheels/isogloss-*.whl)
# shellcheck disable=SC2086 # options are words
buildah bud --build-arg BASE="$base" --build-arg PACKAGE="/wheels/$wheel" --volume "$scratch/wheels:/wheels:ro" \
    --tag localhost/isogloss-board:check --file deploy/Containerfile ${BUILD_OPTIONS:-} deploy

run() { # shellcheck disable=SC2086
    podman run --read-only --tmpfs /tmp --cap-drop all --security-opt no-new-privileges \
        --volume "$name:/board" ${RUN_OPTIONS:-} "$@"
}
image=localhost/isogloss-board:check
run --rm "$image" isogloss board admin create /board --suite mini --title Check
run --rm "$image" isogloss board admin team /board Team
token=$(run --rm "$image" isogloss board admin token /board --team Team)
run --detach --name "$name" "$image" >/dev/null

podman exec --interactive --env ISOGLOSS_BOARD_TOKEN="$token" "$name" /opt/isogloss/bin/python - <<'PYTHON'
import json, os, pathlib, tempfile, time, urllib.request

from isogloss.board.client import BoardClient
from isogloss.tasks.loading import load

os.umask(0o077)
assert os.getuid() == 65534, os.getuid()
try:
    pathlib.Path("/opt/isogloss/x").write_text("")
    raise SystemExit("the root file system is writable")
except OSError:
    pass
address = "http://127.0.0.1:8000"
for attempt in range(120):
    try:
        urllib.request.urlopen(f"{address}/healthz").read()
        break
    except OSError:
        time.sleep(0.5)
folder = pathlib.Path(tempfile.mkdtemp())
examples = load("mini-xnli", "en")
(folder / "mini-xnli").mkdir()
lines = [json.dumps({"id": id_, "prediction": label}) for id_, label in zip(examples.ids, examples["label"])]
(folder / "mini-xnli/en.jsonl").write_text("\n".join(lines))
unknown = dict.fromkeys(("parameters", "parameters_active", "pretraining_tokens", "paper", "fine_tuning_data"), "not disclosed")
facts = {"name": "Gold", "kind": "other", "regime": "zero-shot", "parallel_data": False, "translated_data": False, "year": 2026}
board = BoardClient(address)
sent = board.submit(folder, {**unknown, **facts, "authors": "check", "contact": "check@example.org"}, publish=True)
submission = board.wait(sent["key"])
assert submission["state"] == "published", submission
print("scored as uid", os.getuid(), submission["scores"][-1]["tasks"])
PYTHON
# This check has no proxy, so the doctor must complain about that and nothing else.
podman exec "$name" isogloss board doctor /board --deep || true
{ podman exec "$name" isogloss board doctor /board --deep --json || true; } | python3 -c '
import json, sys
wrong = [finding["what"] for finding in json.load(sys.stdin)["findings"] if not finding["ok"]]
assert len(wrong) == 1 and wrong[0].startswith("trusted_proxies"), wrong'
podman stop --time 20 "$name" >/dev/null
podman logs "$name" 2>&1 | tail -n 3
