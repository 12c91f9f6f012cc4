#!/usr/bin/env bash
# ./dev format [--check]: clang-format over all sources of the tree; --check only names the files that differ.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
tools/dev/setup.sh
mapfile -t files < <(git ls-files -co --exclude-standard -- '*.h' '*.cc')
if [ "${1:-}" = --check ]; then
  exec clang-format-19 --dry-run --Werror "${files[@]}"
fi
exec clang-format-19 -i "${files[@]}"
