#!/bin/sh
# Makes a git repository of the lantern: the base, the overlay's target, and one commit a patch.
# Everything is fixed, so the commits have the ids that registry/targets/pinproof/composition
# names. Usage: sh make.sh DIR [STAGE], STAGE being base, overlay, 010-dim or 020-night (default).
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
folder=$1
last=${2:-020-night}
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null LC_ALL=C TZ=UTC
export GIT_AUTHOR_NAME=lantern GIT_AUTHOR_EMAIL=lantern@example.org
export GIT_COMMITTER_NAME=lantern GIT_COMMITTER_EMAIL=lantern@example.org
export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'

git init --quiet --initial-branch=main --object-format=sha1 "$folder"
cd "$folder"
git config core.autocrlf false
git config core.fileMode true

stage() {
    git add --all
    git commit --quiet --message "$1"
    if [ "$1" = "$last" ]; then exit 0; fi
}

cp -R "$here/base/." .
chmod -R u=rwX,go=rX lantern README.txt
stage base

cp "$here"/overlay/lantern/* lantern/
chmod 644 lantern/*
git rm --quiet lantern/legacy.ini
stage overlay

for patch in 010-dim 020-night; do
    git apply --index "$here/$patch.patch"
    stage "$patch"
done
