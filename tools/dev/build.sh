#!/usr/bin/env bash
# ./dev build [PRESET] [TARGET...]: configures build/PRESET when needed and builds it, all of it or the targets named.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
tools/dev/setup.sh

preset=${1:-release}
[ $# -gt 0 ] && shift
folder=build/$preset
if [ ! -e "$folder/build.ninja" ] || [ CMakePresets.json -nt "$folder/build.ninja" ]; then
  mkdir -p "$folder"
  # A failed configuration says why; a good one need not speak.
  cmake --preset "$preset" > "$folder/configure.log" 2>&1 || { cat "$folder/configure.log"; exit 1; }
fi
exec ninja -C "$folder" ${STROM_BUILD_JOBS:+-j"$STROM_BUILD_JOBS"} "$@"
