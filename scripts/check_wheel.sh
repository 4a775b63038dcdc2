#!/usr/bin/env bash
# Build the source archive and the wheel twice, compare them, check the wheel's size, and install and try it in a clean environment of
# every supported Python on this machine. The files stay in dist/. Usage: scripts/check_wheel.sh [PYTHON]
set -euo pipefail
cd "$(dirname "$0")/.."
python=${1:-python3}
most_bytes=3000000

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for folder in dist "$work/again"; do
  rm -rf "$folder"
  "$python" -m build --outdir "$folder" . >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
done
diff <(cd dist && sha256sum -- *) <(cd "$work/again" && sha256sum -- *) || { echo "Two builds differ."; exit 1; }
wheel=$(echo dist/*.whl)
bytes=$(stat -c %s "$wheel" 2>/dev/null || stat -f %z "$wheel")
echo "$wheel: $bytes bytes, the same in two builds"
[ "$bytes" -le $most_bytes ] || { echo "The wheel has more than $most_bytes bytes."; exit 1; }
"$python" - "$wheel" dist/*.tar.gz <<'PYTHON'
import re, subprocess, sys, tarfile, zipfile

names = zipfile.ZipFile(sys.argv[1]).namelist()
stray = [name for name in names if not re.match(r"isogloss(-[^/]+\.dist-info)?/", name) or re.search(r"\.(pyc|pyo|so|orig|swp)$|__pycache__|/\.", name)]
tracked = set(subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.splitlines())
inside = {name.split("/", 1)[1] for name in tarfile.open(sys.argv[2]).getnames() if "/" in name} - {"PKG-INFO"}
packaged = {f"src/{name}" for name in names if name.startswith("isogloss/")}
stray += sorted((inside | packaged) - tracked) if tracked else []
sys.exit(f"Files that do not belong there: {stray}" if stray else 0)
PYTHON

tried=0
for version in 3.11 3.12 3.13 3.14; do
  interpreter=""
  for candidate in "python$version" "$HOME"/.pyenv/versions/"$version".*/bin/python; do
    "$candidate" -c "" 2>/dev/null && interpreter=$candidate && break # pyenv has commands for versions that it does not use
  done
  [ -n "$interpreter" ] || { echo "Python $version: not on this machine"; continue; }
  "$interpreter" -m venv "$work/$version"
  "$work/$version/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel"
  (cd "$work" && "$work/$version/bin/isogloss" --version &&
    "$work/$version/bin/isogloss" run ngram --suite mini --tasks mini-xquad --languages en,sw --seeds 1 --out "runs-$version" >/dev/null 2>&1 &&
    "$work/$version/bin/isogloss" score "runs-$version/ngram/zero-shot/seed-0" --suite mini >/dev/null)
  echo "Python $version: installed, ran and scored"
  tried=$((tried + 1))
done
[ $tried -gt 0 ] || { echo "No supported Python is on this machine."; exit 1; }
