#!/usr/bin/env bash
# ./dev setup: gives a Debian 12 machine what building and testing needs. Only what is missing is installed, and when
# nothing is, no package manager is called at all (well under a second).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
venv=$root/.venv

say() { echo "setup: $*" >&2; }
die() { say "$*"; exit 1; }

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo > /dev/null; then
    sudo "$@"
  else
    die "packages are missing and neither root nor sudo is at hand; as root, run: $*"
  fi
}

# The names of the list whose package is not there (an installed one of any version will do).
missing_packages() {
  local wanted installed
  wanted=$(sed -e 's/#.*//' -e '/^ *$/d' "$root/tools/dev/packages.txt" | sort -u)
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' 2> /dev/null | sed -n 's/^installed //p' | sort -u)
  comm -23 <(echo "$wanted") <(echo "$installed")
}

install_packages() {
  local missing upgrades
  command -v dpkg-query > /dev/null || die "this is not a Debian machine; the packages needed are in tools/dev/packages.txt"
  mapfile -t missing < <(missing_packages)
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  as_root apt-get update -qq
  # A package that is there is never named, so it stays as it is, unless a new one cannot live with its version.
  upgrades=$(apt-get install -s --no-install-recommends "${missing[@]}" | awk '$1 == "Inst" && $3 ~ /^\[/ {print $2}' | paste -sd ' ')
  [ -z "$upgrades" ] || say "these come along in a newer version, because a missing package demands it: $upgrades"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o Dpkg::Use-Pty=0 \
    --no-install-recommends "${missing[@]}" > /dev/null
  mapfile -t missing < <(missing_packages)
  [ ${#missing[@]} = 0 ] || die "still missing after the installation: ${missing[*]}"
}

# The environment is made anew when the list of versions or the interpreter changed.
make_venv() {
  local stamp
  stamp=$(cat "$root/tools/dev/requirements.txt" <(/usr/bin/python3 -c 'import sys; print(sys.version)') | sha256sum)
  [ "$(cat "$venv/.stamp" 2> /dev/null)" != "$stamp" ] || return 0
  say "making the Python environment .venv"
  rm -rf "$venv"
  /usr/bin/python3 -m venv "$venv"
  # setuptools and wheel come first: the package with the flights is built by them.
  "$venv/bin/pip" install -q --disable-pip-version-check --no-deps \
    $(grep -E '^(setuptools|wheel)==' "$root/tools/dev/requirements.txt")
  "$venv/bin/pip" install -q --disable-pip-version-check --no-deps --no-build-isolation -r "$root/tools/dev/requirements.txt"
  "$venv/bin/pip" check -q || die "the versions in tools/dev/requirements.txt do not fit together"
  echo "$stamp" > "$venv/.stamp"
}

install_packages
make_venv
