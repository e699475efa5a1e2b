#!/bin/sh
# The main job on three host files: one as published, one drifted, one of a version that the
# default policy does not accept. `make demo` runs it; README shows what it prints.
#
#   sh examples/demo.sh PINPROOF [PYTHON]
set -eu
pinproof=$(realpath "$1")
python=$(realpath "${2:-$(command -v python3)}")
example=$(realpath "$(dirname "$0")/fair_queue")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# An operator finds such files inside images; here the example's installer makes them.
for version in v5 v5-main v6; do
    cp "$example/host.py" "$version.py"
    "$python" "$example/installer.py" "$version.py" --version "$version"
done
sed 's/monotonic() + 2\.0/monotonic() + 2.5/' v5.py > queue.py

# The time is fixed and in the future, so that every run prints the same bytes.
ask() {
    wanted=$1
    shift
    set -- "$@" --effective-time 2036-06-01T00:00:00Z
    printf '$ pinproof %s\n' "$*"
    got=0
    "$pinproof" "$@" || got=$?
    printf '(exit %s)\n\n' "$got"
    [ "$got" = "$wanted" ] || { printf 'demo: expected exit %s\n' "$wanted" >&2; exit 1; }
}
ask 0 verify helper v6.py
ask 1 verify helper queue.py
ask 3 verify helper v5-main.py
