#!/usr/bin/env bash
# ./dev quickstart [--once] [--port P] [--data-dir DIR]: set-up, build, a server, and real data written and read back by
# the official Python client. The server goes on until Ctrl-C; with --once it ends with the data's round trip.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

once=0 port=9123 data=$root/strom-data
while [ $# -gt 0 ]; do
  case $1 in
    --once) once=1 ;;
    --port) port=$2; shift ;;
    --data-dir) mkdir -p "$2"; data=$(cd "$2" && pwd); shift ;;
    *) echo "usage: ./dev quickstart [--once] [--port P] [--data-dir DIR]" >&2; exit 2 ;;
  esac
  shift
done

# Lines that a person reads: paths as typed at the root of the tree.
shown() { echo "${1#"$root"/}"; }

cd "$root"
echo "== building the server (the first time this takes a few minutes)"
tools/dev/build.sh release strom | tail -n 1

mkdir -p "$data"
ready=$data/quickstart-ready log=$data/quickstart-server.log server=
rm -f "$ready"
stop() {
  trap - EXIT INT TERM
  if [ -n "$server" ] && kill -TERM "$server" 2> /dev/null; then
    echo "stopping the server"
    wait "$server" || true
  fi
  rm -f "$ready"
}
trap stop EXIT
trap 'exit 130' INT TERM

echo "== starting the server; its data is in $(shown "$data"), its log in $(shown "$log")"
# In a session of its own, so that Ctrl-C reaches this script alone, which then stops it in order.
setsid build/release/bin/strom server --data-dir "$data" --listen "127.0.0.1:$port" --ready-file "$ready" > "$log" 2>&1 < /dev/null &
server=$!
for ((i = 0; i < 3000; i++)); do
  [ ! -s "$ready" ] || break
  kill -0 "$server" 2> /dev/null || { echo "the server ended:"; tail -n 5 "$log"; server=; exit 1; }
  sleep 0.01
done
[ -s "$ready" ] || { echo "the server is not ready after 30 s; see $(shown "$log")"; exit 1; }
cat "$ready"
bootstrap=$(sed -n 's/^ready: bootstrap \([^ ]*\).*/\1/p' "$ready")
[ -n "$bootstrap" ] || { echo "the ready line names no address"; exit 1; }

echo "== writing and reading with the official Python client"
.venv/bin/python tools/quickstart.py --bootstrap "$bootstrap"

if [ $once = 1 ]; then
  exit 0
fi
cat <<TEXT

The server goes on at $bootstrap until Ctrl-C. Next, in another terminal:
  tools/quickstart.py                                      the program that just ran, to read or to change
  .venv/bin/python tools/quickstart.py --buckets 8         run it again, with eight buckets
  build/release/bin/strom inspect $(shown "$data")/tablet          look at the segments and batches on disk
  docs/                                                    configuration, operations, what is supported
TEXT
wait "$server" || { code=$?; server=; echo "the server ended with exit code $code; see $(shown "$log")"; exit "$code"; }
