#!/usr/bin/env bash
# ./dev bare-debian [--keep] [--setup-only]: a machine that was worked on hides a missing package. This makes a bare
# Debian 12 in a folder (build/bare), clones the tree as committed into it, and runs there, as a new user would:
#   ./dev setup && ./dev build && ./dev test --unit
# Needs root and about 8 GB. The folder is removed at the end; --keep leaves it.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bare=$root/build/bare

keep=0 steps='./dev setup && ./dev setup && ./dev build && ./dev test --unit'
for word in "$@"; do
  case $word in
    --keep) keep=1 ;;
    --setup-only) steps='./dev setup && ./dev setup' ;;
    *) echo "usage: ./dev bare-debian [--keep] [--setup-only]" >&2; exit 2 ;;
  esac
done
[ "$(id -u)" = 0 ] || { echo "bare-debian: only root may make a file system of its own" >&2; exit 1; }
command -v debootstrap > /dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends debootstrap > /dev/null; }

unmount() { if mountpoint -q "$bare/proc"; then umount "$bare/proc"; fi; }
cleanup() {
  unmount
  # Never remove through a mount that could not be undone.
  if [ $keep = 0 ] && ! grep -q " $bare/" /proc/mounts; then rm -rf "$bare"; fi
}
trap cleanup EXIT
trap 'exit 130' INT TERM

unmount
rm -rf "$bare"
mkdir -p "$bare"
echo "== a bare Debian 12 in build/bare"
mirror=$(sed -n 's/^URIs: *\([^ ]*debian\/\?\)$/\1/p' /etc/apt/sources.list.d/*.sources 2> /dev/null | head -n 1)
debootstrap --variant=minbase --include=ca-certificates bookworm "$bare" "${mirror:-http://deb.debian.org/debian}" > "$root/build/bare-debootstrap.log"

# The way to the registries is the host's: name service, certificates, proxies, package sources.
cp -L /etc/resolv.conf /etc/hosts "$bare/etc/"
cp -L /etc/ssl/certs/ca-certificates.crt "$bare/etc/ssl/certs/ca-certificates.crt"
if compgen -G '/etc/apt/sources.list.d/debian.sources' > /dev/null; then
  cp /etc/apt/sources.list.d/debian.sources "$bare/etc/apt/sources.list.d/"
  : > "$bare/etc/apt/sources.list"
fi
cp -r /etc/apt/apt.conf.d/. "$bare/etc/apt/apt.conf.d/"
mount -t proc proc "$bare/proc"

git clone -q --no-hardlinks "$root" "$bare/strom"
passed=()
while IFS= read -r name; do passed+=("$name=${!name}"); done \
  < <(compgen -e | grep -iE '^(https?_proxy|no_proxy|pip_(index_url|cert|default_timeout)|ssl_cert_file|ssl_cert_dir)$' || true)
echo "== $steps"
chroot "$bare" /usr/bin/env -i HOME=/strom/home PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 ${passed[@]+"${passed[@]}"} \
  bash -c "mkdir -p /strom/home && cd /strom && time { $steps; }"
echo "== the bare machine passed"
