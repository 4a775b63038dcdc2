#!/usr/bin/env bash
# Check the pages' JavaScript: types, lint rules and unit tests. Tools are installed once into a cache outside the checkout.
# Usage: tests/js/check.sh [lint|test]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
version=$(sha256sum "$here/package.json" | cut -c 1-12)
tools=${ISOGLOSS_NODE_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/isogloss-node/$version}
part=${1:-all}

if [ "$part" != test ]; then
  if [ ! -x "$tools/node_modules/.bin/tsc" ]; then
    mkdir -p "$tools"
    cp "$here/package.json" "$tools/"
    timeout 300 npm install --prefix "$tools" --silent --no-audit --no-fund --no-package-lock --ignore-scripts
  fi
  export ISOGLOSS_NODE_TOOLS=$tools
  cd "$root"
  "$tools/node_modules/.bin/tsc" --project "$here/tsconfig.json"
  "$tools/node_modules/.bin/eslint" --config "$here/eslint.config.js" --max-warnings 0 \
    src/isogloss/site/web tests/js
fi
if [ "$part" != lint ]; then
  node --test "$here"/*.test.js
fi
